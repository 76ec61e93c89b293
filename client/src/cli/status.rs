//! `lore status`: how the daemon is.

use std::fmt::Write;

use lore::protocol::status::{StatusArgs, StatusReply};

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

fn duration(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

/// Bytes as people read them.
pub fn bytes(count: u64) -> String {
    let mut rest = count;
    let mut tenths = 0;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if rest < 1024 {
            return if unit == "B" {
                format!("{rest} B")
            } else {
                format!("{rest}.{tenths} {unit}")
            };
        }
        tenths = rest % 1024 * 10 / 1024;
        rest /= 1024;
    }
    format!("{rest}.{tenths} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_short() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(5 << 40), "5.0 TiB");
        assert_eq!(duration(59), "59 s");
        assert_eq!(duration(3_700), "1 h 1 min");
        assert_eq!(duration(90_000), "1 d 1 h");
    }
}
