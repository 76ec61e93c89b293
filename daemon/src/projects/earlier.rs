//! Tells the problems that a file had before from those of a new content.

use std::collections::{HashMap, HashSet};

use super::outline::Outline;
use super::parts::{Part, parts};
use super::template::Template;
use super::validate::{Diagnostic, FlawKind, Severity, Validation, validate};

/// Separates the diagnostics of a new content: those of the change, and those of entries and sections that are as they
/// were. A missing section always counts as a problem of the new content.
pub fn split(
    validation: Validation,
    content: &str,
    before: &str,
    template: &Template,
) -> (Validation, Vec<Diagnostic>) {
    if validation.errors.is_empty() || before.trim().is_empty() {
        return (validation, Vec::new());
    }
    let (new, old) = (
        parts(content, Some(template)),
        parts(before, Some(template)),
    );
    let mut same: HashMap<&str, Vec<&Part<'_>>> = HashMap::new();
    for part in &old {
        same.entry(&part.key).or_default().push(part);
    }
    let outline = Outline::of(before);
    let mut known: HashSet<(FlawKind, String, String)> = HashSet::new();
    for found in validate(before, template).errors {
        let part = part_at(&old, outline.start_of(found.line));
        known.insert((found.kind, key_of(part), numberless(&found.message)));
    }
    let outline = Outline::of(content);
    let is_earlier = |found: &Diagnostic| {
        let part = part_at(&new, outline.start_of(found.line));
        let is_same = part.is_some_and(|part| {
            let old = same.get(part.key.as_str()).into_iter().flatten();
            old.into_iter().any(|old| old.is_like(part))
        });
        found.kind != FlawKind::MissingSection
            && is_same
            && known.contains(&(found.kind, key_of(part), numberless(&found.message)))
    };
    let (earlier, own): (Vec<Diagnostic>, Vec<Diagnostic>) =
        validation.errors.into_iter().partition(is_earlier);
    (Validation::of(own), earlier)
}

fn part_at<'p, 't>(parts: &'p [Part<'t>], at: usize) -> Option<&'p Part<'t>> {
    let next = parts.partition_point(|part| part.start <= at);
    parts.get(next.checked_sub(1)?)
}

fn key_of(part: Option<&Part<'_>>) -> String {
    part.map_or_else(String::new, |part| part.key.clone())
}

/// Returns a message without line numbers, which change with the text before.
fn numberless(message: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in message.split(' ') {
        let is_number =
            words.last() == Some(&"line") && word.starts_with(|c: char| c.is_ascii_digit());
        words.push(if is_number { "#" } else { word });
    }
    words.join(" ")
}

/// Describes problems in one line for each section or entry, errors first.
pub fn describe(mut found: Vec<Diagnostic>) -> Vec<String> {
    found.sort_by_key(|one| (one.severity, one.line));
    let mut lines: Vec<(Option<String>, Severity, String, usize)> = Vec::new();
    for one in found {
        let known = lines
            .iter_mut()
            .find(|(section, severity, ..)| *section == one.section && *severity == one.severity);
        match known {
            Some((.., more)) => *more += 1,
            None => {
                let text = format!("line {}: {}", one.line, one.message);
                lines.push((one.section, one.severity, text, 0));
            }
        }
    }
    let text = |(_, _, text, more)| match more {
        0 => text,
        more => format!("{text}, and {more} more there"),
    };
    lines.into_iter().map(text).collect()
}
