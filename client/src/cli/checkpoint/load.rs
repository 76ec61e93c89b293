//! `lore checkpoint load`: prints only the context, for people and for pipes.

use lore::protocol::RawJson;
use lore::protocol::checkpoints::{CompressReply, LoadReply, ViewReport};

use super::pretty::pretty;
use crate::cli::command::Command;
use crate::cli::common::AS_OF;
use crate::cli::flag::{Fields, Flag, Kind};
use crate::cli::output::{self, sanitize};
use crate::cli::parser::Matches;
use crate::cli::report::{Rendered, Report, read};
use crate::cli::template::{fill, list, raw};
use crate::cli::{Caller, Failure};

/// `lore checkpoint load`.
pub const LOAD: Command = Command::call_with(
    "load",
    "Print the context of a checkpoint, or of the session's latest",
    "workflow_checkpoint_load",
    session,
    Report::Exact(loaded),
)
.flags(&[&[
    Flag::positional(
        Kind::Checkpoint,
        "checkpoint",
        "CHECKPOINT",
        "Id of the checkpoint; otherwise the latest of the session",
    )
    .sends("checkpointId")
    .optional(),
    Flag::of(
        Kind::Commas,
        "keys",
        "KEY",
        "Only these top-level keys, separated by commas",
    ),
    Flag::number(
        "max-tokens",
        "COUNT",
        "Fit the context into this many tokens; what is stored stays whole",
    )
    .sends("maxTokens"),
    AS_OF.sends("asOf"),
]])
.examples(&[
    "lore checkpoint load",
    "lore checkpoint load 01k9 --keys goal,plan",
]);

fn session(_: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    fields.put_some("sessionId", caller.session()?.as_ref())
}

fn loaded(reply: &[u8]) -> Result<Rendered, Failure> {
    let reply: LoadReply = read(reply)?;
    let context = printed(&reply.context, output::is_terminal());
    Ok(Rendered::good(context).aside(reply.view.as_ref().map(report).unwrap_or_default()))
}

/// Renders the reply of `lore checkpoint compress`.
pub fn compressed(reply: &[u8]) -> Result<Rendered, Failure> {
    let reply: CompressReply = read(reply)?;
    let context = printed(&reply.context, output::is_terminal());
    Ok(Rendered::good(context).aside(report(&reply.view)))
}

/// Formats a context for output: multi-line and sanitised on a terminal, otherwise unchanged on one line.
fn printed(context: &RawJson, is_terminal: bool) -> String {
    let mut text = if is_terminal {
        output::sanitize_lines(&pretty(context.as_str()))
    } else {
        context.as_str().to_owned()
    };
    text.push('\n');
    text
}

/// Lists the keys that the view does not contain in full, one line each.
fn report(view: &ViewReport) -> String {
    let view = serde_json::to_value(view).unwrap_or_default();
    let mut text = fill(
        "lore: {tokens} of {originalTokens} tokens, {maxTokens} were allowed\n",
        &view,
    );
    for key in list(&view, "keys") {
        match raw(key, "treatment") {
            "" | "whole" => {}
            done => {
                text += &fill("  {key:80} ({layer}): ", key);
                text += &fill(
                    &format!(
                        "{}, {{tokensInView|tokens}} of {{tokens}} tokens\n",
                        treatment(done)
                    ),
                    key,
                );
            }
        }
    }
    match raw(&view, "note") {
        "" => text,
        note => text + &format!("  {}\n", sanitize(note, 0)),
    }
}

/// Describes in words what the view did to a key.
pub fn treatment(done: &str) -> &str {
    match done {
        "whitespace" => "blanks removed",
        "strings" => "texts shortened",
        "arrays" => "lists shortened",
        "dropped" => "left out",
        _ => done,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A pipe gets every byte. A terminal gets lines without cursor control sequences.
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
