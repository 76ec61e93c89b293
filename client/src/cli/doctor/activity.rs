//! When something last arrived from a host, and when something was last added to one of its contexts.

use lore::connection::{Connection, Error};
use lore::protocol::Args;
use lore::start;
use serde_json::{Value, json};

use crate::cli::Globals;

/// Newest sessions of a host that are looked at.
const SESSIONS_MAX: u64 = 20;
/// Newest events in which an addition is looked for: the daemon looks at as many for one page.
const EVENTS_MAX: u64 = 20_000;
/// Pages that are read at most: few additions fit into one.
const PAGES_MAX: usize = 50;
/// What packs of hooks are made for; an agent's own ones are for tasks and messages.
const MOMENTS: [&str; 6] = [
    "start",
    "after_compaction",
    "prompt",
    "before_edit",
    "tool_failed",
    "before_subagent",
];

/// What the daemon recorded of a host.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Time of the last event of its newest sessions.
    pub event: Option<String>,
    /// Time at which something was last added.
    pub added: Option<String>,
}

/// Asks the daemon about hosts.
pub struct ActivityReader(Connection);

impl ActivityReader {
    /// Connects to the daemon that is running; `None` if none is. Starts none.
    pub fn connect(globals: &Globals) -> Option<Self> {
        let paths = globals.paths().ok()?;
        start::connect_once(&paths, &globals.hello()).ok().map(Self)
    }

    /// Reads the activity of a host; `None` if the daemon refuses.
    pub fn of(&mut self, host: &str) -> Option<Activity> {
        Some(Activity {
            event: self.last_event(host).ok()?,
            added: self.last_addition(host).ok()?,
        })
    }

    fn last_event(&mut self, host: &str) -> Result<Option<String>, Error> {
        let args = json!({"by_agent": host, "state": "any", "limit": SESSIONS_MAX});
        let reply = self.call("list_sessions", &args)?;
        let times = list(&reply, "sessions");
        let times = times.filter_map(|session| session.get("last_activity")?.as_str());
        Ok(times.max().map(str::to_owned))
    }

    fn last_addition(&mut self, host: &str) -> Result<Option<String>, Error> {
        let status = self.call("status", &json!({}))?;
        let newest = number(&status, "position").unwrap_or_default();
        let mut from = Some(newest.saturating_sub(EVENTS_MAX).max(1));
        let mut last = None;
        for _ in 0..PAGES_MAX {
            let Some(start) = from else { break };
            let args = json!({"from": start, "agent": host, "kinds": ["PackMade"], "limit": 1000});
            let page = self.call("read_events", &args)?;
            let is_ours = |event: &&Value| {
                let made_for = event.pointer("/payload/made_for").and_then(Value::as_str);
                made_for.is_some_and(|purpose| MOMENTS.contains(&purpose))
            };
            let newest = list(&page, "events").filter(is_ours).last();
            let time = newest.and_then(|event| event.get("time")?.as_str());
            last = time.map(str::to_owned).or(last);
            from = number(&page, "next");
        }
        Ok(last)
    }

    fn call(&mut self, operation: &str, args: &Value) -> Result<Value, Error> {
        let args = Args::Json(args.to_string().into_bytes());
        let reply = self.0.call(operation, &args)?;
        Ok(serde_json::from_slice(&reply.json).unwrap_or_default())
    }
}

fn list<'v>(reply: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    let list = reply.get(field).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn number(reply: &Value, field: &str) -> Option<u64> {
    reply.get(field)?.as_u64()
}
