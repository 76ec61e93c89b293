//! The words of a window in their order, and the rules that they fulfil.

use memchr::memmem;

use crate::fold::Folded;
use crate::lexicon::{Class, Classes, LEXICON, Lexicon, Phrase};
use crate::phrases::is_word;
use crate::rules::{self, Rule};

/// Words before a word that a step of a rule looks at.
const LOOK_BACK_MAX: usize = 48;

/// Shortest phrase that is taken where words are not apart.
const JOINED_BYTES_MIN: usize = 4;

/// Words before a verb that is no order.
const NO_ORDER: [&[u8]; 11] = [
    b" we ", b" they ", b" i ", b" who ", b" can ", b" will ", b" would ", b" could ", b" does ",
    b" did ", b" users ",
];

/// A phrase at a place of the folded window.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub class: Class,
    pub start: usize,
    pub end: usize,
    pub is_disguised: bool,
}

/// A rule that is fulfilled at a place of the folded window.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub rule: &'static Rule,
    pub start: usize,
    pub end: usize,
    pub is_disguised: bool,
    /// Within markup that people do not see.
    pub is_hidden: bool,
}

/// Finds the phrases of a folded window, ordered by their ends. `is_joined`: words are not apart.
pub fn events(folded: &Folded, is_joined: bool, events: &mut Vec<Event>) {
    events.clear();
    let lexicon: &Lexicon = &LEXICON;
    let bytes = folded.bytes.as_slice();
    let mut add = |phrase: Phrase, start, end| {
        if is_meant(lexicon, phrase, bytes, start, end) {
            events.push(Event {
                class: phrase.class,
                start,
                end,
                is_disguised: phrase.is_disguised || folded.is_disguised(start, end),
            });
        }
    };
    if is_joined {
        lexicon.each(bytes, |phrase, start, end| {
            if end - start >= JOINED_BYTES_MIN {
                add(phrase, start, end);
            }
        });
        return;
    }
    // A phrase does not begin within a word.
    lexicon.each_place(bytes, |start| {
        lexicon.each_at(bytes, start, |phrase, end| {
            if phrase.is_prefix || !ends_within_word(bytes, end) {
                add(phrase, start, end);
            }
        });
    });
    events.sort_by_key(|event| (event.end, event.start));
}

/// Returns whether a phrase says here what it says elsewhere.
fn is_meant(lexicon: &Lexicon, phrase: Phrase, bytes: &[u8], start: usize, end: usize) -> bool {
    let class = phrase.class;
    let is_verb = class == lexicon.ignore || class == lexicon.use_;
    if class == lexicon.discuss && is_in_name(bytes, start, end)
        || class == lexicon.ignore && is_option(bytes, start)
        || is_verb && is_no_order(bytes, start)
    {
        return false;
    }
    bytes.get(start..end) != Some(b"@") || is_in_address(bytes, start)
}

/// Returns whether the characters on both sides of a place belong to one word.
fn ends_within_word(bytes: &[u8], end: usize) -> bool {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|byte| is_word(*byte))
    };
    is_word(end.checked_sub(1)) && is_word(Some(end))
}

/// Returns whether a word is a part of an address or of a file name.
fn is_in_name(bytes: &[u8], start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| matches!(byte, Some(b'-' | b'/' | b'@'));
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    joins(before)
        || before == Some(&b'.')
        || joins(bytes.get(end))
        || bytes.get(end) == Some(&b'.')
            && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns whether a word is the name of an option: `--ignore`.
fn is_option(bytes: &[u8], start: usize) -> bool {
    start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'-')
}

/// Returns whether a verb is no order: `we use`, `can ignore`.
fn is_no_order(bytes: &[u8], start: usize) -> bool {
    let before = bytes
        .get(start.saturating_sub(8)..start)
        .unwrap_or_default();
    NO_ORDER.iter().any(|word| before.ends_with(word))
}

/// Returns whether a sign is between the parts of an email address.
fn is_in_address(bytes: &[u8], at: usize) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    is_part(at.checked_sub(1).and_then(|at| bytes.get(at))) && is_part(bytes.get(at + 1))
}

/// Finds the rules that the words of a window fulfil, ordered by their ends.
pub fn signals(
    window: &str,
    folded: &Folded,
    events: &[Event],
    hidden: &[std::ops::Range<usize>],
    signals: &mut Vec<Signal>,
) {
    signals.clear();
    let mut seen: Classes = 0;
    for (at, event) in events.iter().enumerate() {
        seen |= 1 << event.class;
        for rule in rules::ALL.ending_with(event.class) {
            // Most rules lack a word that would have to come before.
            if rule.steps.iter().any(|step| step.classes & seen == 0) {
                continue;
            }
            let Some((start, is_disguised)) = fulfilled(rule, events, at) else {
                continue;
            };
            let is_hidden = hidden
                .iter()
                .any(|range| range.start <= start && event.end <= range.end);
            if rule.is_hidden && !is_hidden
                || rule.begins_line && !begins_line(window, folded.offset(start, window))
                || rule.in_sentence && !in_sentence(window, folded, start, event.end)
            {
                continue;
            }
            signals.push(Signal {
                rule,
                start,
                end: event.end,
                is_disguised,
                is_hidden,
            });
        }
    }
}

/// Returns where the words of a rule begin if they end with an event, and whether one is disguised.
fn fulfilled(rule: &Rule, events: &[Event], at: usize) -> Option<(usize, bool)> {
    let last = events.get(at)?;
    let (mut start, mut is_disguised, mut at) = (last.start, last.is_disguised, at);
    let mut gap = rule.steps.last()?.gap;
    for step in rule.steps.iter().rev().skip(1) {
        let before = events.get(..at)?.iter().enumerate().rev();
        let (place, event) = before
            .take(LOOK_BACK_MAX)
            .take_while(|(_, event)| start.saturating_sub(event.end) <= gap + 64)
            .find(|(_, event)| {
                step.classes >> event.class & 1 == 1
                    && event.end <= start
                    && start - event.end <= gap
            })?;
        start = event.start;
        is_disguised |= event.is_disguised;
        gap = step.gap;
        at = place;
    }
    Some((start, is_disguised))
}

/// Returns whether a place begins a line or a quoted string, whatever marks lines of lists and logs.
fn begins_line(window: &str, offset: usize) -> bool {
    let before = window.as_bytes().get(..offset).unwrap_or_default();
    for (at, byte) in before.iter().rev().take(6).enumerate() {
        match byte {
            b' ' | b'#' | b'>' | b'*' | b'-' | b'[' | b'(' | b'|' | b'<' => {}
            b'\n' | b'\r' | b'"' => return true,
            b'n' => {
                return before
                    .len()
                    .checked_sub(at + 2)
                    .and_then(|at| before.get(at))
                    == Some(&b'\\');
            }
            _ => return false,
        }
    }
    before.len() < 6
}

/// Returns whether a range has neither the end of a sentence nor a blank line within.
fn in_sentence(window: &str, folded: &Folded, start: usize, end: usize) -> bool {
    let bytes = folded.bytes.get(start..end).unwrap_or_default();
    let ends = |pair: &[u8]| matches!(pair, [b'.' | b'!' | b'?', b' ']);
    if bytes.windows(2).any(ends) || memmem::find(bytes, "。".as_bytes()).is_some() {
        return false;
    }
    let written = window
        .as_bytes()
        .get(folded.offset(start, window)..folded.offset(end, window))
        .unwrap_or_default();
    let breaks = |pair: &[u8]| matches!(pair, [b'\n', b'\n' | b'-' | b'*' | b'#' | b'|']);
    !written.windows(2).any(breaks)
}
