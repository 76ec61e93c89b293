//! `lore log`: the events, as a table or as JSON lines.

use lore::protocol::log::{Event, ReadEventsArgs, ReadEventsReply};
use lore::protocol::{Position, SessionId};

use super::output::{self, Output, shown, table};
use super::{Caller, End, Failure, exchange};

/// The events of the log
#[derive(Debug, clap::Args)]
pub struct Log {
    /// One JSON object a line, payloads included
    #[arg(long)]
    jsonl: bool,
    /// First position
    #[arg(long, value_name = "POSITION")]
    from: Option<u64>,
    /// At most so many events
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
}

/// How many events are asked for at once.
const PAGE: u64 = 200;

impl Log {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        if caller.output == Output::Json {
            return self.one_reply(caller);
        }
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut from = self.from;
        let mut found = false;
        let mut rows = Vec::new();
        while left > 0 {
            let reply: ReadEventsReply =
                exchange::read(&self.page(caller, from, left.min(PAGE))?)?;
            left = left.saturating_sub(reply.events.len() as u64);
            found |= !reply.events.is_empty();
            for event in reply.events {
                if self.jsonl {
                    let mut line = serde_json::to_vec(&event).map_err(std::io::Error::other)?;
                    line.push(b'\n');
                    output::write_json_lines(&line)?;
                } else {
                    rows.push(row(event));
                }
            }
            match reply.next {
                // A page that does not lead on would be asked for again for ever.
                Some(next) if from.is_none_or(|from| next.0 > from) => from = Some(next.0),
                Some(_) | None => break,
            }
        }
        if !self.jsonl && found {
            let heading = ["position", "time", "kind", "agent", "session", "what"];
            output::write(table(heading, &rows).as_bytes())?;
        }
        Ok(if found { End::Good } else { End::Nothing })
    }

    fn one_reply(&self, caller: &mut Caller) -> Result<End, Failure> {
        let reply = self.page(caller, self.from, self.limit.unwrap_or(PAGE))?;
        output::write_json(&reply)?;
        let read: ReadEventsReply = exchange::read(&reply)?;
        Ok(if read.events.is_empty() {
            End::Nothing
        } else {
            End::Good
        })
    }

    fn page(&self, caller: &mut Caller, from: Option<u64>, limit: u64) -> Result<Vec<u8>, Failure> {
        let session = caller.session.as_deref().map(SessionId::new).transpose();
        let args = ReadEventsArgs {
            from: from.map(Position),
            limit: Some(limit),
            session: session.map_err(|error| Failure::Usage(error.to_string()))?,
            ..ReadEventsArgs::default()
        };
        caller.call("read_events", exchange::json(&args)?)
    }
}

fn row(event: Event) -> [String; 6] {
    [
        event.position.to_string(),
        shown(&event.time, 30),
        shown(&event.kind, 30),
        shown(&event.agent, 20),
        event
            .session
            .map(|session| shown(session.as_str(), 24))
            .unwrap_or_default(),
        shown(&event.payload.to_string(), 60),
    ]
}
