//! The pieces of each section, the most important ones first.

use std::fmt::Write;

use super::{ENTRIES_MAX, Piece, Section, WorkInFlight};
use crate::budget::{TokenCount, one_line};
use crate::durable::Speaker;
use crate::failures::{Effect, command, commands, signature};
use crate::text::is_cjk;

/// Bytes of a request that are read.
const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a piece of a request: it is taken in such pieces.
const CHUNK_BYTES: usize = 200;

/// Number of words from which on a request says what the work is about.
const LONG_REQUEST_WORDS: usize = 6;

/// Tokens of an earlier prompt.
const PROMPT_TOKENS: usize = 60;

/// Tokens of the start and of the end of a request that is too long.
const HEAD_TOKENS: usize = 500;
const TAIL_TOKENS: usize = 200;

const FILES_EDITED: usize = 8;
const FILES_READ: usize = 6;
const COMMANDS: usize = 8;
const ERROR_LINES: usize = 5;

/// Returns a piece that is a line of its own.
pub fn line(section: Section, index: usize, text: String) -> Piece {
    Piece {
        section,
        index,
        text,
        order: 0,
        is_extra: false,
        continues: false,
    }
}

/// Returns the words of a prompt; two characters without spaces are one.
fn words(text: &str) -> usize {
    let cjk = text.chars().filter(|c| is_cjk(*c)).count();
    text.split_whitespace().count() + cjk / 2
}

/// Adds the last request to the word, and earlier ones in short.
pub fn requests(work: &WorkInFlight, count: TokenCount, pieces: &mut Vec<Piece>) {
    let mut newest = work
        .prompts
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, text)| !text.trim().is_empty());
    let Some((last, text)) = newest.next() else {
        return;
    };
    let long = if words(text) < LONG_REQUEST_WORDS {
        newest
            .clone()
            .find(|(_, text)| words(text) >= LONG_REQUEST_WORDS)
    } else {
        None
    };
    let mut order = 0;
    request(last, text, count, &mut order, pieces);
    if let Some((index, text)) = long {
        request(index, text, count, &mut order, pieces);
    }
    let taken = long.map(|(index, _)| index);
    for (index, text) in newest
        .filter(|(index, _)| Some(*index) != taken)
        .take(ENTRIES_MAX)
    {
        let shown = crate::budget::cut(
            &one_line(crate::text::beginning(text, 2_000)),
            PROMPT_TOKENS,
            count,
        );
        if !shown.is_empty() {
            pieces.push(line(Section::Prompts, index, format!("- {shown}")));
        }
    }
}

/// Adds a request in pieces: as a whole if it fits its section, else its start and its end first.
fn request(
    index: usize,
    text: &str,
    count: TokenCount,
    order: &mut usize,
    pieces: &mut Vec<Piece>,
) {
    let text = crate::text::beginning(text.trim(), REQUEST_BYTES_MAX);
    let chunks = chunks(text);
    let costs: Vec<usize> = chunks.iter().map(|chunk| count(chunk)).collect();
    let total: usize = costs.iter().sum();
    let (mut head, mut tail) = (chunks.len(), chunks.len());
    if total > HEAD_TOKENS + TAIL_TOKENS {
        let fits = |costs: &mut dyn Iterator<Item = &usize>, limit: usize| {
            let mut sum = 0;
            costs
                .take_while(|cost| {
                    sum += **cost;
                    sum <= limit
                })
                .count()
        };
        head = fits(&mut costs.iter(), HEAD_TOKENS).max(1);
        tail = chunks.len() - fits(&mut costs.iter().rev(), TAIL_TOKENS).min(chunks.len() - head);
    }
    let mut made: Vec<Piece> = chunks
        .iter()
        .enumerate()
        .map(|(at, chunk)| Piece {
            section: Section::Request,
            index,
            text: (*chunk).to_owned(),
            order: *order + at,
            is_extra: at >= head && at < tail,
            continues: at > 0,
        })
        .collect();
    *order += chunks.len();
    made.sort_by_key(|piece| piece.is_extra);
    pieces.extend(made);
}

/// Cuts a text after spaces into pieces of a few dozen tokens.
fn chunks(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while rest.len() > CHUNK_BYTES {
        let start = crate::text::beginning(rest, CHUNK_BYTES);
        // The space begins the next piece, as it begins the next token.
        let end = start
            .rfind(char::is_whitespace)
            .filter(|end| *end > CHUNK_BYTES / 2)
            .unwrap_or(start.len());
        let (chunk, after) = rest.split_at(end);
        found.push(chunk);
        rest = after;
    }
    found.push(rest);
    found
}

/// Adds the plan.
pub fn plan(work: &WorkInFlight, pieces: &mut Vec<Piece>) {
    let is_done = |state: &str| {
        matches!(
            state.to_lowercase().as_str(),
            "completed" | "done" | "complete" | "cancelled" | "finished"
        )
    };
    let items = work
        .plan
        .iter()
        .enumerate()
        .filter(|(_, item)| !item.text.trim().is_empty());
    // What is open first: it is what is lost.
    let (done, open): (Vec<_>, Vec<_>) = items
        .take(ENTRIES_MAX)
        .partition(|(_, item)| is_done(item.state));
    for (index, item) in open.into_iter().chain(done.into_iter().rev()) {
        let state = if item.state.is_empty() {
            String::new()
        } else {
            format!(" ({})", one_line(item.state))
        };
        pieces.push(line(
            Section::Plan,
            index,
            format!("- {}{state}", one_line(item.text)),
        ));
    }
    for (index, text) in work
        .plan_text
        .lines()
        .filter(|text| !text.trim().is_empty())
        .take(ENTRIES_MAX)
        .enumerate()
    {
        let mut piece = line(Section::Plan, 0, text.trim_end().to_owned());
        piece.order = index;
        pieces.push(piece);
    }
}

/// Adds decisions, the user's first.
pub fn decisions(work: &WorkInFlight, pieces: &mut Vec<Piece>) {
    let mut newest: Vec<_> = work
        .decisions
        .iter()
        .enumerate()
        .rev()
        .take(ENTRIES_MAX)
        .collect();
    newest.sort_by_key(|(_, decision)| decision.speaker);
    for (index, decision) in newest {
        let by = match decision.speaker {
            Speaker::User => "user",
            Speaker::Agent => "agent",
        };
        pieces.push(line(
            Section::Decisions,
            index,
            format!("- {} ({by})", one_line(decision.text)),
        ));
    }
}

/// Adds the files that were edited, and those that were read last.
pub fn files(work: &WorkInFlight, pieces: &mut Vec<Piece>) {
    let newest = || work.files.iter().enumerate().rev();
    let edited = newest()
        .filter(|(_, file)| file.edits > 0)
        .take(FILES_EDITED);
    let read = newest()
        .filter(|(_, file)| file.edits == 0 && file.reads > 0)
        .take(FILES_READ);
    for (index, file) in edited {
        pieces.push(line(
            Section::Files,
            index,
            format!("- {} (edited {})", one_line(file.path), times(file.edits)),
        ));
    }
    for (index, file) in read {
        pieces.push(line(
            Section::Files,
            index,
            format!("- {} (read)", one_line(file.path)),
        ));
    }
}

fn times(count: u32) -> String {
    if count == 1 {
        "once".to_owned()
    } else {
        format!("{count} times")
    }
}

/// Adds the last distinct commands that change or test.
pub fn commands_run(work: &WorkInFlight, pieces: &mut Vec<Piece>) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, run) in work.commands.iter().enumerate().rev().take(ENTRIES_MAX) {
        let text = run.line.trim();
        let only_reads = commands(text)
            .iter()
            .all(|command| command.effect() == Effect::Reads);
        if text.is_empty() || only_reads || seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let shown = one_line(crate::text::beginning(text, 300));
        let end = match (run.exit_status, run.is_failure) {
            (Some(status), _) => format!("exit {status}"),
            (None, true) => "failed".to_owned(),
            (None, false) => "ok".to_owned(),
        };
        pieces.push(line(Section::Commands, index, format!("- {shown} → {end}")));
        if seen.len() == COMMANDS {
            break;
        }
    }
}

/// Adds the last failure that no later success of the same command resolved.
pub fn failure(work: &WorkInFlight, pieces: &mut Vec<Piece>) {
    let is_resolved = |at: usize, failed: &str| {
        let failed = command(failed);
        let later = work
            .commands
            .iter()
            .skip(at + 1)
            .filter(|run| !run.is_failure);
        later
            .flat_map(|run| commands(run.line))
            .any(|command| command.covers(&failed))
    };
    let last = work
        .commands
        .iter()
        .enumerate()
        .rev()
        .take(ENTRIES_MAX)
        .find(|(at, run)| run.is_failure && !is_resolved(*at, run.line));
    let Some((index, run)) = last else {
        return;
    };
    pieces.push(line(
        Section::Failure,
        index,
        format!(
            "- {}",
            one_line(crate::text::beginning(run.line.trim(), 300))
        ),
    ));
    let signature = signature(run.output);
    for text in signature.lines.iter().take(ERROR_LINES) {
        pieces.push(line(
            Section::Failure,
            index,
            format!("  {}", one_line(text)),
        ));
    }
    let tried = work.commands.iter().skip(index + 1);
    let mut lines = String::new();
    for run in tried
        .filter(|run| {
            commands(run.line)
                .iter()
                .any(|command| command.effect() == Effect::Changes)
        })
        .take(4)
    {
        let _ = write!(
            lines,
            "{}{}",
            if lines.is_empty() { "" } else { "; " },
            one_line(crate::text::beginning(run.line, 100))
        );
    }
    if !lines.is_empty() {
        pieces.push(line(
            Section::Failure,
            index,
            format!("  tried since: {lines}"),
        ));
    }
}
