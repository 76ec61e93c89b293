//! The wording of what is said: the decision itself in the line, with where it comes from, as information and not as an order.

use std::fmt::Write;
use std::ops::Range;

use crate::budget::{TokenCount, cut, fit, one_line};
use crate::durable::DurableKind;
use crate::failures::{Action, Confidence, RepairMatch};
use crate::items::ItemSource;
use crate::text::beginning;

/// Tokens of one line. It does not depend on the budget of the whole, so that a larger budget never holds less.
const LINE_TOKENS: usize = 110;

/// Bytes of a text that are read for a line.
const LINE_BYTES_MAX: usize = 2_000;

/// Bytes of another version that are quoted.
const VERSION_BYTES_MAX: usize = 200;

/// Tokens for what others did, at a prompt.
pub const OTHERS_TOKENS: usize = 150;

/// Where a recorded text comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// The agent or host, such as `codex`; may be empty.
    pub agent: &'a str,
    /// The day, such as `2026-11-20`; may be empty.
    pub day: &'a str,
    /// The message or step, such as `message 12`; may be empty.
    pub place: &'a str,
}

impl Provenance<'_> {
    fn render(&self, by: &str) -> String {
        let mut text = by.to_owned();
        if !self.agent.is_empty() {
            let _ = write!(
                text,
                "{}{}",
                if text.is_empty() { "" } else { " in " },
                one_line(beginning(self.agent, 60))
            );
        }
        for part in [self.day, self.place] {
            if !part.is_empty() {
                let _ = write!(
                    text,
                    "{}{}",
                    if text.is_empty() { "" } else { ", " },
                    one_line(beginning(part, 60))
                );
            }
        }
        text
    }
}

/// Whether what a text says of files still stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It does.
    Fresh,
    /// A line changed since; with what stands there now, if it is short.
    Changed(Option<String>),
    /// A file is gone.
    Gone,
}

/// What else was said of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherVersion<'a> {
    /// An earlier statement that it replaced.
    Replaced {
        /// What it said.
        text: &'a str,
        /// Its day.
        day: &'a str,
    },
    /// A statement of someone else that contradicts it, and neither is settled.
    Disputed {
        /// What it says.
        text: &'a str,
        /// Who said it.
        by: &'a str,
        /// Its day.
        day: &'a str,
    },
}

impl OtherVersion<'_> {
    fn render(self) -> String {
        let said = |text: &str| one_line(beginning(text, VERSION_BYTES_MAX));
        match self {
            Self::Replaced { text, day } => format!("; replaces \"{}\" of {day}", said(text)),
            Self::Disputed { text, by, day } => {
                format!("; not settled: {by} said \"{}\" on {day}", said(text))
            }
        }
    }
}

/// Returns the line of an item. What tools returned is quoted.
///
/// ```
/// use lored_moments::{DurableKind, ItemSource, Provenance, item_line};
///
/// let provenance = Provenance { agent: "codex", day: "2026-11-20", place: "message 12" };
/// let line = item_line("Prices are stored as cents.", DurableKind::Decision, ItemSource::User, &provenance, (None, None));
/// assert_eq!(line, "- Prices are stored as cents. (decision of the user in codex, 2026-11-20, message 12)");
/// ```
#[must_use]
pub fn item_line(
    text: &str,
    kind: DurableKind,
    source: ItemSource,
    provenance: &Provenance,
    (freshness, other): (Option<Freshness>, Option<OtherVersion<'_>>),
) -> String {
    let text = one_line(beginning(text, LINE_BYTES_MAX));
    let by = match source {
        ItemSource::User => "of the user",
        ItemSource::Note => "in the project's notes",
        ItemSource::Agent => "of an agent",
        ItemSource::Tool => "returned by a tool",
    };
    let kind = match kind {
        DurableKind::Remember => "to be remembered, word",
        DurableKind::Choice => "choice",
        _ => kind.name(),
    };
    let state = match freshness {
        None | Some(Freshness::Fresh) => String::new(),
        Some(Freshness::Changed(None)) => "; the cited lines changed since".to_owned(),
        Some(Freshness::Changed(Some(now))) => {
            let now = one_line(beginning(&now, 160));
            format!("; changed since, the file now has `{now}`")
        }
        Some(Freshness::Gone) => "; the cited file is gone".to_owned(),
    };
    let text = if source == ItemSource::Tool {
        format!("\"{text}\"")
    } else {
        text
    };
    let other = other.map(OtherVersion::render).unwrap_or_default();
    format!("- {text} ({kind} {}{state}{other})", provenance.render(by))
}

/// Returns the line of what mended the same failure.
#[must_use]
pub fn repair_line(found: &RepairMatch, provenance: &Provenance) -> String {
    let mut text = String::from(match found.confidence {
        Confidence::Similar => "- A similar failure was followed by success after ",
        Confidence::Unconfirmed | Confidence::Confirmed => {
            "- The same failure was followed by success after "
        }
    });
    for (at, action) in found.actions.iter().enumerate() {
        let join = if at == 0 { "" } else { ", and " };
        let _ = match action {
            Action::Command { line } => write!(text, "{join}`{}`", one_line(beginning(line, 300))),
            Action::Rerun { line } => write!(
                text,
                "{join}running it as `{}`",
                one_line(beginning(line, 300))
            ),
            Action::Edit { path, text: new } if new.is_empty() => {
                write!(text, "{join}an edit of {}", one_line(beginning(path, 200)))
            }
            Action::Edit { path, text: new } => {
                write!(
                    text,
                    "{join}an edit of {}: `{}`",
                    one_line(beginning(path, 200)),
                    one_line(beginning(new, 160))
                )
            }
        };
    }
    let seen = match found.confidence {
        Confidence::Similar => "seen once, names differ".to_owned(),
        Confidence::Unconfirmed => "seen once, unconfirmed".to_owned(),
        Confidence::Confirmed => format!("helped {} times", found.times),
    };
    let from = provenance.render("");
    let _ = write!(
        text,
        " ({seen}{}{from})",
        if from.is_empty() { "" } else { "; " }
    );
    text
}

/// Returns the line about another session that works on the same files.
#[must_use]
pub fn other_line(agent: &str, since: &str, files: &[&str], task: &str) -> String {
    let mut text = format!(
        "- {}",
        if agent.is_empty() {
            "Another session"
        } else {
            agent
        }
    );
    let named: Vec<String> = files
        .iter()
        .take(4)
        .map(|file| one_line(beginning(file, 200)))
        .collect();
    let _ = write!(
        text,
        " works on {}",
        if named.is_empty() {
            "this project".to_owned()
        } else {
            named.join(", ")
        }
    );
    if files.len() > named.len() {
        let _ = write!(text, " and {} more", files.len() - named.len());
    }
    if !since.is_empty() {
        let _ = write!(text, " since {}", one_line(beginning(since, 60)));
    }
    let task = one_line(beginning(task, 200));
    if !task.is_empty() {
        let _ = write!(text, ": {task}");
    }
    one_line(&text)
}

/// Returns the line about a file that another session changed. `when` is such as `3 min ago`.
///
/// ```
/// use lored_moments::changed_line;
///
/// let line = changed_line("codex", "3 min ago", "src/cart.rs", "Round the prices");
/// assert_eq!(line, "- codex changed src/cart.rs, 3 min ago: Round the prices");
/// ```
#[must_use]
pub fn changed_line(agent: &str, when: &str, file: &str, task: &str) -> String {
    let agent = if agent.is_empty() {
        "Another session"
    } else {
        agent
    };
    let file = one_line(beginning(file, 200));
    let mut text = format!("- {agent} changed {file}");
    for (before, part) in [(", ", when), (": ", task)] {
        let part = one_line(beginning(part, 200));
        if !part.is_empty() {
            let _ = write!(text, "{before}{part}");
        }
    }
    one_line(&text)
}

/// What lines are said about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// A prompt.
    Prompt,
    /// An edit.
    Edit,
    /// A failure.
    Failure,
    /// A task of a subagent.
    Task,
}

impl Heading {
    const fn text(self) -> &'static str {
        match self {
            Self::Prompt => "From this project's memory, for information:",
            Self::Edit => "Recorded about this file, for information:",
            Self::Failure => "Recorded about this failure, for information:",
            Self::Task => "From this project's memory, for this task:",
        }
    }
}

/// A text and how many of the lines are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposedLines {
    /// The text; empty if no line fits.
    pub text: String,
    /// Number of lines, the first ones, that are in it.
    pub lines: usize,
    /// Number of lines about others, the first ones, that are in it.
    pub others: usize,
    /// The ranges of these lines in the text, in bytes: of the lines, then of those about others.
    pub ranges: Vec<Range<usize>>,
}

/// Composes lines, the most important first, and after them at most 150 tokens of lines about others, within a budget.
#[must_use]
pub fn compose_lines(
    heading: Heading,
    lines: &[String],
    others: &[String],
    budget: usize,
    count: TokenCount,
) -> ComposedLines {
    let shorten = |line: &String| cut(line, LINE_TOKENS, count);
    let own: Vec<String> = lines
        .iter()
        .map(shorten)
        .take_while(|line| !line.is_empty())
        .collect();
    let mut spent = 0;
    let theirs: Vec<String> = others
        .iter()
        .map(shorten)
        .take_while(|line| {
            spent += count(line) + 1;
            !line.is_empty() && spent <= OTHERS_TOKENS
        })
        .collect();
    let all: Vec<&String> = own.iter().chain(&theirs).collect();
    let heading = heading.text();
    let costs: Vec<usize> = all
        .iter()
        .enumerate()
        .map(|(at, line)| count(line) + 1 + if at == 0 { count(heading) + 1 } else { 0 })
        .collect();
    let render = |taken: usize| {
        let mut text = if taken > 0 {
            heading.to_owned()
        } else {
            String::new()
        };
        for line in all.iter().take(taken) {
            text.push('\n');
            text.push_str(line);
        }
        text
    };
    let taken = fit(count, budget, &costs, &render);
    let mut end = heading.len();
    let ranges = all.iter().take(taken).map(|line| {
        let start = end + 1;
        end = start + line.len();
        start..end
    });
    ComposedLines {
        ranges: ranges.collect(),
        text: render(taken),
        lines: taken.min(own.len()),
        others: taken.saturating_sub(own.len()),
    }
}
