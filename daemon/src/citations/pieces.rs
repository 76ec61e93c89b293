//! Recognises which parts of a text came from a context pack, by hashes of the pack's pieces. Repeated text is not
//! searched again and not counted as new.
//!
//! Texts are compared by their words; line breaks, whitespace, quotation marks and fences are ignored. A piece is a
//! run of words with at least [`PIECE_BYTES`] bytes. For a pack, the pieces that start at every [`STRIDE`]th word
//! are stored, and the pieces at the start and the end of each line. For a text, all pieces are looked up. So a
//! citation of whole lines is found exactly; one that starts or ends within a line may miss a few words there. A
//! text shorter than a piece is only a citation if it is the whole pack.

use std::ops::Range;

use crate::log::Hash;

/// Minimum length of a piece's words, in bytes.
pub const PIECE_BYTES: usize = 40;

/// Maximum distance between stored pieces, in words.
pub const STRIDE: usize = 4;

/// A hash of a piece or a whole text: the first 8 bytes of the SHA-256 of its words.
pub type PieceHash = u64;

/// Returns the hashes to store for a pack's text, in ascending order, without duplicates.
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

/// Returns the hash of all words of a text; it also identifies a text that is shorter than a piece.
#[must_use]
pub fn whole(text: &str) -> PieceHash {
    let words = WordIter::of(text);
    words.hash(0..words.ranges.len(), &mut Vec::new())
}

/// Returns the parts of a text that are known, as a whole or by pieces: sorted, separate byte ranges. It hashes
/// all pieces of the text, so do not call it when no hashes are known.
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

/// Returns the parts of a text outside these spans, in order.
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

/// Merges a piece into ranges of words. Pieces are not strictly sorted, but none starts more than one piece before
/// the range that was extended last.
fn add(quoted: &mut Vec<Range<usize>>, mut piece: Range<usize>) {
    while let Some(last) = quoted.last()
        && piece.start <= last.end
    {
        piece = piece.start.min(last.start)..piece.end.max(last.end);
        quoted.pop();
    }
    quoted.push(piece);
}

/// Iterates over the words of a text: runs between whitespace with a letter or a digit. In a script without spaces
/// between words, each character is a word.
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

    /// Returns whether a word is the first of its line; the index after the last word counts as a line start.
    fn begins_line(&self, at: usize) -> bool {
        self.ranges.get(at).is_none_or(|word| word.begins_line)
    }

    fn bytes(&self, at: usize) -> Option<usize> {
        self.ranges.get(at).map(|word| word.end - word.start)
    }

    /// Returns the end of the piece that starts at word `start`, if enough words follow.
    fn piece_from(&self, start: usize) -> Option<usize> {
        let (mut bytes, mut end) = (0, start);
        while bytes < PIECE_BYTES {
            bytes += self.bytes(end)?;
            end += 1;
        }
        Some(end)
    }

    /// Returns the start of the piece that ends before word `end`, if enough words precede it.
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

/// Returns whether a character is a word: a Chinese, Japanese or Korean letter.
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
        /// Spans are sorted, separate, and on character boundaries. Each pack line of at least a piece's length is found
        /// whole in any context. Without known hashes there are no spans.
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
