//! Which signals of a text make it suspicious together.

use std::ops::Range;

use crate::encodings::{self, Decoded};
use crate::fold::{Folded, windows};
use crate::lexicon::LEXICON;
use crate::signals::{self, Event, Signal};
use crate::{DECODED_BYTES_MAX, FINDINGS_MAX, Finding, Kind, Origin, characters, markup};

/// Weight from which a group of signals is suspicious.
const WEIGHT_MIN: u8 = 3;

/// The same in a text that was encoded or disguised.
const DISGUISED_WEIGHT_MIN: u8 = 2;

/// Distance in bytes of signals that belong together.
const NEAR_BYTES: usize = 300;

/// Maximum number of signals before and after a signal that are weighed with it.
const NEAR_MAX: usize = 24;

/// Weight that a text loses because it is quoted, because it is about attacks, and because it is both.
const QUOTED: u8 = 2;
const DISCUSSED: u8 = 1;
const EXAMPLE: u8 = 2;

/// Bytes before a quoted text in which its quotation mark stands, and after it.
const QUOTE_BEFORE: usize = 48;
const QUOTE_AFTER: usize = 160;

/// What a scan needs again for each window.
#[derive(Default)]
struct Scratch {
    folded: Folded,
    events: Vec<Event>,
    signals: Vec<Signal>,
}

/// How a text is read.
#[derive(Clone, Copy)]
struct Mode {
    origin: Origin,
    weight_min: u8,
    is_joined: bool,
    /// Encoded parts are decoded.
    decodes: bool,
}

pub fn scan(text: &str, origin: Origin) -> Vec<Finding> {
    let mode = Mode {
        origin,
        weight_min: WEIGHT_MIN,
        is_joined: false,
        decodes: true,
    };
    let mut findings = Vec::new();
    let mut scratch = Scratch::default();
    let mut decoded_left = DECODED_BYTES_MAX;
    for (begin, window) in windows(text) {
        for finding in in_window(window, mode, &mut scratch, &mut decoded_left) {
            let range = begin + finding.range.start..begin + finding.range.end;
            // A place that two windows share is found twice.
            let is_known =
                |known: &Finding| known.range.end > range.start && known.kind == finding.kind;
            if !findings.iter().any(is_known) {
                findings.push(Finding { range, ..finding });
            }
        }
        if findings.len() >= FINDINGS_MAX {
            break;
        }
    }
    findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
    findings.truncate(FINDINGS_MAX);
    findings
}

fn in_window(
    window: &str,
    mode: Mode,
    scratch: &mut Scratch,
    decoded_left: &mut usize,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Scratch {
        folded,
        events,
        signals,
    } = scratch;
    folded.fold(window);
    signals::events(folded, mode.is_joined, events);
    let hidden = markup::hidden(folded, events);
    signals::signals(window, folded, events, &hidden, signals);
    groups(window, mode, scratch, &mut findings);
    if mode.decodes {
        let concealed = characters::hidden(window).into_iter();
        findings.extend(concealed.map(|range| Finding {
            kind: Kind::Concealment,
            range,
        }));
        let parts = encodings::decoded(window, &scratch.folded, &scratch.events);
        for part in parts {
            if part.text.len() > *decoded_left || findings.len() >= FINDINGS_MAX {
                break;
            }
            *decoded_left -= part.text.len();
            if let Some(kind) = encoded(&part, mode.origin) {
                findings.push(Finding {
                    kind,
                    range: part.range,
                });
            }
        }
    }
    findings
}

/// Returns the kind of a suspicious encoded part.
fn encoded(part: &Decoded, origin: Origin) -> Option<Kind> {
    let mode = Mode {
        origin: match part.is_disguise {
            true => Origin::Document,
            false => origin,
        },
        weight_min: match part.is_disguise {
            true => DISGUISED_WEIGHT_MIN,
            false => WEIGHT_MIN,
        },
        is_joined: part.is_joined,
        decodes: false,
    };
    let mut scratch = Scratch::default();
    for (_, window) in windows(&part.text) {
        let found = in_window(window, mode, &mut scratch, &mut 0);
        if part.is_odd && orders(&scratch.events) {
            return Some(Kind::Encoding);
        }
        if let Some(first) = found.first() {
            return Some(match part.is_disguise {
                true => Kind::Encoding,
                false => first.kind,
            });
        }
    }
    None
}

/// Whether words of two classes of orders are in a text.
fn orders(events: &[Event]) -> bool {
    let mut classes = events
        .iter()
        .map(|event| event.class)
        .filter(|class| LEXICON.orders.contains(class));
    classes
        .next()
        .is_some_and(|first| classes.any(|class| class != first))
}

/// Adds the groups of signals that are suspicious.
fn groups(window: &str, mode: Mode, scratch: &mut Scratch, findings: &mut Vec<Finding>) {
    let Scratch {
        folded,
        events,
        signals,
    } = scratch;
    signals.retain(|signal| counts(signal, mode.origin));
    let signals = signals.as_slice();
    let mut done = 0;
    for (at, signal) in signals.iter().enumerate() {
        if signal.rule.kind.is_none() || signal.start < done {
            continue;
        }
        let group = group(signals, at);
        let weight = match is_telling(&group) {
            true => group.iter().map(|signal| signal.rule.weight).sum(),
            false => 0,
        };
        let (Some(start), Some(end)) = (
            group.iter().map(|signal| signal.start).min(),
            group.iter().map(|signal| signal.end).max(),
        ) else {
            continue;
        };
        let is_disguised = group
            .iter()
            .any(|signal| signal.is_disguised && signal.rule.kind.is_some());
        let is_hidden = signal.is_hidden && weight >= DISGUISED_WEIGHT_MIN;
        let kind = match group.iter().find_map(|signal| signal.rule.kind) {
            _ if is_disguised => Kind::Encoding,
            _ if is_hidden => Kind::Concealment,
            Some(kind) => kind,
            None => continue,
        };
        let is_open = !is_disguised && !is_hidden;
        if is_open && mode.origin == Origin::User {
            continue;
        }
        let loss = match is_open && mode.decodes {
            true => loss(folded, events, signal),
            false => 0,
        };
        let weight_min = match is_open {
            true => mode.weight_min,
            false => DISGUISED_WEIGHT_MIN,
        };
        if weight.saturating_sub(loss) < weight_min {
            continue;
        }
        findings.push(Finding {
            kind,
            range: range(window, folded, start..end),
        });
        done = end;
        if findings.len() >= FINDINGS_MAX {
            return;
        }
    }
}

/// Returns whether a signal says something about a text of an origin.
fn counts(signal: &Signal, origin: Origin) -> bool {
    if signal.is_hidden || signal.is_disguised {
        return true;
    }
    match (origin, signal.rule.kind) {
        // Agents correct facts, plan calls and say what a user need not see.
        (Origin::Agent, Some(Kind::Rewrite | Kind::Tools | Kind::Secrecy)) => false,
        _ => true,
    }
}

/// Returns the signals near a signal, the heaviest of those that overlap, heaviest first.
fn group(signals: &[Signal], at: usize) -> Vec<&Signal> {
    let Some(centre) = signals.get(at) else {
        return Vec::new();
    };
    let from = at.saturating_sub(NEAR_MAX);
    let to = signals.len().min(at + NEAR_MAX);
    let near = signals.get(from..to).unwrap_or_default().iter();
    let mut near: Vec<&Signal> = near
        .filter(|signal| {
            signal.start <= centre.end + NEAR_BYTES
                && signal.end + NEAR_BYTES >= centre.start
                && signal.is_hidden == centre.is_hidden
        })
        .collect();
    near.sort_by_key(|signal| {
        let is_address = signal.rule.kind.is_none();
        (
            std::cmp::Reverse(signal.rule.weight),
            is_address,
            signal.start,
        )
    });
    let mut group: Vec<&Signal> = Vec::new();
    let mut rules = Vec::new();
    for signal in near {
        let is_free = group
            .iter()
            .all(|taken| signal.end <= taken.start || taken.end <= signal.start);
        let rule: *const _ = signal.rule;
        // Saying a thing twice does not make it worse.
        if is_free && !rules.contains(&rule) {
            rules.push(rule);
            group.push(signal);
        }
    }
    group
}

/// Returns whether one rule is enough, or rules of several kinds agree. One word that manuals use is often followed by another.
fn is_telling(group: &[&Signal]) -> bool {
    let Some(first) = group.first() else {
        return false;
    };
    group.iter().any(|signal| {
        signal.is_disguised
            || signal.is_hidden
            || signal.rule.weight >= WEIGHT_MIN
            || signal.rule.kind != first.rule.kind
            || !matches!(
                signal.rule.kind,
                Some(Kind::Tools | Kind::Exfiltration | Kind::Rewrite)
            )
    })
}

/// Returns the weight that a signal loses because the text only quotes or discusses it.
fn loss(folded: &Folded, events: &[Event], signal: &Signal) -> u8 {
    let (mut is_discussed, mut is_reminder) = (false, false);
    let from = events.partition_point(|event| event.end + NEAR_BYTES < signal.start);
    let near = events.get(from..).unwrap_or_default().iter();
    for event in near.take_while(|event| event.end <= signal.end + 2 * NEAR_BYTES) {
        is_discussed |= event.class == LEXICON.discuss;
        is_reminder |= event.class == LEXICON.aware;
    }
    let is_quoted = is_quoted(&folded.bytes, signal.start..signal.end, is_discussed);
    let reminder = is_reminder && signal.rule.kind == Some(Kind::Secrecy);
    let weight = |is_so: bool, weight: u8| if is_so { weight } else { 0 };
    weight(is_quoted || reminder, QUOTED)
        + weight(is_discussed, DISCUSSED)
        + weight(is_quoted && is_discussed, EXAMPLE)
}

/// Returns whether a range is in quotation marks within a sentence. A string in JSON is not, and what follows a colon only if
/// the text discusses attacks.
fn is_quoted(bytes: &[u8], range: Range<usize>, is_discussed: bool) -> bool {
    let from = range.start.saturating_sub(QUOTE_BEFORE);
    let before = bytes.get(from..range.start).unwrap_or_default();
    let Some(at) = before.iter().rposition(|byte| matches!(byte, b'"' | b'`')) else {
        return false;
    };
    let Some(mark) = before.get(at) else {
        return false;
    };
    let opens = match before.get(..at) {
        Some([.., b':', b' ']) => is_discussed,
        Some([.., b',' | b'[' | b'{' | b'=', b' ']) => false,
        Some([.., b' ' | b'(']) => true,
        _ => false,
    };
    let to = bytes.len().min(range.end + QUOTE_AFTER);
    let after = bytes.get(range.end..to).unwrap_or_default();
    opens && after.contains(mark)
}

/// Returns the range in the window of a range of the folded bytes.
fn range(window: &str, folded: &Folded, range: Range<usize>) -> Range<usize> {
    let start = window.floor_char_boundary(folded.offset(range.start, window));
    let end = window.floor_char_boundary(folded.offset(range.end, window));
    start..end.max(start)
}
