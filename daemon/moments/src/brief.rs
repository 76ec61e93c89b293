//! The brief at the start of a session: what the project's notes say in short, which rules stand, what the last sessions were asked,
//! did and left open, and who else works here.
//!
//! Sessions are chosen by what they have in common with the branch, the files and the topic of the work, and only then by age.

use std::fmt::Write;

use crate::budget::{PieceRanges, TokenCount, cut, fit, one_line};
use crate::text::beginning;
use crate::text::paths;
use crate::text::words::{Term, terms};

/// Entries of each list that are read.
const ENTRIES_MAX: usize = 200;

/// Sessions that are described.
const SESSIONS_MAX: usize = 5;

/// Tokens of a note, of a rule, and of each part of a session.
const NOTE_TOKENS: usize = 120;
const RULE_TOKENS: usize = 60;
const PART_TOKENS: usize = 60;

/// A part of the brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BriefSection {
    /// The project's notes.
    Notes,
    /// Standing rules, decisions and preferences.
    Rules,
    /// Earlier sessions.
    Sessions,
    /// Others at work.
    Others,
}

impl BriefSection {
    const ALL: [Self; 4] = [Self::Notes, Self::Rules, Self::Sessions, Self::Others];

    const fn tokens(self) -> usize {
        match self {
            Self::Notes => 550,
            Self::Rules => 500,
            Self::Sessions => 780,
            Self::Others => 150,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Notes => "The project's notes say:",
            Self::Rules => "Standing decisions and rules, with where they come from:",
            Self::Sessions => "Earlier sessions here, newest first:",
            Self::Others => "At work here now:",
        }
    }
}

/// A note of the project, or a section of one.
#[derive(Clone, Copy, Debug)]
pub struct NoteEntry<'a> {
    /// Its heading; may be empty.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// An earlier session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionEntry<'a> {
    /// The agent or host.
    pub agent: &'a str,
    /// The day of its last event, such as `2026-11-20`.
    pub day: &'a str,
    /// Days since its last event.
    pub age_days: f32,
    /// Its branch; may be empty.
    pub branch: &'a str,
    /// What it was asked, in the order of the prompts.
    pub asked: &'a [&'a str],
    /// What it did: commits, commands, files; the most important first.
    pub did: &'a [&'a str],
    /// What it left open: items of its plan, failures; the most important first.
    pub left_open: &'a [&'a str],
    /// Files that it edited.
    pub files: &'a [&'a str],
}

/// What is known of the work that starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct BriefInput<'a> {
    /// The branch; may be empty.
    pub branch: &'a str,
    /// Files that are changed in the working tree.
    pub files: &'a [&'a str],
    /// What the work is about, as far as known: the first prompt, or the task of a handoff. May be empty.
    pub topic: &'a str,
    /// Notes.
    pub notes: &'a [NoteEntry<'a>],
    /// Lines of standing rules, the most important first: see [`item_line`](crate::item_line).
    pub rules: &'a [&'a str],
    /// Earlier sessions of the project, in any order.
    pub sessions: &'a [SessionEntry<'a>],
    /// Lines about others at work: see [`other_line`](crate::other_line).
    pub others: &'a [&'a str],
}

/// A brief with what it consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// The text; empty if there is nothing to say.
    pub text: String,
    /// For each entry in it, its section and its place in the input.
    pub pieces: Vec<(BriefSection, usize)>,
    /// The same in the order of the text, each with its range of bytes in the text.
    pub ranges: PieceRanges<BriefSection>,
    /// The entries for which there was no space, the most important first.
    pub left_out: Vec<(BriefSection, usize)>,
}

struct Piece {
    section: BriefSection,
    index: usize,
    text: String,
    /// Place in the section's text.
    order: usize,
}

/// Returns the brief within a budget of tokens.
#[must_use]
pub fn brief(input: &BriefInput, budget: usize, count: TokenCount) -> Brief {
    let topic = topic(input);
    let mut sections: [Vec<Piece>; 4] = [
        notes(input, &topic, count),
        lines(BriefSection::Rules, input.rules, count),
        sessions(input, &topic, count),
        lines(BriefSection::Others, input.others, count),
    ];
    let mut ranked: Vec<(Piece, usize)> = Vec::new();
    let mut spent = [0_usize; 4];
    // Half of each section first, then all of it with what others leave over, then the rest.
    for round in 0..3 {
        let mut left_over = 0_usize;
        for ((section, waiting), spent) in BriefSection::ALL
            .into_iter()
            .zip(&mut sections)
            .zip(&mut spent)
        {
            let limit = match round {
                0 => section.tokens() / 2,
                1 => section.tokens() + left_over,
                _ => usize::MAX,
            };
            while let Some(first) = waiting.first() {
                let title = if *spent == 0 {
                    count(section.title()) + 2
                } else {
                    0
                };
                let cost = count(&first.text) + 1 + title;
                if spent.saturating_add(cost) > limit {
                    break;
                }
                *spent += cost;
                ranked.push((waiting.remove(0), cost));
            }
            left_over = if round == 1 {
                limit.saturating_sub(*spent)
            } else {
                0
            };
        }
    }
    let costs: Vec<usize> = ranked.iter().map(|(_, cost)| *cost).collect();
    let ranked: Vec<Piece> = ranked.into_iter().map(|(piece, _)| piece).collect();
    let taken = fit(count, budget, &costs, &|taken| {
        render(ranked.get(..taken).unwrap_or_default()).0
    });
    let (held, rest) = ranked.split_at_checked(taken).unwrap_or_default();
    let mut pieces: Vec<(BriefSection, usize)> = held
        .iter()
        .map(|piece| (piece.section, piece.index))
        .collect();
    pieces.sort_unstable();
    pieces.dedup();
    let (text, ranges) = render(held);
    Brief {
        text,
        pieces,
        ranges,
        left_out: rest
            .iter()
            .map(|piece| (piece.section, piece.index))
            .collect(),
    }
}

/// Returns the text, and what its parts consist of.
fn render(pieces: &[Piece]) -> (String, PieceRanges<BriefSection>) {
    let (mut text, mut ranges) = (String::new(), Vec::new());
    for section in BriefSection::ALL {
        let mut of_section: Vec<&Piece> = pieces
            .iter()
            .filter(|piece| piece.section == section)
            .collect();
        of_section.sort_by_key(|piece| piece.order);
        for (at, piece) in of_section.iter().enumerate() {
            if !text.is_empty() {
                text.push('\n');
            }
            if at == 0 {
                text.push_str(section.title());
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&piece.text);
            ranges.push(((piece.section, piece.index), start..text.len()));
        }
    }
    (text, ranges)
}

/// Returns the words that say what the work is about: of the topic, of the branch, and of the names of changed files.
fn topic(input: &BriefInput) -> Vec<Term> {
    let mut text = beginning(input.topic, 4_000).to_owned();
    if !is_trunk(input.branch) {
        let _ = write!(
            text,
            "\n{}",
            beginning(input.branch, 200).replace(['/', '-', '_'], " ")
        );
    }
    for file in input.files.iter().take(24) {
        let _ = write!(text, "\n{}", beginning(paths::file_name(file), 100));
    }
    terms(&text)
}

fn is_trunk(branch: &str) -> bool {
    matches!(
        branch,
        "" | "main" | "master" | "trunk" | "develop" | "HEAD"
    )
}

/// Returns the share of the topic's weight that a text has.
fn relevance(topic: &[Term], text: &str) -> f32 {
    let all: f32 = topic.iter().map(|term| term.rarity).sum();
    if all <= 0.0 {
        return 0.0;
    }
    let own = terms(beginning(text, 4_000));
    let hits: f32 = topic
        .iter()
        .filter_map(|term| {
            crate::items::best_match(term, &own).map(|quality| term.rarity * quality.worth())
        })
        .sum();
    hits / all
}

fn notes(input: &BriefInput, topic: &[Term], count: TokenCount) -> Vec<Piece> {
    let mut ranked: Vec<(f32, usize, &NoteEntry)> = input
        .notes
        .iter()
        .enumerate()
        .take(ENTRIES_MAX)
        // Without a topic the first notes come first: they introduce the project.
        .map(|(index, note)| {
            (
                relevance(topic, note.title)
                    + relevance(topic, note.text)
                    + 0.4 / (index as f32 + 1.0),
                index,
                note,
            )
        })
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let pieces = ranked.into_iter().filter_map(|(_, index, note)| {
        let (title, text) = (
            one_line(beginning(note.title, 200)),
            one_line(beginning(note.text, 2_000)),
        );
        let line = if title.is_empty() {
            format!("- {text}")
        } else {
            format!("- {title}: {text}")
        };
        let text = cut(&line, NOTE_TOKENS, count);
        (text.len() > 2).then_some(Piece {
            section: BriefSection::Notes,
            index,
            text,
            order: index,
        })
    });
    pieces.collect()
}

fn lines(section: BriefSection, lines: &[&str], count: TokenCount) -> Vec<Piece> {
    let pieces = lines
        .iter()
        .enumerate()
        .take(ENTRIES_MAX)
        .map(|(index, line)| Piece {
            section,
            index,
            text: cut(&one_line(beginning(line, 2_000)), RULE_TOKENS, count),
            order: index,
        });
    pieces.filter(|piece| !piece.text.is_empty()).collect()
}

/// Returns what a session has to do with the work that starts.
fn session_score(session: &SessionEntry, input: &BriefInput, topic: &[Term]) -> f32 {
    let same_branch = !session.branch.is_empty() && session.branch == input.branch;
    let branch = match (same_branch, is_trunk(input.branch)) {
        (true, false) => 2.0,
        (true, true) => 0.3,
        (false, _) => 0.0,
    };
    let files = input.files.iter().take(64).filter(|file| {
        session
            .files
            .iter()
            .take(64)
            .any(|its| paths::is_same(its, file))
    });
    let files = files.count() as f32 / input.files.len().clamp(1, 8) as f32;
    let said = session
        .asked
        .iter()
        .chain(session.left_open)
        .take(40)
        .copied()
        .collect::<Vec<_>>()
        .join("\n");
    let age = if session.age_days.is_finite() {
        session.age_days.max(0.0)
    } else {
        365.0
    };
    let open = if session.left_open.is_empty() {
        0.0
    } else {
        0.3
    };
    branch + 1.5 * files.min(1.0) + 2.0 * relevance(topic, &said) + open + 1.2 / (1.0 + age / 4.0)
}

fn sessions(input: &BriefInput, topic: &[Term], count: TokenCount) -> Vec<Piece> {
    let mut ranked: Vec<(f32, usize, &SessionEntry)> = input
        .sessions
        .iter()
        .enumerate()
        .take(ENTRIES_MAX)
        .filter(|(_, session)| {
            session.asked.iter().any(|text| !text.trim().is_empty())
                || !session.left_open.is_empty()
        })
        .map(|(index, session)| (session_score(session, input, topic), index, session))
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    ranked.truncate(SESSIONS_MAX);
    let mut newest: Vec<usize> = (0..ranked.len()).collect();
    let age = |at: &usize| {
        ranked
            .get(*at)
            .map_or(f32::MAX, |(_, _, session)| session.age_days)
    };
    newest.sort_by(|one, other| age(one).total_cmp(&age(other)));
    let mut pieces = Vec::new();
    for (rank, (_, index, session)) in ranked.iter().enumerate() {
        let order = newest.iter().position(|at| *at == rank).unwrap_or(rank);
        pieces.push(Piece {
            section: BriefSection::Sessions,
            index: *index,
            text: describe(session, count),
            order,
        });
    }
    pieces
}

fn describe(session: &SessionEntry, count: TokenCount) -> String {
    let mut text = format!("- {}", one_line(beginning(session.day, 40)));
    for (before, part) in [(", ", session.agent), (", on ", session.branch)] {
        if !part.is_empty() {
            let _ = write!(text, "{before}{}", one_line(beginning(part, 100)));
        }
    }
    // The first request says what it was about, the last where it stood.
    let mut asked: Vec<&str> = session
        .asked
        .iter()
        .filter(|text| text.split_whitespace().count() > 2)
        .copied()
        .collect();
    if asked.is_empty() {
        asked = session.asked.to_vec();
    }
    let first = asked.first().copied();
    let last = asked.last().copied().filter(|_| asked.len() > 1);
    let asked = [first, last]
        .into_iter()
        .flatten()
        .map(|text| cut(&one_line(beginning(text, 2_000)), PART_TOKENS, count))
        .collect::<Vec<_>>();
    let did = session
        .did
        .iter()
        .take(8)
        .map(|text| one_line(beginning(text, 300)))
        .collect::<Vec<_>>();
    let open = session
        .left_open
        .iter()
        .take(8)
        .map(|text| one_line(beginning(text, 300)))
        .collect::<Vec<_>>();
    for (name, join, parts) in [
        ("asked", " … ", asked),
        ("did", "; ", did),
        ("left open", "; ", open),
    ] {
        let joined = cut(
            &parts.join(join),
            PART_TOKENS * if name == "asked" { 2 } else { 1 },
            count,
        );
        if !joined.is_empty() {
            let _ = write!(text, "\n  {name}: {joined}");
        }
    }
    text
}
