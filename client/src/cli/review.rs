//! `lore review`: people judge texts that give orders to a model.

use serde_json::Value;

use lore::connection::Error;
use lore::host_session::why_no_person;
use lore::protocol::{Code, ErrorBody};

use super::command::Command;
use super::flag::{Fields, Flag, Kind};
use super::output::sanitize;
use super::parser::Matches;
use super::report::{Rendered, Report};
use super::template::{fill, list, number, raw};
use super::{Caller, Exit, Failure};

/// Maximum length of a suspicious place, in characters.
const EXCERPT_CHARS: usize = 400;

/// `lore review`.
pub const REVIEW: Command = Command::client(
    "review",
    "List texts that give orders to models, and accept or reject them",
    run,
)
.details(
    "Such texts are recorded, but given to no model. `accept` gives one to models all the same, `reject` keeps any text from \
     them, and `reopen` leaves it to the rules again. Only a person may judge, in a terminal of their own: an agent's \
     command is refused.",
)
.flags(&[&[
    Flag::positional(
        Kind::Choice(&[
            ("accept", "The text may be given to models"),
            ("reject", "The text is given to no model"),
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
    Flag::text("project", "PROJECT", "List only those of this project, by its id or `current`"),
    Flag::switch("all", "List also those that were judged").sends("include_reviewed"),
    Flag::number("limit", "N", "List at most this many; 50 by default").short('n'),
]])
.examples(&["lore review", "lore review --all"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let Some(word) = matches.text("judgement") else {
        let reply = caller.reply("list_suspects", matches.fields()?)?;
        let rendered = Report::Rendered(listed).render(&reply.json, matches)?;
        return caller.print(reply, rendered);
    };
    let Some(event) = matches.number("event") else {
        return Err(Failure::Usage(format!(
            "`lore review {word}` needs the POSITION of a text, as `lore review` lists it"
        )));
    };
    // The daemon asks again; here the variables of processes can be seen as well.
    if let Some(reason) = why_no_person(std::process::id()) {
        let refused = format!("only a person may accept or reject a text, and here {reason}");
        let refused = ErrorBody::new(Code::Forbidden, refused)
            .hint("A person does it in a terminal of their own.");
        return Err(Error::Refused(refused).into());
    }
    let mut fields = Fields::default();
    fields.put("event", &event)?;
    let judgement = match word {
        "accept" => "accepted",
        "reject" => "rejected",
        _ => "open",
    };
    fields.put("judgement", judgement)?;
    let reply = caller.reply("review", fields)?;
    let rendered = Report::Text(judged).render(&reply.json, matches)?;
    caller.print(reply, rendered)
}

fn listed(reply: &Value, _: &Matches) -> Rendered {
    let suspects = list(reply, "suspects");
    if suspects.is_empty() {
        return Rendered::empty("lore: no suspicious text\n".to_owned());
    }
    let mut text = String::new();
    for suspect in suspects {
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
    let aside = match number(reply, "more") {
        0 => String::new(),
        more => format!("lore: {more} more; --limit lists them\n"),
    };
    Rendered::good(text).aside(aside)
}

fn judged(reply: &Value) -> String {
    match raw(reply, "judgement") {
        "accepted" => fill("position {event} may be given to models\n", reply),
        "rejected" => fill("position {event} is given to no model\n", reply),
        _ => fill("the rules decide about position {event}\n", reply),
    }
}
