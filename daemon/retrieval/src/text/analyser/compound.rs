//! Splits a compound at joints (`_`, `-`, `.`) and case changes, and joins its parts again as one word.

use std::ops::Range;

use super::{TERM_CHARACTERS_MAX, fold};

/// Splits compounds; reuses its buffers between runs.
#[derive(Default)]
pub struct Compound {
    part: String,
    whole: String,
}

impl Compound {
    /// Calls `visit` with each part, folded, its range in `run`, and `true`. If there is more than one part, calls
    /// it again with the whole without joints, and `false`. Stops and returns `false` when `visit` returns `false`.
    pub fn words(
        &mut self,
        run: &str,
        visit: &mut dyn FnMut(&str, Range<usize>, bool) -> bool,
    ) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if run.len() <= TERM_CHARACTERS_MAX && run.bytes().all(is_plain) {
            return visit(run, 0..run.len(), true); // fast path: most words
        }
        self.whole.clear();
        let (mut parts, mut characters) = (0_u32, 0);
        for at in Parts::of(run) {
            let written = run.get(at.clone()).unwrap_or_default();
            self.part.clear();
            for one in written.chars().take(TERM_CHARACTERS_MAX) {
                fold::push(&mut self.part, one);
            }
            if self.part.is_empty() {
                continue;
            }
            characters += written.len();
            if characters <= TERM_CHARACTERS_MAX {
                self.keep_joint(run, at.start);
                self.whole.push_str(&self.part);
            }
            parts += 1;
            if !visit(&self.part, at, true) {
                return false;
            }
        }
        let whole = parts > 1 && characters <= TERM_CHARACTERS_MAX;
        !whole || visit(&self.whole, 0..run.len(), false)
    }

    /// Between digits a joint is part of the term: 3.14, 10.0.0.1 and 2026-01-31 differ from 314.
    fn keep_joint(&mut self, run: &str, start: usize) {
        let joint = run
            .get(..start)
            .and_then(|before| before.chars().next_back());
        let digit = |text: &str| text.ends_with(|last: char| last.is_ascii_digit());
        if let Some(joint @ ('.' | '-' | '_')) = joint
            && digit(&self.whole)
            && self.part.starts_with(|first: char| first.is_ascii_digit())
        {
            self.whole.push(joint);
        }
    }
}

/// Iterates over the ranges of a run's parts.
struct Parts<'a> {
    run: &'a str,
    at: usize,
}

impl<'a> Parts<'a> {
    fn of(run: &'a str) -> Self {
        Self { run, at: 0 }
    }
}

impl Iterator for Parts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.run.get(self.at..)?;
        let joint = |one: char| matches!(one, '_' | '-' | '.');
        let start = self.at + rest.find(|one| !joint(one))?;
        let mut characters = self.run.get(start..)?.char_indices().peekable();
        let (_, mut before) = characters.next()?;
        let mut end = start + before.len_utf8();
        while let Some((offset, one)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if joint(one) || is_seam(before, one, next) {
                break;
            }
            end = start + offset + one.len_utf8();
            before = one;
        }
        self.at = end;
        Some(start..end)
    }
}

/// Whether a new part begins with `one`: `user|Name`, `HTTP|Server`.
fn is_seam(before: char, one: char, next: Option<char>) -> bool {
    one.is_uppercase()
        && (!before.is_uppercase() && !super::runs::is_mark(before)
            || before.is_uppercase() && next.is_some_and(char::is_lowercase))
}
