//! `lore pause` and `lore resume-capture`: hooks record and add nothing for a while.

use serde_json::Value;

use super::command::Command;
use super::flag::{Fields, Flag};
use super::parser::Matches;
use super::report::Report;
use super::template::{at, fill};
use super::{Caller, Failure};

const PROJECT: Flag = Flag::text(
    "project",
    "PROJECT",
    "Only in this project, by its id or `current`",
);

/// `lore pause`.
pub const PAUSE: Command = Command::call_with(
    "pause",
    "Let hooks record and add nothing for a while",
    "pause_capture",
    duration,
    Report::Text(paused),
)
.details("What agents and people record by commands and tools continues. `lore status` says that recording is paused.")
.flags(&[&[
    Flag::text(
        "for",
        "TIME",
        "End after this time, such as 30m, 2h or 1d; otherwise with `lore resume-capture`",
    )
    .local(),
    PROJECT,
]])
.examples(&["lore pause --for 1h", "lore pause --project current"]);

/// `lore resume-capture`.
pub const RESUME: Command = Command::call(
    "resume-capture",
    "Let hooks record and add again",
    "resume_capture",
    Report::Text(resumed),
)
.flags(&[&[PROJECT]])
.examples(&["lore resume-capture"]);

fn duration(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let Some(text) = matches.text("for") else {
        return Ok(());
    };
    let Some(ms) = milliseconds(text) else {
        return Err(Failure::Usage(format!(
            "--for is {text:?}; expected a number with s, m, h or d, such as 30m"
        )));
    };
    fields.put("ms", &ms)
}

/// Parses a time such as `30m`.
fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|one: char| !one.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let seconds: u64 = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    number
        .checked_mul(seconds)?
        .checked_mul(1_000)
        .filter(|ms| *ms > 0)
}

fn paused(reply: &Value) -> String {
    let place = match at(reply, "project").is_null() {
        true => "everywhere".to_owned(),
        false => fill("in the project {project}", reply),
    };
    match at(reply, "until").is_null() {
        true => format!("paused {place}, until `lore resume-capture`\n"),
        false => format!("paused {place}{}\n", fill(" until {until:time}", reply)),
    }
}

fn resumed(reply: &Value) -> String {
    match at(reply, "ended").as_u64() {
        None | Some(0) => "recording was not paused\n".to_owned(),
        Some(_) => "hooks record and add again\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, ms) in [
            ("30m", Some(1_800_000)),
            (" 2 h", Some(7_200_000)),
            ("2h", Some(7_200_000)),
            ("1d", Some(86_400_000)),
            ("90s", Some(90_000)),
            ("5 min", Some(300_000)),
            ("10", None),
            ("h", None),
            ("0h", None),
            ("-1h", None),
            ("99999999999999999999d", None),
            ("9999999999999999d", None),
        ] {
            assert_eq!(milliseconds(text), ms, "{text}");
        }
    }
}
