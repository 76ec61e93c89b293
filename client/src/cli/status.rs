//! `lore status`: how the daemon is.

use std::fmt::Write;

use lore::protocol::status::{StatusArgs, StatusReply};
pub use lore::shown::bytes;
use lore::shown::duration;

use super::output::{self, Output, shown, table};
use super::{Caller, End, Failure, exchange};

#[derive(Debug, clap::Args)]
pub struct Status {
    /// As text that Prometheus reads, with metrics of the sessions in use
    #[arg(long)]
    prometheus: bool,
}

impl Status {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = StatusArgs {
            prometheus: self.prometheus.then_some(true),
        };
        let reply = caller.call("status", exchange::json(&args)?)?;
        match caller.output {
            _ if self.prometheus => {
                let status: StatusReply = exchange::read(&reply)?;
                output::write(status.prometheus.unwrap_or_default().as_bytes())?;
            }
            Output::Json => output::write_json(&reply)?,
            Output::Human => output::write(human(&exchange::read(&reply)?).as_bytes())?,
        }
        Ok(End::Good)
    }
}

fn human(status: &StatusReply) -> String {
    let mut rows = vec![
        ["version".to_owned(), shown(&status.version, 0)],
        ["process".to_owned(), status.pid.to_string()],
        ["store".to_owned(), shown(&status.store, 0)],
        ["socket".to_owned(), shown(&status.socket, 0)],
        ["data".to_owned(), shown(&status.data, 0)],
        ["position".to_owned(), status.position.to_string()],
        ["durable".to_owned(), yes(status.durable)],
        ["writable".to_owned(), yes(status.writable)],
        ["uptime".to_owned(), duration(status.uptime)],
        ["clients".to_owned(), status.clients.to_string()],
    ];
    rows.extend(status.confinement.iter().flat_map(|confinement| {
        [
            ["confined".to_owned(), shown(&confinement.landlock, 0)],
            ["core dumps".to_owned(), yes(confinement.core_dumps)],
        ]
    }));
    rows.extend(
        status
            .counts
            .iter()
            .map(|(name, count)| [shown(name, 40), count.to_string()]),
    );
    rows.extend(
        status
            .sizes
            .iter()
            .map(|(name, size)| [shown(name, 40), bytes(*size)]),
    );
    rows.extend(status.followers.iter().map(|follower| {
        let text = format!("at {}, {} behind", follower.position, follower.lag);
        [shown(&follower.name, 40), text]
    }));
    rows.extend(status.resolvers.iter().map(|resolver| {
        let text = format!(
            "{}, {} calls, {} without an answer",
            shown(&resolver.state, 40),
            resolver.calls,
            resolver.failures
        );
        [shown(&resolver.name, 40), text]
    }));
    if let Some(retention) = &status.retention {
        let next = retention.next.as_deref().unwrap_or("never");
        let mut text = format!("next on {}", shown(next, 40));
        if let Some(last) = &retention.last {
            let (events, held) = (retention.events, bytes(retention.bytes));
            let last = shown(last, 40);
            let _ = write!(text, "; {events} events, {held} forgotten on {last}");
        }
        rows.push(["retention".to_owned(), text]);
    }
    let mut text = table(["lored", ""], &rows);
    for warning in &status.warnings {
        // Writing into a string does not fail.
        let _ = writeln!(text, "warning: {}", shown(warning, 0));
    }
    text
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}
