//! Checks the format rules of a template.

use super::FlawKind;
use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::lines::quoted;
use crate::projects::outline::Outline;
use crate::projects::template::{Check, FormatRule, Template};
use std::ops::Range;

/// Limit on the reported violations of one rule.
const PLACES_MAX: usize = 50;

pub(super) fn check(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    for rule in &template.format_rules {
        let range = match &rule.section {
            None => Some(outline.whole()),
            Some(key) => outline.section(key).map(|section| section.body.clone()),
        };
        // A missing section is reported separately.
        if let Some(range) = range.filter(|range| !outline.slice(range).trim().is_empty()) {
            self::rule(outline, rule, &range, diagnostics);
        }
    }
}

fn rule(
    outline: &Outline<'_>,
    rule: &FormatRule,
    range: &Range<usize>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let text = outline.slice(range);
    let first = outline.line(range.start);
    let mut broken = |line: u32, message: String, example: Option<&str>| {
        let key = rule.section.as_deref();
        let found = PendingDiagnostic::file(FlawKind::FormatError, line, message)
            .subject(&rule.name)
            .severity(rule.severity);
        let found = match key {
            Some(key) => found.within(key),
            None => found,
        };
        diagnostics.add(match example {
            Some(example) => found.example(example),
            None => found.example(&rule.says),
        });
    };
    match &rule.check {
        Check::Must(pattern) => {
            if !pattern.matches(text) {
                broken(first, format!("{}: nothing here does", rule.says), None);
            }
        }
        Check::MustNot(pattern) => {
            let mut reported = 0;
            for (at, matched) in pattern.places(text) {
                let at = range.start + at;
                if reported < PLACES_MAX && !outline.is_quiet(at) {
                    reported += 1;
                    let message = format!("{}: not `{}`", rule.says, quoted(matched));
                    broken(outline.line(at), message, None);
                }
            }
        }
        Check::MaxBytes(most) => {
            if text.len() > *most {
                let message = format!("{}: {} bytes, at most {most}", rule.says, text.len());
                broken(first, message, None);
            }
        }
    }
}
