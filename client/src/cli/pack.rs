//! `lore pack` and `lore why`: the context for a message or a task within a budget, and the events that it is
//! based on.

use serde_json::{Value, json};

use super::command::Command;
use super::common::ORIGINS;
use super::flag::{Fields, Flag, Kind};
use super::output::{is_terminal, sanitize, text_for};
use super::parser::Matches;
use super::report::{Column, Rendered, Report, column, column_of, facts, rows};
use super::template::{at, fill, fill_each, list};
use super::{Caller, Exit, Failure, input};

/// `lore pack`.
pub const PACK: Command = Command::client(
    "pack",
    "Print what is known and needed for a message or a task",
    pack,
)
.details(
    "The prompt goes to standard output, unchanged if that is a pipe. What was left out is listed on standard error. \
     `lore why PACK` lists the events that it is based on.",
)
.flags(&[&[
    Flag::positional(Kind::Text, "message", "MESSAGE", "Message to answer; - reads it from standard input")
        .unless("for-task")
        .allows_dash(),
    Flag::text("for-task", "QUERY", "Task to do instead, across the sessions of a project; - reads it from standard input")
        .allows_dash()
        .conflicts(&["message"]),
    Flag::text("project", "ID", "Project of the task, if not that of this folder; --session: only one of its sessions"),
    Flag::number("max-tokens", "COUNT", "At most this many tokens in the prompt; otherwise 4000"),
    Flag::switch("include-suspect", "Include text that gives orders to a model").sends("include_suspect"),
    Flag::of(Kind::Choices(ORIGINS), "origin", "ORIGIN", "Only words of these; may be repeated").local(),
]])
.examples(&["lore pack \"what is its status?\"", "lore pack --for-task \"replace the uplinks\" --max-tokens 2000"]);

fn pack(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut fields = Fields::default();
    let operation = match matches.text("for-task") {
        Some(task) => {
            // LORE_SESSION names the session to work in and does not restrict the search.
            fields.put_some("session", caller.session()?.as_ref())?;
            fields.put_some("project", matches.text("project"))?;
            fields.put("query", &input::text("the task", task)?)?;
            "context_pack"
        }
        None if matches.text("project").is_some() => {
            return Err(Failure::Usage(
                "--project needs --for-task: a message is answered from its session".to_owned(),
            ));
        }
        None => {
            fields.put(
                "message",
                &input::text("the message", matches.needed("message"))?,
            )?;
            "enrich_message"
        }
    };
    fields.put_some("max_tokens", matches.number("max-tokens").as_ref())?;
    if matches.is("include-suspect") {
        fields.put("include_suspect", &true)?;
    }
    let origins = matches.texts("origin");
    if !origins.is_empty() {
        fields.put("origins", &origins)?;
    }
    let reply = caller.reply(operation, fields)?;
    let rendered = prompt(&super::report::read(&reply.json)?);
    caller.print(reply, rendered)
}

fn prompt(reply: &Value) -> Rendered {
    let mut aside = fill(
        "lore: pack {pack:40}: {tokens} of {max_tokens} tokens{cached:, built before/}\n",
        reply,
    );
    for section in list(reply, "sections") {
        let pieces = list(section, "pieces").len();
        if pieces > 0 {
            let section = json!({"name": at(section, "name"), "tokens": at(section, "tokens"), "pieces": pieces});
            aside += &fill(
                "  {name}: {pieces:count piece}, {tokens} tokens\n",
                &section,
            );
        }
    }
    aside += &fill_each(
        "  left out: {kind} {id:60} ({part}): {why}\n",
        list(reply, "left_out"),
    )
    .concat();
    let out = text_for(
        at(reply, "prompt").as_str().unwrap_or_default(),
        is_terminal(),
    )
    .into_owned();
    Rendered::good(out + "\n").aside(aside)
}

/// `lore why`.
pub const WHY: Command = Command::call_with(
    "why",
    "List what an answer is based on, or what used an event",
    "why",
    subject,
    Report::Rendered(why),
)
.details(
    "For a context pack: the events that it is based on. For anything else: the packs that used it, and for a message \
     also the pack that it was made with.",
)
.flags(&[&[
    Flag::positional(
        Kind::Text,
        "what",
        "WHAT",
        "A position, or the id of a pack (p-…), message (m-…), tool execution (t-…) or checkpoint",
    )
    .local()
    .unless("step"),
    Flag::number("step", "NUMBER", "A step of the session instead").conflicts(&["what"]),
    Flag::number("attempt", "NUMBER", "Attempt at the step").requires("step"),
    Flag::switch("text", "Also print the text of the pack as the model received it, and what was left out").sends("text"),
]])
.examples(&["lore why p-01k9", "lore why p-01k9 --text", "lore why 120", "lore why --step 2"]);

fn subject(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    matches
        .text("what")
        .map_or(Ok(()), |what| about(what, fields))
}

/// Adds the argument for this kind of id. The first two characters decide, because no checkpoint id begins with
/// these prefixes.
fn about(what: &str, fields: &mut Fields) -> Result<(), Failure> {
    if !what.is_empty() && what.bytes().all(|byte| byte.is_ascii_digit()) {
        let position: u64 = what.parse().map_err(|_| {
            Failure::Usage(format!(
                "{} is too large for a position",
                sanitize(what, 40)
            ))
        })?;
        return fields.put("position", &position);
    }
    match what.get(..2) {
        Some("p-") => fields.put("pack", what),
        Some("m-") => fields.put("message", what),
        Some("t-") => fields.put("execution", what),
        Some(_) | None => fields.put(
            "checkpoint",
            &input::id::<lore::protocol::CheckpointId>(what)?,
        ),
    }
}

fn why(reply: &Value, matches: &Matches) -> Rendered {
    let (of, pack, used) = (at(reply, "of"), at(reply, "pack"), list(reply, "used_by"));
    let mut text = String::new();
    if !of.is_null() {
        text += &event(of);
    }
    if !pack.is_null() {
        text += if of.is_null() { "" } else { "was made with\n" };
        text += &facts(PACK_FACTS, pack);
        let events = list(pack, "rests_on");
        if !events.is_empty() {
            text += &format!("is based on\n{}", rows(EVENTS, events));
        }
        text += &given_text(at(pack, "text"), matches.is("text"));
    }
    if !used.is_empty() {
        let columns = &[
            column("pack", "{pack:40}"),
            column("position", "{position}"),
        ];
        text += &format!("is used by\n{}", rows(columns, used));
    } else if pack.is_null() {
        return Rendered {
            end: Exit::Nothing,
            aside: "lore: no pack used it\n".to_owned(),
            out: text,
        };
    }
    Rendered::good(text)
}

/// Formats the text of a pack, if it is asked for.
fn given_text(given: &Value, is_wanted: bool) -> String {
    let Some(text) = at(given, "text").as_str() else {
        return match is_wanted {
            true => "its text is not kept: it was forgotten, or is older than texts are kept (packs.text_days)\n",
            false => "",
        }
        .to_owned();
    };
    let left_out = list(given, "left_out");
    let left_out = match left_out.is_empty() {
        true => String::new(),
        false => format!("left out\n{}", rows(LEFT_OUT, left_out)),
    };
    let text = text_for(text, is_terminal());
    format!("{left_out}the text\n{text}\n")
}

const LEFT_OUT: &[Column] = &[
    column("position", "{position}"),
    column("part", "{part}"),
    column("why", "{why}"),
];

/// Formats an event as one line.
fn event(of: &Value) -> String {
    let place = match at(of, "file") {
        Value::Null => format!("session {}", session(of)),
        file => fill("project {project:64}", file),
    };
    fill("{kind} {id:60} of ", of)
        + &place
        + &fill(
            ", position {position=gone}: {event:30=-} at {at:time=-} by {agent:30=-}\n",
            of,
        )
}

const PACK_FACTS: &[Column] = &[
    column("pack", "{pack:40}"),
    column("made for", "a {made_for}, SHA-256 {wanted:64}"),
    column("session", "{session}"),
    column("position", "{position}"),
    column("at", "{at:time}"),
    column("agent", "{agent:40}"),
    column_of("tokens", |pack| {
        let sections = fill_each("{name} {tokens}", list(pack, "sections")).join(", ");
        fill("{tokens} of {max_tokens}: ", pack) + &sections
    }),
];

const EVENTS: &[Column] = &[
    column("what", "{kind}"),
    column("id", "{id:60}"),
    column_of("session", session),
    column("position", "{position=gone}"),
    column("event", "{event:30=-}"),
    column("at", "{at:time=-}"),
    column("agent", "{agent:30=-}"),
];

fn session(of: &Value) -> String {
    match at(of, "file") {
        Value::Null => fill("{session=forgotten}", of),
        _ => fill("{session=-}", of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_show_what_they_are_of() {
        let about = |what: &str| {
            let mut fields = Fields::default();
            let json = about(what, &mut fields).ok().map(|()| fields.into_json());
            json.and_then(|json| String::from_utf8(json).ok())
        };
        let fields = |json: &str| Some(json.to_owned());
        assert_eq!(about("12"), fields(r#"{"position":12}"#));
        assert_eq!(about("p-1"), fields(r#"{"pack":"p-1"}"#));
        assert_eq!(about("m-1"), fields(r#"{"message":"m-1"}"#));
        assert_eq!(about("t-1"), fields(r#"{"execution":"t-1"}"#));
        assert_eq!(about("1e0c-4"), fields(r#"{"checkpoint":"1e0c-4"}"#));
        assert_eq!(about("99999999999999999999"), None);
        assert_eq!(about("a b"), None);
        assert_eq!(about(""), None);
    }
}
