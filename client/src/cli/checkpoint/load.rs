//! `lore checkpoint load`: the context alone, for people and for pipes.

use std::fmt::Write;

use lore::protocol::RawJson;
use lore::protocol::checkpoints::{LayerName, LoadArgs, LoadReply, Treatment, ViewReport};

use super::super::exchange::{self, Told, ask, id};
use super::super::output::{self, shown};
use super::super::{Caller, End, Failure};
use super::needed_session;
use super::pretty::pretty;

/// Print the context of a checkpoint, or of the session's latest
#[derive(Debug, clap::Args)]
pub struct Load {
    /// The checkpoint; without it the latest of the session
    checkpoint: Option<String>,
    /// Only these top-level keys, with commas between them
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    keys: Vec<String>,
    /// Fit the context into so many tokens; what is stored stays whole
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<u64>,
    /// The session's latest at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
}

impl Load {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let checkpoint_id = self.checkpoint.as_deref().map(id).transpose()?;
        let session_id = match &checkpoint_id {
            None => Some(needed_session(caller, ", or a checkpoint by its id")?),
            // Both are refused, but what merely stands in the environment was not said here.
            Some(_) => caller.session.as_deref().map(id).transpose()?,
        };
        let args = LoadArgs {
            checkpoint_id,
            session_id,
            keys: self.keys,
            max_tokens: self.max_tokens,
            as_of: exchange::moment(self.as_of.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(
            caller,
            "workflow_checkpoint_load",
            &args,
            |reply: &LoadReply| Told {
                out: printed(&reply.context, output::is_terminal()),
                aside: reply.view.as_ref().map(report).unwrap_or_default(),
                end: End::Good,
            },
        )
    }
}

/// A context as it is printed: on a terminal over many lines and without tricks, elsewhere as it
/// is, in one line.
pub fn printed(context: &RawJson, is_terminal: bool) -> String {
    let mut text = if is_terminal {
        output::shown_lines(&pretty(context.as_str()))
    } else {
        context.as_str().to_owned()
    };
    text.push('\n');
    text
}

/// What became of a context in its view, a line for every key that is not whole.
pub fn report(view: &ViewReport) -> String {
    let mut text = format!(
        "lore: {} of {} tokens, {} were allowed\n",
        view.tokens, view.original_tokens, view.max_tokens
    );
    for key in &view.keys {
        let done = key.treatment.unwrap_or(Treatment::Whole);
        if done == Treatment::Whole {
            continue;
        }
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "  {} ({}): {}, {} of {} tokens",
            shown(&key.key, 80),
            layer(key.layer),
            treatment(done),
            key.tokens_in_view.unwrap_or(key.tokens),
            key.tokens
        );
    }
    if let Some(note) = &view.note {
        let _ = writeln!(text, "  {}", shown(note, 0));
    }
    text
}

/// A layer as the metadata's rules name it.
pub const fn layer(layer: LayerName) -> &'static str {
    match layer {
        LayerName::Critical => "CRITICAL",
        LayerName::Important => "IMPORTANT",
        LayerName::Useful => "USEFUL",
        LayerName::Ephemeral => "EPHEMERAL",
    }
}

/// What was done to a key, in words.
pub const fn treatment(done: Treatment) -> &'static str {
    match done {
        Treatment::Whole => "whole",
        Treatment::Whitespace => "blanks taken out",
        Treatment::Strings => "texts cut",
        Treatment::Arrays => "lists cut",
        Treatment::Dropped => "left out",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A pipe gets every byte; a terminal gets lines, and nothing that moves its cursor.
    #[test]
    fn contexts_are_printed_for_whom_they_are() {
        let text = "{\"a\":1.10,\"b\":\"\u{9b}31m\u{202e}\"}";
        let context = RawJson::parse(text.to_owned()).unwrap();
        assert_eq!(printed(&context, false), format!("{text}\n"));
        assert_eq!(
            printed(&context, true),
            "{\n  \"a\": 1.10,\n  \"b\": \"\\u{9b}31m\\u{202e}\"\n}\n"
        );
    }
}
