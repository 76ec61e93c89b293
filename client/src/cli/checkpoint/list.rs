//! `lore checkpoint list`: the checkpoints of a session as a table.

use lore::protocol::checkpoints::{ListArgs, ListReply, Listed};
use serde_json::Value;

use super::super::exchange::{self, Told, meta, tell};
use super::super::output::{shown, table};
use super::super::status::bytes;
use super::super::{Caller, End, Failure};
use super::needed_session;

/// List the checkpoints of a session, the newest first
#[derive(Debug, clap::Args)]
pub struct List {
    /// At most so many, 1 to 100
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Pass over so many of the newest
    #[arg(long, value_name = "COUNT")]
    offset: Option<u64>,
    /// Only those with this tag, as often as needed
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    /// Only those of this name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only those with all of these words in name, tags or metadata
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,
    /// As things stood at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
}

impl List {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListArgs {
            session_id: needed_session(caller, "")?,
            limit: self.limit,
            offset: self.offset,
            tags: self.tags,
            name: self.name,
            query: self.query,
            as_of: exchange::moment(self.as_of.as_deref())?,
            at_least: None,
            agent: None,
        };
        let mut reply = caller.reply("workflow_checkpoint_list", exchange::json(&args)?)?;
        let total = meta(&reply)?.and_then(|meta| meta.total);
        let told = human(&exchange::read(&reply.json)?, total);
        // As over MCP: what is printed for programs is an object.
        reply.json = [br#"{"checkpoints":"#, reply.json.as_slice(), b"}"].concat();
        tell(caller, reply, told)
    }
}

fn human(reply: &ListReply, total: Option<u64>) -> Told {
    let rows: Vec<_> = reply.checkpoints.iter().map(row).collect();
    let Some(first) = reply.checkpoints.first() else {
        let aside = total.filter(|total| *total > 0);
        return Told::nothing(aside.map_or_else(String::new, |total| {
            format!("lore: there are {total}; --offset passes over all of them\n")
        }));
    };
    let mut out = table(["checkpoint", "at", "size", "name", "tags"], &rows);
    let count = rows.len();
    out += &format!("{count} of {}", total.unwrap_or(count as u64));
    if !first.critical_keys.is_empty() {
        let keys: Vec<_> = first
            .critical_keys
            .iter()
            .map(|key| shown(key, 40))
            .collect();
        out += &format!("; critical keys: {}", keys.join(", "));
    }
    out.push('\n');
    Told::good(out)
}

fn row(listed: &Listed) -> [String; 5] {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = listed.metadata.get("name").map(text).unwrap_or_default();
    let tags = listed.metadata.get("tags").and_then(Value::as_array);
    let tags: Vec<_> = tags.into_iter().flatten().map(text).collect();
    [
        listed.checkpoint_id.to_string(),
        shown(&listed.created_at, 30),
        bytes(listed.size_bytes),
        shown(&name, 40),
        shown(&tags.join(", "), 40),
    ]
}
