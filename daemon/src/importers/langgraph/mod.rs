//! Importer for databases of langgraph-checkpoint-sqlite: its tables `checkpoints` and `writes`.
//!
//! Each thread, and each graph within it, becomes a session; each checkpoint becomes a checkpoint. Its context
//! holds the channels' values and its metadata LangGraph's: source, step, parent, time. A task's write to a channel
//! after a checkpoint becomes a step of the tool named after the channel. A long thread becomes several sessions,
//! because the size of one import is limited.

pub mod msgpack;
mod row;
pub mod sqlite;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use self::row::{CHECKPOINT, KEY, Row, ThreadKey, WRITE};
use self::sqlite::{Database, Table};
use super::{Error, LineWriter, Prefix};
use crate::clock::{Micros, parse_time};
use crate::log::Hash;

/// Limit on a value that is read, in bytes.
const VALUE_BYTES_MAX: usize = 24 << 20;
/// Limit on the payloads of a session, in bytes as JSON, and so on one payload; the next session takes the rest. An
/// import accepts 32 MiB per session, and a call escapes each quotation mark to two bytes.
const SESSION_BYTES_MAX: usize = 20 << 20;
/// Upper bound on the bytes of a line besides its payload: it also bounds the lines of a session of small payloads.
const LINE_BYTES: usize = 256;
/// Limit on checkpoints per session.
const SESSION_CHECKPOINTS_MAX: u32 = 900;
/// Limit on a checkpoint's metadata, in bytes.
const METADATA_BYTES_MAX: usize = 60 << 10;
/// Limit on a tool's name, in characters: 256 bytes at most.
const TOOL_CHARS_MAX: usize = 64;
/// Prefix of channels for a graph's control flow; their values carry no information.
const CONTROL: &str = "branch:";
/// Channel of errors.
const ERROR: &str = "__error__";

/// Ids of a thread's rows, by checkpoint.
#[derive(Default)]
struct Thread {
    checkpoints: BTreeMap<String, i64>,
    /// In insertion order: later writes come later, whatever their task and index.
    writes: BTreeMap<String, Vec<i64>>,
}

/// Exports a database as lines.
pub fn write(
    path: &Path,
    lines: &mut LineWriter<'_>,
    aside: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let malformed = |what: String| Error::Malformed(format!("{}: {what}", path.display()));
    let database = Database::open(path).map_err(malformed)?;
    let (checkpoints, writes) = tables(&database).map_err(malformed)?;
    let threads = threads(&database, &checkpoints, writes.as_ref()).map_err(malformed)?;
    let mut writing = PendingWrite {
        path,
        database: &database,
        checkpoints: &checkpoints,
        writes: writes.as_ref(),
        lines,
        aside,
    };
    for (key, thread) in &threads {
        writing.thread(key, thread)?;
    }
    Ok(())
}

fn tables(database: &Database) -> Result<(Table, Option<Table>), String> {
    let checkpoints = database
        .table("checkpoints")?
        .ok_or("it has no table `checkpoints`: it is not a database of LangGraph's checkpoints")?;
    for column in ["thread_id", "checkpoint_id", "checkpoint"] {
        if !checkpoints.has(column) {
            return Err(format!("its table `checkpoints` has no column `{column}`"));
        }
    }
    Ok((checkpoints, database.table("writes")?))
}

fn threads(
    database: &Database,
    checkpoints: &Table,
    writes: Option<&Table>,
) -> Result<BTreeMap<ThreadKey, Thread>, String> {
    let mut threads: BTreeMap<ThreadKey, Thread> = BTreeMap::new();
    database.scan(checkpoints, KEY, &mut |id, values| {
        let row = Row {
            columns: KEY,
            values,
        };
        let thread = threads.entry(row.key()).or_default();
        thread.checkpoints.insert(row.text("checkpoint_id"), id);
    })?;
    if let Some(table) = writes {
        database.scan(table, KEY, &mut |id, values| {
            let row = Row {
                columns: KEY,
                values,
            };
            if let Some(thread) = threads.get_mut(&row.key()) {
                let of_checkpoint = thread.writes.entry(row.text("checkpoint_id")).or_default();
                of_checkpoint.push(id);
            }
        })?;
    }
    Ok(threads)
}

struct PendingWrite<'w, 'l> {
    path: &'w Path,
    database: &'w Database,
    checkpoints: &'w Table,
    writes: Option<&'w Table>,
    lines: &'w mut LineWriter<'l>,
    aside: &'w mut dyn FnMut(&str),
}

/// A session that is being written.
struct Session<'s> {
    key: &'s ThreadKey,
    /// Number of the thread's session, from 1; 0 before the first.
    part: u32,
    bytes: usize,
    checkpoints: u32,
    steps: u32,
}

impl PendingWrite<'_, '_> {
    fn malformed(&self, what: &str) -> Error {
        Error::Malformed(format!("{}: {what}", self.path.display()))
    }

    fn thread(&mut self, key: &ThreadKey, thread: &Thread) -> Result<(), Error> {
        let mut session = Session {
            key,
            part: 0,
            bytes: 0,
            checkpoints: 0,
            steps: 0,
        };
        for (id, number) in &thread.checkpoints {
            let values = self.database.row(self.checkpoints, CHECKPOINT, *number);
            let values = values.map_err(|what| self.malformed(&what))?;
            let row = Row {
                columns: CHECKPOINT,
                values: &values,
            };
            let Some(saved) = self.saved(id, &row)? else {
                continue;
            };
            if session.checkpoints == SESSION_CHECKPOINTS_MAX {
                self.begin(&mut session, saved.at)?;
            }
            let what = format!("the checkpoint {id}");
            if self.has_room(&mut session, saved.at, &what, &saved.payload)? {
                session.checkpoints += 1;
                self.event(saved.at, "CheckpointSaved", saved.payload)?;
            }
            for number in thread.writes.get(id).into_iter().flatten() {
                self.step(*number, saved.at, &mut session)?;
            }
        }
        match session.part {
            0 => Ok(()),
            _ => self.lines.end_session().map_err(Error::file(self.path)),
        }
    }

    /// Returns whether an import accepts an event of this payload size; reports it if not. Starts the session, or the
    /// next session of the thread, where that is needed.
    fn has_room(
        &mut self,
        session: &mut Session<'_>,
        at: Micros,
        what: &str,
        payload: &Value,
    ) -> Result<bool, Error> {
        let text = payload.to_string();
        let refused = match text.len() > SESSION_BYTES_MAX {
            true => Some(format!(
                "it has {} bytes as JSON; at most {SESSION_BYTES_MAX} are imported",
                text.len()
            )),
            false => {
                let line = format!(r#"{{"n":0,"at":"","kind":"","payload":{text}}}"#);
                let within = lore::protocol::within_limits(line.as_bytes());
                within.err().map(|refusal| refusal.message)
            }
        };
        if let Some(why) = refused {
            (self.aside)(&format!("left out: {what}: {why}"));
            return Ok(false);
        }
        if session.part == 0 || session.bytes + text.len() > SESSION_BYTES_MAX {
            self.begin(session, at)?;
        }
        session.bytes += text.len() + LINE_BYTES;
        Ok(true)
    }

    fn begin(&mut self, session: &mut Session<'_>, at: Micros) -> Result<(), Error> {
        if session.part > 0 {
            self.lines.end_session().map_err(Error::file(self.path))?;
        }
        *session = Session {
            part: session.part + 1,
            bytes: 0,
            checkpoints: 0,
            steps: 0,
            ..*session
        };
        let (thread, graph) = session.key;
        let mut title = format!("LangGraph thread {thread}");
        if !graph.is_empty() {
            title = format!("{title}, graph {graph}");
        }
        if session.part > 1 {
            title = format!("{title}, part {}", session.part);
        }
        let title: String = title
            .chars()
            .filter(|c| !c.is_control())
            .take(200)
            .collect();
        let created = json!({"title": title, "tags": ["imported", "langgraph"]});
        let id = session_id(session.key, session.part);
        self.lines
            .begin(&id, at, created)
            .map_err(Error::file(self.path))
    }

    fn event(&mut self, at: Micros, kind: &str, payload: Value) -> Result<(), Error> {
        self.lines
            .event(at, kind, payload)
            .map_err(Error::file(self.path))
    }

    /// Builds a checkpoint; `None` for a skipped one, which is reported.
    fn saved(&mut self, id: &str, row: &Row<'_>) -> Result<Option<SavedThread>, Error> {
        let bytes = row.bytes("checkpoint");
        let decoded = match bytes.len() > VALUE_BYTES_MAX {
            true => Err(format!(
                "it has {} bytes; at most {VALUE_BYTES_MAX} are imported",
                bytes.len()
            )),
            false => decoded(&row.text("type"), bytes),
        };
        let checkpoint = decoded.and_then(|value| match value {
            Value::Object(checkpoint) => Ok(checkpoint),
            _ => Err("it is not a map".to_owned()),
        });
        let checkpoint = match checkpoint {
            Ok(checkpoint) => checkpoint,
            Err(what) => {
                (self.aside)(&format!("left out: the checkpoint {id}: {what}"));
                return Ok(None);
            }
        };
        let context = match checkpoint.get("channel_values") {
            Some(Value::Object(values)) => values.clone(),
            Some(_) | None => Map::new(),
        };
        let ts = checkpoint.get("ts").and_then(Value::as_str);
        let at = ts.and_then(parse_time).unwrap_or(0);
        let payload = json!({
            "checkpoint": checkpoint_id(id, self.lines.prefix()),
            "context": context,
            "metadata": metadata(id, row, &checkpoint),
        });
        Ok(Some(SavedThread { at, payload }))
    }

    /// Writes a task's output as a step.
    fn step(&mut self, number: i64, at: Micros, session: &mut Session<'_>) -> Result<(), Error> {
        let Some(table) = self.writes else {
            return Ok(());
        };
        let values = self.database.row(table, WRITE, number);
        let values = values.map_err(|what| self.malformed(&what))?;
        let row = Row {
            columns: WRITE,
            values: &values,
        };
        let channel = row.text("channel");
        if channel.starts_with(CONTROL) {
            return Ok(());
        }
        let bytes = row.bytes("value");
        let value = match bytes.len() > VALUE_BYTES_MAX {
            true => Err(format!("it has {} bytes", bytes.len())),
            false => decoded(&row.text("type"), bytes),
        };
        let what = format!("a write to the channel {channel}");
        let value = match value {
            Ok(Value::String(text)) => text,
            Ok(value) => value.to_string(),
            Err(why) => {
                (self.aside)(&format!("left out: {what}: {why}"));
                return Ok(());
            }
        };
        let is_error = channel == ERROR;
        let tool: String = channel.chars().take(TOOL_CHARS_MAX).collect();
        let tool = match tool.trim() {
            "" => "channel",
            tool => tool,
        };
        let mut step = json!({
            "step": 0,
            "attempt": 1,
            "success": !is_error,
            "tool": tool,
            "parameters": {"task": row.text("task_id"), "checkpoint": row.text("checkpoint_id")},
        });
        if let Some(step) = step.as_object_mut() {
            let field = if is_error { "error" } else { "result" };
            step.insert(field.to_owned(), Value::from(value));
        }
        if !self.has_room(session, at, &what, &step)? {
            return Ok(());
        }
        // Counted in the session that holds it.
        session.steps += 1;
        if let Some(step) = step.as_object_mut() {
            step.insert("step".to_owned(), Value::from(session.steps));
        }
        self.event(at, "StepRecorded", step)
    }
}

struct SavedThread {
    at: Micros,
    payload: Value,
}

/// Returns the session id of a thread: its name as far as an id allows; if shortened, with a part of its hash.
fn session_id((thread, graph): &ThreadKey, part: u32) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = thread
        .chars()
        .take(60)
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    let mut id = format!("langgraph-{plain}");
    if plain != *thread || !graph.is_empty() {
        let hash = Hash::of(format!("{thread}\0{graph}").as_bytes()).to_string();
        id = format!("{id}-{}", hash.get(..8).unwrap_or_default());
    }
    match part {
        1 => id,
        _ => format!("{id}-part-{part}"),
    }
}

/// Returns the checkpoint's own id if it is a UUID; otherwise, and with a prefix, an id derived from it.
fn checkpoint_id(id: &str, prefix: Option<&Prefix>) -> String {
    if prefix.is_none() && crate::checkpoints::CheckpointKey::parse(id).is_some() {
        return id.to_ascii_lowercase();
    }
    let prefixed = prefix.map(|prefix| prefix.id(id));
    let hash = Hash::of(prefixed.as_deref().unwrap_or(id).as_bytes()).to_string();
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-4{}-8{}-{}",
        part(0, 8),
        part(8, 12),
        part(13, 16),
        part(17, 20),
        part(20, 32)
    )
}

/// Returns LangGraph's metadata of a checkpoint, up to the size limit.
fn metadata(id: &str, row: &Row<'_>, checkpoint: &Map<String, Value>) -> Value {
    let said = serde_json::from_slice::<Value>(row.bytes("metadata"));
    // Before 2.0, metadata was packed like the checkpoint.
    let said = said.or_else(|_| decoded(&row.text("type"), row.bytes("metadata")));
    let said = match said {
        Ok(Value::Object(said)) => said,
        Ok(_) | Err(_) => Map::new(),
    };
    let mut of_langgraph = Map::new();
    let mut note = |name: &str, value: Value| {
        if !value.is_null() {
            of_langgraph.insert(name.to_owned(), value);
        }
    };
    note("thread_id", Value::from(row.text("thread_id")));
    note("checkpoint_ns", Value::from(row.text("checkpoint_ns")));
    note("checkpoint_id", Value::from(id));
    note(
        "parent_checkpoint_id",
        match row.get("parent_checkpoint_id") {
            sqlite::Value::Null => Value::Null,
            _ => Value::from(row.text("parent_checkpoint_id")),
        },
    );
    note("ts", checkpoint.get("ts").cloned().unwrap_or_default());
    let step = said
        .get("step")
        .map_or_else(String::new, |step| format!(" step {step}"));
    let source = said
        .get("source")
        .and_then(Value::as_str)
        .filter(|source| !source.trim().is_empty())
        .unwrap_or("checkpoint");
    let name: String = format!("{source}{step}").chars().take(60).collect();
    note("metadata", Value::Object(said));
    let whole = json!({"name": name, "langgraph": of_langgraph});
    if whole.to_string().len() <= METADATA_BYTES_MAX {
        return whole;
    }
    of_langgraph.remove("metadata");
    let ids = json!({"name": name, "langgraph": of_langgraph});
    match ids.to_string().len() <= METADATA_BYTES_MAX {
        true => ids,
        false => json!({ "name": name }),
    }
}

/// Decodes a value of LangGraph's serialiser.
fn decoded(kind: &str, bytes: &[u8]) -> Result<Value, String> {
    match kind {
        "msgpack" => msgpack::to_json(bytes),
        "json" => {
            lore::protocol::within_limits(bytes).map_err(|refusal| refusal.message)?;
            serde_json::from_slice(bytes).map_err(|error| error.to_string())
        }
        "null" => Ok(Value::Null),
        // Bytes, and objects that only Python can unpack, are stored unchanged.
        other => Ok(msgpack::raw_value(other, bytes)),
    }
}

/// Reads a database from these bytes, for a fuzzer; returns the number of rows.
pub fn check(path: &Path) -> Result<usize, Error> {
    let mut out = Vec::new();
    let mut left_out = 0;
    let mut lines = LineWriter::new(&mut out);
    write(path, &mut lines, &mut |_| left_out += 1)?;
    lines.end().map_err(Error::file(path))?;
    Ok(left_out)
}
