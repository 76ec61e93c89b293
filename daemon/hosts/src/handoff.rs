//! The line by which work that is handed over is recognised, in whatever way it reaches the prompt of another agent.

use crate::own_text::OwnMarks;

/// What the line begins with, and what stands between the session and the position. They never change: texts are kept.
const BEGIN: &str = "Handed over from session ";
const AT: &str = " at position ";
/// Longest id of a session, in bytes.
const SESSION_BYTES_MAX: usize = 128;

/// A point of a session from which another one continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// The session's id in the log.
    pub session: String,
    /// The position up to which it was handed over.
    pub position: u64,
}

impl Handoff {
    /// Returns the first line of a text that hands work over.
    ///
    /// ```
    /// use lored_hosts::{Handoff, OWN_MARKS};
    ///
    /// let handoff = Handoff { session: "s-1".to_owned(), position: 40 };
    /// let prompt = format!("{}\nGo on.", OWN_MARKS.wrap(&handoff.line()));
    /// assert_eq!(Handoff::in_prompt(&prompt, &OWN_MARKS), Some(handoff));
    /// ```
    #[must_use]
    pub fn line(&self) -> String {
        format!("{BEGIN}{}{AT}{}.", self.session, self.position)
    }

    /// Finds the last handoff in a prompt: the first line of a text between our marks.
    #[must_use]
    pub fn in_prompt(prompt: &str, marks: &OwnMarks<'_>) -> Option<Self> {
        let own = prompt.split(marks.begin).skip(1);
        let lines = own.filter_map(|text| text.trim_start().lines().next());
        lines.filter_map(Self::of_line).last()
    }

    fn of_line(line: &str) -> Option<Self> {
        let rest = line.trim_end().strip_prefix(BEGIN)?;
        let (session, position) = rest.split_once(AT)?;
        let is_id = !session.is_empty()
            && session.len() <= SESSION_BYTES_MAX
            && session.bytes().all(|byte| byte.is_ascii_graphic());
        let position = position.strip_suffix('.')?.parse().ok()?;
        is_id.then(|| Self {
            session: session.to_owned(),
            position,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OWN_MARKS;

    #[test]
    fn only_the_first_line_of_our_own_text_hands_over() {
        let handoff = Handoff {
            session: "s-1".to_owned(),
            position: 7,
        };
        let line = handoff.line();
        assert_eq!(Handoff::in_prompt(&line, &OWN_MARKS), None);
        let quoted = OWN_MARKS.wrap(&format!("What was said:\n{line}"));
        assert_eq!(Handoff::in_prompt(&quoted, &OWN_MARKS), None);
        let own = OWN_MARKS.wrap(&format!("{line}\nMore."));
        let found = Handoff::in_prompt(&format!("first {own} then"), &OWN_MARKS);
        assert_eq!(found, Some(handoff));
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "Handed over from session  at position 7.",
            "Handed over from session a b at position 7.",
            "Handed over from session s-1 at position x.",
            "Handed over from session s-1 at position 7",
            "Handed over from session s-1",
        ] {
            let prompt = OWN_MARKS.wrap(line);
            assert_eq!(Handoff::in_prompt(&prompt, &OWN_MARKS), None, "{line}");
        }
    }
}
