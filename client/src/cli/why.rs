//! `lore why`: what an answer rested on, and what used something.

use std::fmt::Write;

use lore::protocol::Position;
use lore::protocol::packs::{PackTold, RestedOn, WhyArgs, WhyReply};

use super::exchange::{Told, ask, id};
use super::given::word;
use super::output::{facts, shown, table};
use super::{Caller, End, Failure};

/// Tell what an answer rested on, or what used an event
///
/// Of a context pack, the events that it rests on; of anything else the packs that used it, and of a
/// message also the pack that it was made with.
#[derive(Debug, clap::Args)]
pub struct Why {
    /// A position, or the id of a pack (p-…), message (m-…), tool execution (t-…) or checkpoint
    #[arg(required_unless_present = "step")]
    what: Option<String>,
    /// A step of the session instead
    #[arg(long, value_name = "NUMBER", conflicts_with = "what")]
    step: Option<u64>,
    /// Which attempt at the step
    #[arg(long, value_name = "NUMBER", requires = "step")]
    attempt: Option<u64>,
}

impl Why {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let mut args = match self.what.as_deref() {
            Some(what) => about(what)?,
            None => WhyArgs::default(),
        };
        args.step = self.step;
        args.attempt = self.attempt;
        ask(caller, "why", &args, human)
    }
}

/// What is asked about: the first two characters tell it, and no checkpoint's id begins like one of
/// the others.
fn about(what: &str) -> Result<WhyArgs, Failure> {
    let mut args = WhyArgs::default();
    let said = Some(what.to_owned());
    if !what.is_empty() && what.bytes().all(|byte| byte.is_ascii_digit()) {
        let position = what.parse().map_err(|_| {
            Failure::Usage(format!("{} is too large for a position", shown(what, 40)))
        })?;
        args.position = Some(Position(position));
    } else if what.starts_with("p-") {
        args.pack = said;
    } else if what.starts_with("m-") {
        args.message = said;
    } else if what.starts_with("t-") {
        args.execution = said;
    } else {
        args.checkpoint = Some(id(what)?);
    }
    Ok(args)
}

fn human(reply: &WhyReply) -> Told {
    let mut text = String::new();
    if let Some(of) = &reply.of {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}", what(of));
    }
    if let Some(told) = &reply.pack {
        if reply.of.is_some() {
            text += "was made with\n";
        }
        text += &pack(told);
    }
    if !reply.used_by.is_empty() {
        text += "is used by\n";
        let rows: Vec<_> = reply
            .used_by
            .iter()
            .map(|used| [shown(&used.pack, 40), used.position.to_string()])
            .collect();
        text += &table(["pack", "position"], &rows);
    } else if reply.pack.is_none() {
        return Told {
            end: End::Nothing,
            aside: "lore: no pack used it\n".to_owned(),
            out: text,
        };
    }
    Told::good(text)
}

/// Something in one line.
fn what(of: &RestedOn) -> String {
    let [kind, id, session, position, event, at, agent] = row(of);
    let of = match &of.file {
        Some(file) => format!("project {}", shown(&file.project, 64)),
        None => format!("session {session}"),
    };
    format!("{kind} {id} of {of}, position {position}: {event} at {at} by {agent}")
}

fn pack(pack: &PackTold) -> String {
    let sections: Vec<_> = pack
        .sections
        .iter()
        .map(|section| format!("{} {}", word(&section.name), section.tokens))
        .collect();
    let session = pack.session.as_ref();
    let mut text = facts([
        ("pack", shown(&pack.pack, 40)),
        (
            "made for",
            format!(
                "a {}, SHA-256 {}",
                word(&pack.made_for),
                shown(&pack.wanted, 64)
            ),
        ),
        (
            "session",
            session.map_or_else(String::new, ToString::to_string),
        ),
        ("position", pack.position.to_string()),
        ("at", shown(&pack.at, 30)),
        ("agent", shown(&pack.agent, 40)),
        (
            "tokens",
            format!(
                "{} of {}: {}",
                pack.tokens,
                pack.max_tokens,
                sections.join(", ")
            ),
        ),
    ]);
    if !pack.rests_on.is_empty() {
        text += "rests on\n";
        let rows: Vec<_> = pack.rests_on.iter().map(row).collect();
        let heading = ["what", "id", "session", "position", "event", "at", "agent"];
        text += &table(heading, &rows);
    }
    text
}

fn row(of: &RestedOn) -> [String; 7] {
    let optional = |text: &Option<String>| match text.as_deref() {
        None | Some("") => "-".to_owned(),
        Some(text) => shown(text, 30),
    };
    let position = of.position;
    let session = match (&of.session, &of.file) {
        (Some(session), _) => session.to_string(),
        (None, Some(_)) => "-".to_owned(),
        (None, None) => "forgotten".to_owned(),
    };
    [
        word(&of.kind),
        shown(&of.id, 60),
        session,
        position.map_or_else(|| "gone".to_owned(), |position| position.to_string()),
        optional(&of.event),
        optional(&of.at),
        optional(&of.agent),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_tell_what_they_are_of() {
        let about = |what: &str| {
            about(what)
                .ok()
                .map(|args| serde_json::to_string(&args).unwrap())
        };
        let said = |json: &str| Some(json.to_owned());
        assert_eq!(about("12"), said(r#"{"position":12}"#));
        assert_eq!(about("p-1"), said(r#"{"pack":"p-1"}"#));
        assert_eq!(about("m-1"), said(r#"{"message":"m-1"}"#));
        assert_eq!(about("t-1"), said(r#"{"execution":"t-1"}"#));
        assert_eq!(about("1e0c-4"), said(r#"{"checkpoint":"1e0c-4"}"#));
        assert_eq!(about("99999999999999999999"), None);
        assert_eq!(about("a b"), None);
        assert_eq!(about(""), None);
    }
}
