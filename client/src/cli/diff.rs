//! `lore diff`: the short form of `lore session diff`.

use lore::protocol::{AsOf, Position, SessionId};

use super::exchange::{id, moment_of};
use super::output::shown;
use super::{Caller, End, Failure, session};

/// Tell what changed between two moments, or two sessions
///
/// Each side is a moment (a position, which is digits alone, or an RFC 3339 time), a session by its
/// id, which stands for what it is now, or both as ID@WHEN. Moments without a session are of the
/// first side's session, otherwise of the current one.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// The earlier side: WHEN, ID or ID@WHEN
    from: String,
    /// The later side; otherwise the same session, now
    to: Option<String>,
}

impl Diff {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let from = side(&self.from)?;
        let to = self.to.as_deref().map(side).transpose()?;
        let to = to.unwrap_or_default();
        let moment = match (from.at, &from.session, &to.session) {
            (Some(moment), _, _) => moment,
            // Two sessions as they are now.
            (None, _, Some(_)) => {
                let newest = caller.client.connection()?.welcome().position;
                AsOf::Position(Position(newest))
            }
            (None, _, None) => {
                let from = shown(&self.from, 140);
                return Err(Failure::Usage(format!(
                    "{from} is a session: from which moment of it? Say {from}@POSITION, or name \
                     the session to compare it with"
                )));
            }
        };
        session::compare(caller, from.session, moment, to.session, to.at)
    }
}

/// One side: nothing named stands for the current session, and for now.
#[derive(Debug, Default, PartialEq, Eq)]
struct Side {
    session: Option<SessionId>,
    at: Option<AsOf>,
}

/// Reads a side. No id has an `@` or a colon; an id of digits alone has to be said as `ID@WHEN`, or
/// to `lore session diff`.
fn side(text: &str) -> Result<Side, Failure> {
    let moment = |text| moment_of("WHEN", Some(text));
    if let Some((session, at)) = text.split_once('@') {
        return Ok(Side {
            session: Some(id(session)?),
            at: moment(at)?,
        });
    }
    let is_moment = text.contains(':') || text.bytes().all(|byte| byte.is_ascii_digit());
    Ok(match is_moment {
        true => Side {
            session: None,
            at: moment(text)?,
        },
        false => Side {
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
    fn positions_times_and_ids_are_told_apart() {
        let said = |session: Option<&str>, at: Option<&str>| {
            Some((session.map(str::to_owned), at.map(str::to_owned)))
        };
        assert_eq!(read("12"), said(None, Some("12")));
        let time = "2026-01-31T12:00:00Z";
        assert_eq!(read(time), said(None, Some(time)));
        assert_eq!(read("s-12"), said(Some("s-12"), None));
        assert_eq!(read("2026-01-31"), said(Some("2026-01-31"), None));
        assert_eq!(read("12@13"), said(Some("12"), Some("13")));
        assert_eq!(read(&format!("s1@{time}")), said(Some("s1"), Some(time)));
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
