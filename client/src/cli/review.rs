//! `lore review`: people judge texts that give orders to a model, and what is contradicted or out of date.

use serde_json::{Value, json};

use lore::connection::Error;

use super::command::Command;
use super::common::person_refusal;
use super::flag::{Fields, Flag, Kind};
use super::output::{self, Output, sanitize};
use super::parser::Matches;
use super::report::{Rendered, Report, read};
use super::template::{at, fill, list, number, raw};
use super::{Caller, Exit, Failure};

/// Maximum length of a suspicious place, in characters.
const EXCERPT_CHARS: usize = 400;

/// `lore review`.
pub const REVIEW: Command = Command::client(
    "review",
    "List what is suspicious, contradicted or out of date, and settle it",
    run,
)
.details(
    "Texts that give orders to models are recorded, but given to none. Statements that contradict each other, and those \
     whose cited code has changed, are given with that note. `keep` settles a statement or gives a text to models all the \
     same, `correct` replaces it by the words that follow, `forget` removes it for good, `reject` keeps any text from models, \
     and `reopen` leaves it to the rules again. The oldest evidence comes first. Only a person may judge, in a terminal of \
     their own: an agent's command is refused.",
)
.flags(&[&[
    Flag::positional(
        Kind::Choice(&[
            ("keep", "It stands, and may be given to models"),
            ("accept", "The same"),
            ("correct", "The words that follow replace it"),
            ("forget", "It is removed for good"),
            ("reject", "It is given to no model"),
            ("reopen", "The rules decide again"),
        ]),
        "judgement",
        "JUDGEMENT",
        "What you say; without it, texts are listed",
    )
    .local()
    .optional(),
    Flag::positional(
        Kind::Number,
        "event",
        "POSITION",
        "Position of the text, as the list names it",
    )
    .local()
    .optional(),
    Flag::positional(
        Kind::Words,
        "text",
        "TEXT",
        "With `correct`: what holds instead",
    )
    .local()
    .optional(),
    Flag::text("project", "PROJECT", "List only those of this project, by its id or `current`"),
    Flag::switch("all", "List also those that were judged").sends("include_reviewed"),
    Flag::number("limit", "N", "List at most this many; 50 by default").short('n'),
]])
.examples(&["lore review", "lore review --all"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let Some(word) = matches.text("judgement") else {
        return list_all(matches, caller);
    };
    let Some(event) = matches.number("event") else {
        return Err(Failure::Usage(format!(
            "`lore review {word}` needs the POSITION of a text, as `lore review` lists it"
        )));
    };
    let text = matches.text("text").unwrap_or_default();
    match (word, text.is_empty()) {
        ("correct", true) => {
            return Err(Failure::Usage(format!(
                "`lore review correct {event}` needs the words that hold instead"
            )));
        }
        ("correct", false) => return correct(event, text, caller),
        (_, false) => {
            return Err(Failure::Usage(format!(
                "`lore review {word}` takes no words; `lore review correct {event} TEXT` replaces it by them"
            )));
        }
        ("forget", true) => return forget(event, caller),
        _ => {}
    }
    check_person("accept or reject a text")?;
    let mut fields = Fields::default();
    fields.put("event", &event)?;
    let judgement = match word {
        "accept" | "keep" => "accepted",
        "reject" => "rejected",
        _ => "open",
    };
    fields.put("judgement", judgement)?;
    let reply = caller.reply("review", fields)?;
    let rendered = Report::Text(judged).render(&reply.json, matches)?;
    caller.print(reply, rendered)
}

/// Refuses a command that an agent runs.
fn check_person(what: &str) -> Result<(), Failure> {
    match person_refusal(what) {
        Some(refused) => Err(Error::Refused(refused).into()),
        None => Ok(()),
    }
}

/// Lists suspicious texts, and then what is contradicted or out of date, each with the oldest evidence first.
fn list_all(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let suspects: Value = read(&caller.call("list_suspects", matches.fields()?)?)?;
    let mut fields = matches.fields_without("all")?;
    fields.put("doubtful", &true)?;
    let facts: Value = read(&caller.call("list_facts", fields)?)?;
    if caller.output == Output::Json {
        let both = json!({"suspects": at(&suspects, "suspects"), "facts": at(&facts, "facts")});
        output::write_json_lines(format!("{both}\n").as_bytes())?;
        return Ok(Exit::Good);
    }
    let mut text = listed(&suspects);
    for one in list(&facts, "facts") {
        let doubt = match raw(one, "state") {
            "disputed" => "contradicted",
            _ => "out of date",
        };
        text += &format!("{}{}\n", fill("position {position}: ", one), doubt);
        text += &format!("        {}\n", super::remember::fact(one));
    }
    if text.is_empty() {
        lore::err!("lore: nothing is suspicious, contradicted or out of date\n");
        return Ok(Exit::Good);
    }
    output::write(text.as_bytes())?;
    let more = number(&suspects, "more") + number(&facts, "more");
    if more > 0 {
        lore::err!("lore: {more} more; --limit lists them\n");
    }
    Ok(Exit::Good)
}

/// Replaces a statement.
fn correct(event: u64, text: &str, caller: &mut Caller) -> Result<Exit, Failure> {
    check_person("correct what was said")?;
    let mut fields = Fields::default();
    fields.put("text", text)?;
    fields.put("sender", "user")?;
    fields.put("replaces", &[event])?;
    let reply = caller.reply("remember", fields)?;
    let rendered = Rendered::good(super::remember::remembered(&read(&reply.json)?));
    caller.print(reply, rendered)
}

/// Removes the event for good, with what is derived from it.
fn forget(event: u64, caller: &mut Caller) -> Result<Exit, Failure> {
    check_person("forget what was said")?;
    let mut fields = Fields::default();
    fields.put("from", &event)?;
    fields.put("to", &event)?;
    let reply = caller.reply("forget", fields)?;
    let value: Value = read(&reply.json)?;
    let rendered = match number(&value, "events") {
        0 => Rendered::nothing(format!("lore: nothing is at position {event}\n")),
        _ => Rendered::good(fill("forgot {events:count event}, {bytes:bytes}\n", &value)),
    };
    caller.print(reply, rendered)
}

/// Lists suspicious texts, the oldest first.
fn listed(reply: &Value) -> String {
    let mut text = String::new();
    for suspect in list(reply, "suspects").iter().rev() {
        text += &fill("position {position}: ", suspect);
        let kinds: Vec<&str> = list(suspect, "suspicions")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        text += &match kinds.is_empty() {
            true => "no suspicion".to_owned(),
            false => sanitize(&kinds.join(", "), 100),
        };
        text += &match raw(suspect, "judgement") {
            "open" => String::new(),
            judgement => format!(", {judgement}"),
        };
        text += &fill(
            "\n        {origin}, {at:time}, {agent:40=no agent}, {file_path|source:80}\n",
            suspect,
        );
        let excerpt = sanitize(raw(suspect, "excerpt"), EXCERPT_CHARS);
        text += &format!("        {excerpt}\n\n");
    }
    text
}

fn judged(reply: &Value) -> String {
    match raw(reply, "judgement") {
        "accepted" => fill("position {event} may be given to models\n", reply),
        "rejected" => fill("position {event} is given to no model\n", reply),
        _ => fill("the rules decide about position {event}\n", reply),
    }
}
