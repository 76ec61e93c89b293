//! Characters that hide a text: invisible ones between letters, tags, runs of variation selectors, reversed direction.

use std::ops::Range;

/// Invisible characters in a row that carry a message. An emoji has fewer.
const RUN_MIN: usize = 6;

/// Variation selectors in a row. A character has at most one.
const SELECTORS_MIN: usize = 3;

/// Tags in a row, outside a flag.
const TAGS_MIN: usize = 4;

/// Invisible characters between Latin letters, close to each other.
const SPLITS_MIN: usize = 4;

/// Distance in bytes of invisible characters that belong together.
const CLOSE_BYTES: usize = 32;

/// Returns the ranges of a window in which characters hide a text. A window of ASCII has none.
pub fn hidden(window: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if window.is_ascii() {
        return found;
    }
    let mut runs = [
        Run::new(is_tag, TAGS_MIN),
        Run::new(is_selector, SELECTORS_MIN),
        Run::new(is_zero_width, RUN_MIN),
    ];
    let mut splits = Run::new(|_| true, SPLITS_MIN);
    let mut is_right_to_left = false;
    let mut reversed = None;
    let mut before = ' ';
    let mut chars = window.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_ascii() {
            for run in &mut runs {
                run.end(&mut found);
            }
            before = c;
            continue;
        }
        for run in &mut runs {
            run.follow(c, at, before == '\u{1f3f4}', &mut found);
        }
        if is_zero_width(c) && before.is_ascii_alphabetic() {
            let after = chars.peek().map_or(' ', |(_, c)| *c);
            if after.is_ascii_alphabetic() {
                splits.add_near(at, &mut found);
            }
        }
        is_right_to_left |=
            matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
        if matches!(c, '\u{202b}' | '\u{202d}' | '\u{202e}' | '\u{2067}') {
            reversed.get_or_insert(at..at + c.len_utf8());
        }
        if !is_tag(c) {
            before = c;
        }
    }
    for run in &mut runs {
        run.end(&mut found);
    }
    splits.end(&mut found);
    if let Some(range) = reversed.filter(|_| !is_right_to_left) {
        found.push(range);
    }
    found
}

/// Characters of one sort that belong together.
struct Run {
    is_of: fn(char) -> bool,
    min: usize,
    count: usize,
    range: Range<usize>,
}

impl Run {
    fn new(is_of: fn(char) -> bool, min: usize) -> Self {
        Self {
            is_of,
            min,
            count: 0,
            range: 0..0,
        }
    }

    /// Goes on with a character. The tags of a flag are none.
    fn follow(&mut self, c: char, at: usize, is_in_flag: bool, found: &mut Vec<Range<usize>>) {
        if !(self.is_of)(c) || is_tag(c) && is_in_flag {
            return self.end(found);
        }
        if self.count == 0 {
            self.range.start = at;
        }
        self.count += 1;
        self.range.end = at + c.len_utf8();
    }

    fn add_near(&mut self, at: usize, found: &mut Vec<Range<usize>>) {
        if self.count > 0 && at > self.range.end + CLOSE_BYTES {
            self.end(found);
        }
        if self.count == 0 {
            self.range.start = at;
        }
        self.count += 1;
        self.range.end = at + 3;
    }

    fn end(&mut self, found: &mut Vec<Range<usize>>) {
        if self.count >= self.min && found.len() < crate::FINDINGS_MAX {
            found.push(self.range.clone());
        }
        self.count = 0;
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}')
}
