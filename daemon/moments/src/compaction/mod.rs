//! Work in flight: what a session loses when its conversation is compacted, rebuilt from the log.
//!
//! Sections in a fixed order, each with a budget; what a section leaves over goes to the next one. Budgets come from recorded
//! sessions: half of all last requests have 22 tokens, one in ten has more than 1 600.

mod pieces;

use crate::budget::{PieceRanges, TokenCount, fit, one_line};
use crate::durable::Speaker;

/// Tokens of the whole that the table of sections adds up to.
pub const TOKENS: usize = 2_000;

/// Entries of a list that are read, the newest.
const ENTRIES_MAX: usize = 200;

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// The last request, to the word.
    Request,
    /// The plan in its last state.
    Plan,
    /// Earlier prompts.
    Prompts,
    /// Decisions and choices.
    Decisions,
    /// Files edited and read.
    Files,
    /// Commands that change or test, with their exit status.
    Commands,
    /// The last failure that is not resolved.
    Failure,
    /// Values in use.
    Values,
}

impl Section {
    const ALL: [Self; 8] = [
        Self::Request,
        Self::Plan,
        Self::Prompts,
        Self::Decisions,
        Self::Files,
        Self::Commands,
        Self::Failure,
        Self::Values,
    ];

    /// Returns the budget in tokens.
    const fn tokens(self) -> usize {
        match self {
            Self::Request => 700,
            Self::Plan => 250,
            Self::Prompts | Self::Decisions => 300,
            Self::Files | Self::Commands | Self::Failure => 150,
            Self::Values => 0,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Request => "The user's last request, to the word:",
            Self::Plan => "Plan, in its last state:",
            Self::Prompts => "Earlier requests, newest first:",
            Self::Decisions => "Decided in this session:",
            Self::Files => "Files, last used first:",
            Self::Commands => "Last commands, newest first:",
            Self::Failure => "Last failure, not resolved:",
            Self::Values => "Values in use:",
        }
    }
}

/// An item of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanEntry<'a> {
    /// Its state in the host's word; may be empty.
    pub state: &'a str,
    /// What is to be done.
    pub text: &'a str,
}

/// A decision of the session.
#[derive(Clone, Copy, Debug)]
pub struct DecisionEntry<'a> {
    /// The sentence.
    pub text: &'a str,
    /// Who said it.
    pub speaker: Speaker,
}

/// A file that the session used.
#[derive(Clone, Copy, Debug)]
pub struct FileEntry<'a> {
    /// Its path.
    pub path: &'a str,
    /// Times that it was edited or written.
    pub edits: u32,
    /// Times that it was read.
    pub reads: u32,
}

/// A command that the session ran.
#[derive(Clone, Copy, Debug)]
pub struct CommandEntry<'a> {
    /// Its line.
    pub line: &'a str,
    /// Its exit status, if known.
    pub exit_status: Option<i64>,
    /// Whether it failed.
    pub is_failure: bool,
    /// Its output; needed only if it failed.
    pub output: &'a str,
}

/// What is known of a session at its compaction. All lists are in the order in which things happened; files in the order of
/// their last use.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkInFlight<'a> {
    /// The user's prompts.
    pub prompts: &'a [&'a str],
    /// The plan.
    pub plan: &'a [PlanEntry<'a>],
    /// A plan that is prose.
    pub plan_text: &'a str,
    /// Decisions, choices, rules and corrections.
    pub decisions: &'a [DecisionEntry<'a>],
    /// Files.
    pub files: &'a [FileEntry<'a>],
    /// Commands.
    pub commands: &'a [CommandEntry<'a>],
    /// Names and values in use.
    pub values: &'a [(&'a str, &'a str)],
}

/// A text with what it consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    /// The text; empty if there is nothing to say.
    pub text: String,
    /// For each piece of it, its section and its place in that section's list. The plan that is prose has the place 0, the failure
    /// that of its command.
    pub pieces: Vec<(Section, usize)>,
    /// The same in the order of the text, each with its range of bytes in the text.
    pub ranges: PieceRanges<Section>,
    /// The pieces for which there was no space, the most important first.
    pub left_out: Vec<(Section, usize)>,
}

/// One piece of a section.
struct Piece {
    section: Section,
    /// Place in the input.
    index: usize,
    text: String,
    /// Place in the section's text.
    order: usize,
    /// Whether it is taken only if everything else fits.
    is_extra: bool,
    /// Whether it continues the piece before it, without a line end.
    continues: bool,
}

/// Returns the work in flight within a budget of tokens.
#[must_use]
pub fn work_in_flight(work: &WorkInFlight, budget: usize, count: TokenCount) -> Composed {
    let mut pieces = Vec::new();
    pieces::requests(work, count, &mut pieces);
    pieces::plan(work, &mut pieces);
    pieces::decisions(work, &mut pieces);
    pieces::files(work, &mut pieces);
    pieces::commands_run(work, &mut pieces);
    pieces::failure(work, &mut pieces);
    let values = work.values.iter().enumerate().rev().take(ENTRIES_MAX);
    pieces.extend(values.map(|(index, (name, value))| {
        pieces::line(
            Section::Values,
            index,
            format!("- {}: {}", one_line(name), one_line(value)),
        )
    }));
    for (order, piece) in pieces.iter_mut().enumerate() {
        if piece.section != Section::Request {
            piece.order = order;
        }
    }
    let ranked = rank(pieces, count);
    let costs: Vec<usize> = ranked.iter().map(|(_, cost)| *cost).collect();
    let ranked: Vec<Piece> = ranked.into_iter().map(|(piece, _)| piece).collect();
    let taken = fit(count, budget, &costs, &|taken| {
        render(ranked.get(..taken).unwrap_or_default()).0
    });
    let (held, rest) = ranked.split_at_checked(taken).unwrap_or_default();
    let mut of_input: Vec<(Section, usize)> = held
        .iter()
        .map(|piece| (piece.section, piece.index))
        .collect();
    of_input.sort_unstable();
    of_input.dedup();
    let (text, ranges) = render(held);
    Composed {
        text,
        pieces: of_input,
        ranges,
        left_out: rest
            .iter()
            .map(|piece| (piece.section, piece.index))
            .collect(),
    }
}

/// Orders the pieces by importance: first a quarter of each section's budget, then half, then all with what others leave over, then
/// the rest. The order does not depend on the budget of the whole.
fn rank(pieces: Vec<Piece>, count: TokenCount) -> Vec<(Piece, usize)> {
    let mut waiting: Vec<Vec<(Piece, usize)>> = Section::ALL.iter().map(|_| Vec::new()).collect();
    for piece in pieces {
        // The line end is a token at most.
        let cost = count(&piece.text) + 1;
        let of_section = waiting.get_mut(piece.section as usize);
        if let Some(of_section) = of_section {
            let title = if of_section.is_empty() {
                count(piece.section.title()) + 2
            } else {
                0
            };
            of_section.push((piece, cost + title));
        }
    }
    let mut waiting: Vec<_> = waiting
        .into_iter()
        .map(|of_section| of_section.into_iter().peekable())
        .collect();
    let mut spent = [0_usize; Section::ALL.len()];
    let mut ranked = Vec::new();
    for quarters in [1, 2, 4] {
        let mut left_over = 0_usize;
        for (section, of_section) in Section::ALL.into_iter().zip(&mut waiting) {
            let Some(spent) = spent.get_mut(section as usize) else {
                continue;
            };
            let own = section.tokens() * quarters / 4;
            let limit = own + if quarters == 4 { left_over } else { 0 };
            // The first piece of a section is taken even if it is a little long.
            while let Some(next) = of_section.next_if(|(piece, cost)| {
                !piece.is_extra
                    && (*spent + cost <= limit || (*spent == 0 && *cost <= section.tokens()))
            }) {
                *spent += next.1;
                ranked.push(next);
            }
            left_over = limit.saturating_sub(*spent);
        }
    }
    let mut extra = Vec::new();
    for of_section in waiting {
        for next in of_section {
            if next.0.is_extra {
                extra.push(next)
            } else {
                ranked.push(next)
            }
        }
    }
    ranked.extend(extra);
    ranked
}

/// Returns the text, and what its parts consist of.
fn render(pieces: &[Piece]) -> (String, PieceRanges<Section>) {
    let (mut text, mut ranges) = (String::new(), Vec::new());
    for section in Section::ALL {
        let mut of_section: Vec<&Piece> = pieces
            .iter()
            .filter(|piece| piece.section == section)
            .collect();
        if of_section.is_empty() {
            continue;
        }
        of_section.sort_by_key(|piece| piece.order);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(section.title());
        let mut last = None;
        for piece in of_section {
            if !(piece.continues && last == piece.order.checked_sub(1)) {
                text.push_str(if piece.continues { " […] " } else { "\n" });
            }
            let start = text.len();
            text.push_str(&piece.text);
            ranges.push(((piece.section, piece.index), start..text.len()));
            last = Some(piece.order);
        }
    }
    (text, ranges)
}
