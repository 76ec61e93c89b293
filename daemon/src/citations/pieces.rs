//! Which parts of a text came out of a context pack: recognised by the hashes of the pack's pieces, so
//! that what is only repeated is not searched again and not counted as new.
//!
//! Texts are compared by their words: line breaks, blanks, marks of quotation and fences do not matter.
//! A piece is the words from some word on that have [`PIECE_BYTES`] together. Of a pack, pieces from every
//! [`STRIDE`]th word on are remembered, and those that begin and end its lines; of the text, all are
//! looked up. So a quote of whole lines is found to the word, and one that begins or ends within a line
//! but for a few words at that end. What has fewer bytes than a piece is never a quote, unless it is all
//! that the pack said.

use std::ops::Range;

use crate::log::Hash;

/// Bytes of the words that a piece has at least.
pub const PIECE_BYTES: usize = 40;

/// Words from one remembered piece to the next at most.
pub const STRIDE: usize = 4;

/// A piece, or a whole text, by the first 8 bytes of SHA-256 of its words.
pub type PieceHash = u64;

/// What is remembered of a text that goes out: its pieces' hashes, in ascending order, each once.
#[must_use]
pub fn pieces(text: &str) -> Vec<PieceHash> {
    let words = WordIter::of(text);
    let mut buffer = Vec::new();
    let mut hashes = Vec::new();
    let mut next = 0;
    while let Some(end) = words.piece_from(next) {
        hashes.push(words.hash(next..end, &mut buffer));
        next = end.min(next + STRIDE);
    }
    for at in 0..words.ranges.len() {
        if words.begins_line(at)
            && let Some(end) = words.piece_from(at)
        {
            hashes.push(words.hash(at..end, &mut buffer));
        }
        if words.begins_line(at + 1)
            && let Some(start) = words.piece_up_to(at + 1)
        {
            hashes.push(words.hash(start..at + 1, &mut buffer));
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The hash of all words of a text, by which it is known even when it is shorter than a piece.
#[must_use]
pub fn whole(text: &str) -> PieceHash {
    let words = WordIter::of(text);
    words.hash(0..words.ranges.len(), &mut Vec::new())
}

/// The parts of a text whose pieces, or the whole of which, are known: in order, apart from each other,
/// as byte ranges. All pieces of the text are hashed, so do not ask when nothing is known.
#[must_use]
pub fn quoted_spans(text: &str, is_known: impl Fn(PieceHash) -> bool) -> Vec<Range<usize>> {
    let words = WordIter::of(text);
    let count = words.ranges.len();
    if count == 0 {
        return Vec::new();
    }
    let mut buffer = Vec::new();
    if is_known(words.hash(0..count, &mut buffer)) {
        return words.span(0..count).into_iter().collect();
    }
    let mut quoted: Vec<Range<usize>> = Vec::new();
    for at in 0..count {
        let forward = words.piece_from(at).map(|end| at..end);
        let backward = words.piece_up_to(at + 1).map(|start| start..at + 1);
        for piece in [forward, backward].into_iter().flatten() {
            if is_known(words.hash(piece.clone(), &mut buffer)) {
                add(&mut quoted, piece);
            }
        }
    }
    quoted
        .into_iter()
        .filter_map(|piece| words.span(piece))
        .collect()
}

/// What of a text is not within these spans, in order: what is new in it.
pub fn outside<'t>(text: &'t str, spans: &[Range<usize>]) -> impl Iterator<Item = &'t str> {
    let starts = std::iter::once(0).chain(spans.iter().map(|span| span.end));
    let ends = spans
        .iter()
        .map(|span| span.start)
        .chain(std::iter::once(text.len()));
    starts
        .zip(ends)
        .filter_map(|(start, end)| text.get(start..end))
        .filter(|part| !part.is_empty())
}

/// Adds a piece to ranges of words; pieces come in no strict order, but none begins before the range
/// that was last extended by more than a piece.
fn add(quoted: &mut Vec<Range<usize>>, mut piece: Range<usize>) {
    while let Some(last) = quoted.last()
        && piece.start <= last.end
    {
        piece = piece.start.min(last.start)..piece.end.max(last.end);
        quoted.pop();
    }
    quoted.push(piece);
}

/// The words of a text: what stands between blanks and has a letter or a digit. A sign of a script
/// without blanks between words is a word.
struct WordIter<'t> {
    text: &'t str,
    ranges: Vec<Word>,
}

struct Word {
    start: usize,
    end: usize,
    begins_line: bool,
}

impl<'t> WordIter<'t> {
    fn of(text: &'t str) -> Self {
        let mut words = Self {
            text,
            ranges: Vec::new(),
        };
        let (mut begins_line, mut start, mut has_sign) = (true, None, false);
        let ends = std::iter::once((text.len(), '\n'));
        for (at, character) in text.char_indices().chain(ends) {
            let is_alone = is_word_alone(character);
            if character.is_whitespace() || is_alone {
                if let (Some(start), true) = (start.take(), has_sign) {
                    words.add(start, at, &mut begins_line);
                }
                has_sign = false;
            }
            if is_alone {
                words.add(at, at + character.len_utf8(), &mut begins_line);
            } else if character == '\n' {
                begins_line = true;
            } else if !character.is_whitespace() {
                start.get_or_insert(at);
                has_sign |= character.is_alphanumeric();
            }
        }
        words
    }

    fn add(&mut self, start: usize, end: usize, begins_line: &mut bool) {
        self.ranges.push(Word {
            start,
            end,
            begins_line: std::mem::take(begins_line),
        });
    }

    /// Whether a word is the first of its line; there is a line behind the last word.
    fn begins_line(&self, at: usize) -> bool {
        self.ranges.get(at).is_none_or(|word| word.begins_line)
    }

    fn bytes(&self, at: usize) -> Option<usize> {
        self.ranges.get(at).map(|word| word.end - word.start)
    }

    /// Where the piece ends that begins with the word at `start`, if so many words are left.
    fn piece_from(&self, start: usize) -> Option<usize> {
        let (mut bytes, mut end) = (0, start);
        while bytes < PIECE_BYTES {
            bytes += self.bytes(end)?;
            end += 1;
        }
        Some(end)
    }

    /// Where the piece begins that ends in front of the word at `end`, if so many words are there.
    fn piece_up_to(&self, end: usize) -> Option<usize> {
        let (mut bytes, mut start) = (0, end);
        while bytes < PIECE_BYTES {
            start = start.checked_sub(1)?;
            bytes += self.bytes(start)?;
        }
        Some(start)
    }

    fn hash(&self, words: Range<usize>, buffer: &mut Vec<u8>) -> PieceHash {
        buffer.clear();
        for word in self.ranges.get(words).unwrap_or_default() {
            let word = self.text.get(word.start..word.end).unwrap_or_default();
            buffer.extend(word.as_bytes());
            buffer.push(0);
        }
        let Hash([a, b, c, d, e, f, g, h, ..]) = Hash::of(buffer);
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    fn span(&self, words: Range<usize>) -> Option<Range<usize>> {
        let first = self.ranges.get(words.start)?;
        let last = self.ranges.get(words.end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }
}

/// Whether a character is a word by itself: a letter of Chinese, Japanese or Korean.
fn is_word_alone(character: char) -> bool {
    character >= '\u{2e80}'
        && character.is_alphanumeric()
        && matches!(character, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const PACK: &str = "Conversation history:\n\
        [user, message m-1]\n```\nPlease look at the uplinks of switch-nyc-01 and tell me which of them \
        are down since the maintenance of last night.\n```\n\n\
        NetBox entities we've been discussing:\n\
        - device: switch-nyc-01\n  ID: 42\n  Mentioned 3 times\n  Last mentioned: 2026-11-21T10:00:00.000Z\n\
        - site: nyc-dc-1\n  ID: 7\n  Mentioned 1 times\n  Last mentioned: 2026-11-21T09:00:00.000Z";

    fn known(pack: &str) -> impl Fn(PieceHash) -> bool {
        let mut hashes: BTreeSet<_> = pieces(pack).into_iter().collect();
        hashes.insert(whole(pack));
        move |hash| hashes.contains(&hash)
    }

    fn citations<'t>(text: &'t str, pack: &str) -> Vec<&'t str> {
        let spans = quoted_spans(text, known(pack));
        spans.into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn the_whole_is_recognised_however_it_is_wrapped() {
        assert_eq!(citations(PACK, PACK), [PACK]);
        let wrapped = format!("  > {}\n", PACK.replace(' ', "\n  > "));
        assert_eq!(
            citations(&wrapped, PACK),
            [wrapped.trim_matches([' ', '>', '\n'])]
        );
        assert_eq!(
            citations("Yes, do it.", "Yes,\ndo it."),
            ["Yes, do it."],
            "however short"
        );
    }

    #[test]
    fn lines_are_recognised_to_the_word_among_what_is_new() {
        let quote = "- site: nyc-dc-1\n  ID: 7\n  Mentioned 1 times\n  Last mentioned: 2026-11-21T09:00:00.000Z";
        let text = format!("As you know of router-la-02:\n{quote}\nand now look at router-la-03.");
        assert_eq!(citations(&text, PACK), [&quote["- ".len()..]]);
        let spans = quoted_spans(&text, known(PACK));
        let new: Vec<_> = outside(&text, &spans).collect();
        assert_eq!(
            new,
            [
                "As you know of router-la-02:\n- ",
                "\nand now look at router-la-03."
            ]
        );
    }

    #[test]
    fn a_quote_within_a_line_is_recognised_but_for_its_ends() {
        let text = "You said: look at the uplinks of switch-nyc-01 and tell me which of them are down \
            since the maintenance of yesterday, but all are up.";
        let found = citations(text, PACK);
        let [quote] = found[..] else {
            panic!("{found:?}")
        };
        assert!(quote.contains("tell me which of them are down"), "{quote}");
        assert!(!quote.contains("said") && !quote.contains("but"), "{quote}");
    }

    #[test]
    fn new_words_within_a_quote_are_new() {
        let text = PACK.replace("which of them", "which of them router-la-09");
        let spans = quoted_spans(&text, known(PACK));
        let new: String = outside(&text, &spans).collect();
        assert!(new.contains("router-la-09") && spans.len() == 2, "{new:?}");
    }

    #[test]
    fn what_is_new_or_short_is_no_quote() {
        for text in [
            "",
            " \n> ```",
            "- device: switch-nyc-01",
            "Please look at the uplinks of router-la-02 and tell us whether one of those is up again.",
        ] {
            assert!(citations(text, PACK).is_empty(), "{text:?}");
        }
        assert!(pieces("").is_empty() && pieces("too short for a piece").is_empty());
    }

    #[test]
    fn scripts_without_blanks_are_recognised_too() {
        let pack = "ニューヨークのスイッチの状態を確認して、昨夜の保守作業のあとで停止した回線を教えてください。";
        let text = format!("はい。{pack} 次は？");
        assert!(
            citations(&text, pack)[0]
                .contains("昨夜の保守作業のあとで停止した回線を教えてください")
        );
    }

    proptest! {
        /// Spans are in order, apart, and on character boundaries; each line of a pack that is as long
        /// as a piece is found whole wherever it stands; with nothing known there are none.
        #[test]
        fn lines_are_found_wherever_they_stand(
            lines in prop::collection::vec("[a-z漢 >.\u{e9}-]{0,90}", 1..8),
            before in "[A-Z \n]{0,60}",
            after in "[A-Z \n]{0,60}",
            at in any::<prop::sample::Index>(),
        ) {
            let pack = lines.join("\n");
            let line = at.get(&lines);
            let text = format!("{before}\n{line}\n{after}");
            let spans = quoted_spans(&text, known(&pack));
            let mut last = 0;
            for span in &spans {
                prop_assert!(span.start >= last && span.end > span.start);
                prop_assert!(text.get(span.clone()).is_some());
                last = span.end;
            }
            let words = WordIter::of(line);
            let bytes: usize = words.ranges.iter().map(|word| word.end - word.start).sum();
            if bytes >= PIECE_BYTES {
                let span = words.span(0..words.ranges.len()).unwrap();
                let from = before.len() + 1;
                let span = from + span.start..from + span.end;
                prop_assert!(spans.iter().any(|one| one.start <= span.start && span.end <= one.end));
            }
            prop_assert!(quoted_spans(&text, |_| false).is_empty());
        }
    }
}
