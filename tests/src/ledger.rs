//! A record of a daemon's acknowledgements outside of it, to compare with its later state.

use std::collections::{BTreeMap, BTreeSet};

use lore::connection::{Connection, Error};
use lored::store::BlobRef;
use serde_json::{Value, json};

use crate::{Daemon, Random, call};

/// An acknowledged step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedStep {
    /// Position in the log.
    pub position: u64,
    /// Number in its session.
    pub step: u64,
}

/// All acknowledged steps by key, and the keys whose answers never arrived.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Acknowledgements by key.
    pub acknowledged: BTreeMap<String, AcknowledgedStep>,
    /// Keys of interrupted calls, which may be recorded or not.
    pub cut_off: BTreeSet<String>,
}

/// Returns the content of a step with this key: one in sixteen is too large for the event itself.
pub fn content_of(key: &str) -> String {
    let seed = key.bytes().fold(17, |seed: u64, byte| {
        seed.wrapping_mul(31).wrapping_add(byte.into())
    });
    let mut random = Random::new(seed);
    let bytes = match random.range(0, 16) {
        0 => random.range(66_000, 90_000),
        1..=3 => random.range(1_000, 9_000),
        _ => random.range(0, 300),
    };
    let mut content = format!("{{\"key\":\"{key}\",\"filler\":\"");
    while (content.len() as u64) < bytes {
        content.push_str(&format!("{:016x}", random.bits()));
    }
    content.push_str("\"}");
    content
}

/// Records a step under a key, with the content for this key.
pub fn record(
    connection: &mut Connection,
    session: &str,
    key: &str,
) -> Result<AcknowledgedStep, Error> {
    let args = json!({
        "session": session, "tool": session, "result": content_of(key), "key": key,
    });
    let reply = call(connection, "record_step", args)?;
    let number = |name: &str| reply.get(name).and_then(Value::as_u64).expect("a number");
    Ok(AcknowledgedStep {
        position: number("position"),
        step: number("step"),
    })
}

/// Returns every event from a position on, as `read_events` returns them.
pub fn read_log(daemon: &Daemon, from: u64) -> Result<Vec<Value>, Error> {
    let mut connection = daemon.try_connect("")?;
    let mut found = Vec::new();
    let mut next = Some(json!(from));
    while let Some(from) = next {
        let mut page = call(
            &mut connection,
            "read_events",
            json!({"from": from, "limit": 1000}),
        )?;
        next = page.get("next").cloned();
        if let Some(Value::Array(events)) = page.get_mut("events").map(Value::take) {
            found.extend(events);
        }
    }
    Ok(found)
}

impl Ledger {
    /// Compares the daemon's events from a position on with this ledger. Every acknowledged step is present as it was
    /// answered, no unknown step is present, and positions have no gap. Returns the position to continue from.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self, daemon: &Daemon, from: u64) -> Result<u64, String> {
        let events = read_log(daemon, from).map_err(|error| format!("the log: {error}"))?;
        let mut open: BTreeMap<&str, &AcknowledgedStep> = self
            .acknowledged
            .iter()
            .filter(|(_, answer)| answer.position >= from)
            .map(|(key, answer)| (key.as_str(), answer))
            .collect();
        let mut expected = from;
        for event in &events {
            let position = event.get("position").and_then(Value::as_u64);
            if position != Some(expected) {
                return Err(format!("position {expected} is missing: {position:?}"));
            }
            expected += 1;
            if event.get("kind").and_then(Value::as_str) == Some("StepRecorded") {
                self.check_step(event, &mut open)?;
            }
        }
        match open.first_key_value() {
            None => Ok(expected),
            Some((key, answer)) => Err(format!(
                "{} acknowledged steps are gone, first {key}: {answer:?}; the log ends at {}",
                open.len(),
                expected - 1
            )),
        }
    }

    fn check_step(
        &self,
        event: &Value,
        open: &mut BTreeMap<&str, &AcknowledgedStep>,
    ) -> Result<(), String> {
        let payload = |name: &str| event.get("payload").and_then(|payload| payload.get(name));
        let key = event.get("key").and_then(Value::as_str).unwrap_or_default();
        let position = event.get("position").and_then(Value::as_u64);
        let step = payload("step").and_then(Value::as_u64);
        let content = content_of(key);
        let same = match payload("result") {
            Some(Value::String(result)) => *result == content,
            Some(Value::Object(blob)) => {
                let hash = BlobRef::of(content.as_bytes()).hex();
                blob.get("blob").and_then(Value::as_str) == Some(hash.as_str())
            }
            _ => false,
        };
        if !same {
            return Err(format!("the content of {key} at {position:?} is another"));
        }
        match open.remove(key) {
            Some(answer) if position == Some(answer.position) && step == Some(answer.step) => {
                Ok(())
            }
            Some(answer) => Err(format!("{key}: {answer:?}, now {position:?} and {step:?}")),
            None if self.cut_off.contains(key) => Ok(()),
            None => Err(format!(
                "{key} at {position:?} was invented, or is there twice"
            )),
        }
    }
}
