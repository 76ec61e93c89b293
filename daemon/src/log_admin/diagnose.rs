//! The `diagnose` operation: what `lored doctor` finds, from the running daemon.

use std::sync::Arc;

use lore::protocol::diagnose::{DiagnoseArgs, DiagnoseReply, HealthFinding};
use lore::protocol::status::StatusReply;

use super::status::report;
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::log::{Log, Position};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::store::Error;

const DAY_MICROS: Micros = 24 * 3600 * 1_000_000;

/// The checks of the program that serves. They read files and change nothing.
pub type HealthChecks = Arc<dyn Fn(&StatusReply) -> Vec<HealthFinding> + Send + Sync>;

/// `diagnose`.
pub struct Diagnose;

impl Op for Diagnose {
    type Args = DiagnoseArgs;
    type Reply = DiagnoseReply;
    const NAME: &'static str = "diagnose";
    const TITLE: &'static str = "Diagnose the daemon";
    const DESCRIPTION: &'static str = "Checks the daemon's settings, folders, machine, spool and followers, and returns each \
        finding with what helps, and how many events the last day and week brought.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<DiagnoseArgs>) -> Result<DiagnoseReply, Refusal> {
        let Some(checks) = call.cx.extensions.get::<HealthChecks>().cloned() else {
            let message = "this daemon does not examine itself, because it serves all users";
            return Err(Refusal::new(Code::Forbidden, message)
                .hint("An administrator can run `lored doctor`."));
        };
        let (status, published) = report(&call.cx).await?;
        let now = call.cx.engine.clock().now();
        blocking(move || {
            let log = Log::new(&published.snapshot);
            let end = published.tail.position;
            let of_days =
                |days: u64| events_since(&log, end, now.saturating_sub(days * DAY_MICROS));
            Ok(DiagnoseReply {
                findings: checks(&status),
                events_of_day: of_days(1)?,
                events_of_week: of_days(7)?,
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// Counts the events after a time. Events are in the order of their times.
fn events_since(log: &Log<'_>, end: Position, time: Micros) -> Result<u64, Error> {
    let (mut before, mut after) = (0, end.0 + 1);
    while before + 1 < after {
        let middle = before.midpoint(after);
        let event = log.at(Position(middle))?;
        match event.is_some_and(|event| event.header.time > time) {
            true => after = middle,
            false => before = middle,
        }
    }
    Ok(end.0 - before)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;
    use crate::daemon::Daemon;
    use crate::daemon::tests::paths;
    use crate::forgetting::tests::call;

    #[tokio::test]
    async fn events_are_counted_from_a_time_on() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon::open(&Config::new(), &paths(folder.path())).unwrap();
        let cx = daemon.context().unwrap();
        call(cx, "create_session", json!({"session": "s"})).await;
        for _ in 0..20 {
            call(
                cx,
                "record_step",
                json!({"session": "s", "tool": "t", "result": "x"}),
            )
            .await;
        }
        let published = cx.engine.read().await.unwrap();
        let log = Log::new(&published.snapshot);
        let end = published.tail.position;
        for at in 1..=end.0 {
            let time = log.at(Position(at)).unwrap().unwrap().header.time;
            let later = (1..=end.0)
                .filter(|one| log.at(Position(*one)).unwrap().unwrap().header.time > time);
            assert_eq!(events_since(&log, end, time).unwrap(), later.count() as u64);
        }
        assert_eq!(events_since(&log, end, 0).unwrap(), end.0);
        assert_eq!(events_since(&log, Position(0), 0).unwrap(), 0);
    }
}
