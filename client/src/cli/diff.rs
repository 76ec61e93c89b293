//! `lore diff`: short form of `lore session diff`.

use lore::protocol::{AsOf, Position, SessionId};

use super::command::Command;
use super::flag::{Fields, Flag, Kind};
use super::input::{id, moment};
use super::output::sanitize;
use super::parser::Matches;
use super::report::{Rendered, read};
use super::{Caller, Exit, Failure, session};

/// `lore diff`.
pub const DIFF: Command = Command::client(
    "diff",
    "List what changed between two moments, or two sessions",
    run,
)
.details(
    "Each side is a moment (a position, which is digits alone, or an RFC 3339 time), a session by its id, which stands \
     for its current state, or both as ID@WHEN. A moment without a session belongs to the session of the first side, \
     otherwise to the current session.",
)
.flags(&[&[
    Flag::positional(Kind::Text, "from", "FROM", "Earlier side: WHEN, ID or ID@WHEN"),
    Flag::positional(Kind::Text, "to", "TO", "Later side; otherwise the same session, now").optional(),
]])
.examples(&["lore diff 120 140", "lore diff session-1 its-fork", "lore diff session-1@120"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let from = side(matches.needed("from"))?;
    let to = matches
        .text("to")
        .map(side)
        .transpose()?
        .unwrap_or_default();
    let earlier = match (from.at, &to.session) {
        (Some(moment), _) => moment,
        // Two sessions at their current state.
        (None, Some(_)) => {
            let newest = caller.client.position()?;
            AsOf::Position(Position(newest))
        }
        (None, None) => {
            let from = sanitize(matches.needed("from"), 140);
            return Err(Failure::Usage(format!(
                "{from} is a session without a moment: write {from}@POSITION, or add the session to compare it with"
            )));
        }
    };
    let mut fields = Fields::default();
    fields.put_some("session", from.session.as_ref())?;
    fields.put("a", &earlier)?;
    fields.put_some("b", to.at.as_ref())?;
    fields.put_some("other", to.session.as_ref())?;
    let reply = caller.reply("diff_session", fields)?;
    let text = session::changes(&read(&reply.json)?);
    caller.print(reply, Rendered::good(text))
}

/// One side of a diff. The defaults are the current session and the current time.
#[derive(Debug, Default, PartialEq, Eq)]
struct DiffSide {
    session: Option<SessionId>,
    at: Option<AsOf>,
}

/// Parses a side. An id contains no `@` or colon. An id of digits alone must be written as `ID@WHEN`, or passed
/// to `lore session diff`.
fn side(text: &str) -> Result<DiffSide, Failure> {
    if let Some((session, at)) = text.split_once('@') {
        return Ok(DiffSide {
            session: Some(id(session)?),
            at: Some(moment("WHEN", at)?),
        });
    }
    let is_moment = text.contains(':') || text.bytes().all(|byte| byte.is_ascii_digit());
    Ok(match is_moment {
        true => DiffSide {
            session: None,
            at: Some(moment("WHEN", text)?),
        },
        false => DiffSide {
            session: Some(id(text)?),
            at: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Option<String>, Option<String>)> {
        let side = side(text).ok()?;
        let session = side.session.map(|session| session.to_string());
        Some((session, side.at.map(|at| at.to_string())))
    }

    #[test]
    fn positions_times_and_ids_are_distinguished() {
        let expected = |session: Option<&str>, at: Option<&str>| {
            Some((session.map(str::to_owned), at.map(str::to_owned)))
        };
        assert_eq!(read("12"), expected(None, Some("12")));
        let time = "2026-01-31T12:00:00Z";
        assert_eq!(read(time), expected(None, Some(time)));
        assert_eq!(read("s-12"), expected(Some("s-12"), None));
        assert_eq!(read("2026-01-31"), expected(Some("2026-01-31"), None));
        assert_eq!(read("12@13"), expected(Some("12"), Some("13")));
        assert_eq!(
            read(&format!("s1@{time}")),
            expected(Some("s1"), Some(time))
        );
        for wrong in [
            "",
            "s 1",
            "s1@",
            "s1@s2",
            "@12",
            "12:00",
            "99999999999999999999",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
