//! `lore remember`, `lore recall`, `lore facts` and `lore brief`: what a project knows.

use serde_json::Value;

use super::command::Command;
use super::common::KEY;
use super::flag::{Fields, Flag, Kind};
use super::output::{sanitize, sanitize_lines};
use super::parser::Matches;
use super::report::{Rendered, Report};
use super::template::{fill, is, list, number, raw};
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
    Flag::texts(
        "replaces",
        "POSITION",
        "Position of a statement that it replaces; may be repeated",
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

/// `lore facts`.
pub const FACTS: Command = Command::call(
    "facts",
    "List what was said in the project that lasts, with its versions",
    "list_facts",
    Report::Rendered(facts),
)
.details(
    "What `lore remember` keeps, and what people and agents stated as a decision, rule, preference or fact. A later statement \
     that contradicts one replaces it, unless someone else said that one: then both stand. Nothing is lost: --all lists also \
     what was replaced.",
)
.flags(&[&[
    PROJECT,
    Flag::switch("all", "List also what was replaced, and what another statement repeats").sends("include_replaced"),
    Flag::switch("doubtful", "List only facts that are disputed, or cite code that has changed"),
    Flag::number("limit", "N", "List at most this many; 50 by default").short('n'),
]])
.examples(&["lore facts", "lore facts --doubtful"]);

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
    for name in ["evidence", "replaces"] {
        let positions = matches.texts(name).into_iter().map(|text| {
            text.parse::<u64>().map_err(|_| {
                Failure::Usage(format!(
                    "--{name} is {text:?}; expected a position, as `lore log` and `lore recall` print it"
                ))
            })
        });
        let positions: Vec<u64> = positions.collect::<Result<_, _>>()?;
        if !positions.is_empty() {
            fields.put(name, &positions)?;
        }
    }
    Ok(())
}

/// Says what was remembered, and what that does to other statements.
pub(super) fn remembered(reply: &Value) -> String {
    let mut text = fill(
        "remembered as a {kind} of {project=no project}: message {message:40} of session {session} (position {position})\n",
        reply,
    );
    for (member, what) in [
        ("replaces", "replaces"),
        (
            "contradicts",
            "contradicts, and both stand until one is settled,",
        ),
    ] {
        for other in list(reply, member) {
            text += &format!("{what} {}", version(other));
        }
    }
    text
}

/// Returns another statement, with who said it and when.
fn version(other: &Value) -> String {
    let by = match is(other, "by_user") {
        true => "the user".to_owned(),
        false => fill("{agent:40=an agent}", other),
    };
    let text = sanitize(raw(other, "text"), TEXT_CHARS);
    format!(
        "\"{text}\" ({by}{})\n",
        fill(", {at:time}, position {position}", other)
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
        text += &fill(": {file_path|source:80}, position {position}\n", item);
        for (member, what) in [("replaces", "replaces"), ("disputed_with", "not settled:")] {
            for other in list(item, member) {
                text += &format!("        {what} {}", version(other));
            }
        }
        text.push('\n');
    }
    Rendered::good(text)
}

fn facts(reply: &Value, _: &Matches) -> Rendered {
    let all = list(reply, "facts");
    if all.is_empty() {
        return Rendered::nothing(fill(
            "lore: nothing was stated in {project=this folder} that lasts\n",
            reply,
        ));
    }
    let text: String = all.iter().map(fact).collect();
    let aside = match number(reply, "more") {
        0 => String::new(),
        more => format!("lore: {more} more; --limit lists them\n"),
    };
    Rendered::good(text).aside(aside)
}

/// Returns a fact with its versions, in lines.
pub(super) fn fact(fact: &Value) -> String {
    let mut text = sanitize(raw(fact, "text"), TEXT_CHARS);
    text += &fill("\n        {kind}", fact);
    text += &match is(fact, "by_user") {
        true => fill(" of the user in {agent:40=an agent}", fact),
        false => fill(" of {agent:40=an agent}", fact),
    };
    text += &fill(", {at:time}, position {position}", fact);
    text += match raw(fact, "state") {
        "replaced" => ", replaced",
        "repeated" => ", repeated by another one",
        _ => "",
    };
    text += match raw(fact, "cited_code") {
        "fresh" => ", the cited code is as it was",
        "changed" => ", the cited code has changed",
        "gone" => ", the cited file is gone",
        _ => "",
    };
    text.push('\n');
    for (member, what) in [("replaces", "replaces"), ("disputed_with", "not settled:")] {
        for other in list(fact, member) {
            text += &format!("        {what} {}", version(other));
        }
    }
    text
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
