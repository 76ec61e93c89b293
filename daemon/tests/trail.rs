//! The debug log of resolution, in a separate test process: other tests would race for the subscriber's cache of
//! enabled log lines.
#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};

use lored::steps::extract::ExtractorSet;
use lored::steps::resolve::{History, Resolver, StepData};
use lored::steps::trail;

/// Log output, collected in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A session whose second step is the example of the seed.
struct TwoSteps(Arc<ExtractorSet>);

const RESULT: &str = r#"{"id": 12345, "title": "Fix bug"}"#;

impl History for TwoSteps {
    type Error = Infallible;

    fn last(&self) -> Result<Option<u32>, Infallible> {
        Ok(Some(2))
    }

    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Infallible> {
        let raw = if step == 2 { RESULT } else { "{}" };
        let data = || StepData::new(step, 1, step.into(), raw.to_owned(), Arc::clone(&self.0));
        Ok((step <= 2).then(|| Arc::new(data())))
    }

    fn reserve(&self, _bytes: usize) -> bool {
        true
    }
}

/// "Logging: the system provides detailed logging for troubleshooting": each of the seed's lines is logged, in its
/// words.
#[test]
fn the_trail_reads_as_described() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let session = TwoSteps(Arc::default());
        trail::stored(2, RESULT);
        let resolver = Resolver {
            history: &session,
            set: &session.0,
            current_step: None,
            all_values: false,
            explain: false,
        };
        assert!(resolver.resolve("ID_FROM_STEP_2").is_ok());
        assert!(resolver.resolve("ID_FROM_STEP_99").is_ok());
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for line in [
        "Stored result for step 2: {\"id\": 12345, \"title\": \"Fix bug\"}...",
        "Processing dynamic value: ID_FROM_STEP_2",
        "Resolved 'ID_FROM_STEP_2' to: 12345 strategy=\"direct\"",
        "Resolved 'ID_FROM_STEP_99' to: null (step 99 not found",
    ] {
        assert!(log.contains(line), "{line}\n{log}");
    }
}
