//! `lore session diff`: what changed in a session, a line for every change.

use std::fmt::Write;

use lore::protocol::sessions::{
    DiffSessionArgs, DiffSessionReply, EntityChange, FieldChange, ValueChange,
};
use lore::protocol::{AsOf, SessionId};
use serde_json::Value;

use crate::cli::exchange::{Told, ask, id, moment_of};
use crate::cli::given::{Which, counted};
use crate::cli::output::shown;
use crate::cli::{Caller, End, Failure};

/// A longer value is shortened to so many characters.
const VALUE_CHARS_MAX: usize = 60;

/// Tell what changed from one moment of a session to another
#[derive(Debug, clap::Args)]
pub struct Diff {
    #[command(flatten)]
    which: Which,
    /// The earlier moment: a position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    from: String,
    /// The later moment; otherwise now
    #[arg(long, value_name = "WHEN")]
    to: Option<String>,
    /// A session, such as a fork, of which the later moment is
    #[arg(long, value_name = "ID")]
    other: Option<String>,
}

impl Diff {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let from: Result<AsOf, _> = self.from.parse();
        let from = from.map_err(|error| Failure::Usage(format!("--from: {error}")))?;
        let to = moment_of("--to", self.to.as_deref())?;
        let other = self.other.as_deref().map(id).transpose()?;
        compare(caller, self.which.session()?, from, other, to)
    }
}

/// Tells what changed from a moment of a session, the current one unless named, to another moment
/// of it or of `other`; now unless named.
pub fn compare(
    caller: &mut Caller,
    session: Option<SessionId>,
    from: AsOf,
    other: Option<SessionId>,
    to: Option<AsOf>,
) -> Result<End, Failure> {
    let args = DiffSessionArgs {
        session,
        a: from,
        b: to,
        other,
        agent: None,
    };
    ask(caller, "diff_session", &args, |reply| {
        Told::good(human(reply))
    })
}

/// What came begins with `+`, what went with `-`, what is otherwise than before with `~`.
fn human(reply: &DiffSessionReply) -> String {
    let mut lines: Vec<String> = reply.fields.iter().map(field).collect();
    lines.extend(
        reply
            .messages
            .iter()
            .map(|message| format!("+ message {}", shown(message, 40))),
    );
    let unnamed = reply.messages_added - (reply.messages.len() as u64).min(reply.messages_added);
    if unnamed > 0 {
        lines.push(format!("+ {}", counted(unnamed, "more message")));
    }
    if reply.messages_missing > 0 {
        lines.push(format!("- {}", counted(reply.messages_missing, "message")));
    }
    lines.extend(reply.entities.iter().map(entity));
    lines.extend(reply.values.iter().map(step));
    lines.extend(reply.keys.iter().map(|key| context(key)));
    if lines.is_empty() {
        return format!("nothing changed from {} to {}\n", reply.a, reply.b);
    }
    let mut text = String::new();
    for line in lines {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

fn field(change: &FieldChange) -> String {
    let name = shown(&change.field, 60);
    let json = |value: &Value| shown(&value.to_string(), VALUE_CHARS_MAX);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("~ {name} {} -> {}", json(before), json(after)),
        (Some(before), None) => format!("- {name} {}", json(before)),
        (None, Some(after)) => format!("+ {name} {}", json(after)),
        (None, None) => format!("~ {name}"),
    }
}

fn entity(change: &EntityChange) -> String {
    let (kind, name) = (
        shown(&change.kind, 40),
        shown(&change.name, VALUE_CHARS_MAX),
    );
    let (before, after) = (change.mentions_before, change.mentions_after);
    match before {
        0 => format!("+ {kind} {name}, mentions: {after}"),
        _ => format!("~ {kind} {name}, mentions: {before} -> {after}"),
    }
}

fn step(change: &ValueChange) -> String {
    let step = change.step;
    let result = |text: &String| shown(text, VALUE_CHARS_MAX);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            format!("~ step {step} {} -> {}", result(before), result(after))
        }
        (Some(before), None) => format!("- step {step} {}", result(before)),
        (None, Some(after)) => format!("+ step {step} {}", result(after)),
        (None, None) => format!("~ step {step}"),
    }
}

/// A place in the latest checkpoint's context; the reply says behind it what happened there.
fn context(key: &str) -> String {
    let (sign, path) = match key.rsplit_once(' ') {
        Some((path, "added")) => ('+', path),
        Some((path, "removed")) => ('-', path),
        Some((path, "changed")) => ('~', path),
        Some(_) | None => ('~', key),
    };
    format!("{sign} context {}", shown(path, 200))
}
