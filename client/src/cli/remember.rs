//! `lore remember`, `lore recall` and `lore brief`: what a project knows.

use serde_json::Value;

use super::command::Command;
use super::common::KEY;
use super::flag::{Fields, Flag, Kind};
use super::output::{sanitize, sanitize_lines};
use super::parser::Matches;
use super::report::{Rendered, Report};
use super::template::{fill, is, list, raw};
use super::{Caller, Failure};

/// Maximum length of a source's words, in characters.
const TEXT_CHARS: usize = 600;

const PROJECT: Flag = Flag::text(
    "project",
    "PROJECT",
    "The project, by its id or `current`, if not that of this folder",
);

/// `lore remember`.
pub const REMEMBER: Command = Command::call_with(
    "remember",
    "Keep a fact, decision or preference of the project",
    "remember",
    evidence,
    Report::Text(remembered),
)
.details(
    "Later sessions in the project are given it at their start, and when a prompt or an edit needs it, whichever agent \
     they are of. To take it back, use `lore forget --session SESSION --from POSITION --to POSITION`, as the reply names them.",
)
.flags(&[&[
    Flag::positional(
        Kind::Words,
        "text",
        "TEXT",
        "What to remember, in words that hold without the conversation",
    ),
    Flag::of(
        Kind::Choice(&[
            ("fact", "How things are"),
            ("decision", "What was decided"),
            ("preference", "What someone likes better"),
        ]),
        "kind",
        "KIND",
        "What it is; fact by default",
    ),
    Flag::texts(
        "evidence",
        "POSITION",
        "Position of an event that it stands on; may be repeated",
    )
    .local(),
    KEY,
]])
.examples(&[
    "lore remember the staging database is restored every night at 2",
    "lore remember --kind decision \"prices are stored in cents\"",
]);

/// `lore recall`.
pub const RECALL: Command = Command::call(
    "recall",
    "Say what is known about a question, with its sources",
    "recall",
    Report::Rendered(recalled),
)
.flags(&[&[
    Flag::positional(
        Kind::Words,
        "question",
        "QUESTION",
        "A question, or a topic",
    ),
    PROJECT,
    Flag::number("limit", "N", "At most this many sources; 5 by default").short('n'),
]])
.examples(&["lore recall how are prices stored"]);

/// `lore brief`.
pub const BRIEF: Command = Command::call(
    "brief",
    "Say what the last sessions of the project did and left open",
    "brief",
    Report::Rendered(brief),
)
.details("Agents are given the same text when they start, if the hooks of `lore setup` are there.")
.flags(&[&[
    PROJECT,
    Flag::number(
        "max-tokens",
        "COUNT",
        "At most this many tokens; 2000 by default",
    ),
]])
.examples(&["lore brief"]);

fn evidence(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let positions = matches.texts("evidence").into_iter().map(|text| {
        text.parse::<u64>().map_err(|_| {
            Failure::Usage(format!(
                "--evidence is {text:?}; expected a position, as `lore log` and `lore recall` print it"
            ))
        })
    });
    let positions: Vec<u64> = positions.collect::<Result<_, _>>()?;
    match positions.is_empty() {
        true => Ok(()),
        false => fields.put("evidence", &positions),
    }
}

fn remembered(reply: &Value) -> String {
    fill(
        "remembered as a {kind} of {project=no project}: message {message:40} of session {session} (position {position})\n",
        reply,
    )
}

fn recalled(reply: &Value, _: &Matches) -> Rendered {
    let known = list(reply, "known");
    if known.is_empty() {
        return Rendered::nothing(fill("lore: {reason=nothing is known about this}\n", reply));
    }
    let (mut text, mut is_elsewhere) = (String::new(), false);
    for item in known {
        if is(item, "elsewhere") && !is_elsewhere {
            is_elsewhere = true;
            text += "from the rest of the machine:\n\n";
        }
        text += &sanitize(raw(item, "text"), TEXT_CHARS);
        text += &fill("\n        {remembered:20=said} {at:time}", item);
        if !raw(item, "agent").is_empty() {
            text += &fill(", {agent:40}", item);
        }
        text += &fill(": {file_path|source:80}, position {position}\n\n", item);
    }
    Rendered::good(text)
}

fn brief(reply: &Value, _: &Matches) -> Rendered {
    match raw(reply, "text") {
        "" => Rendered::nothing(fill(
            "lore: nothing is known of {project=this folder} yet\n",
            reply,
        )),
        text => Rendered::good(format!("{}\n", sanitize_lines(text).trim_end())),
    }
}
