//! Takes the middle out of long strings of a JSON text that passes by, so that it is nowhere as a whole.

use super::raw::{ESCAPE_BYTES_MAX, backslashes_before, end_of_head, note, start_of_tail};
use super::{HEAD_BYTES, TAIL_BYTES, TEXT_BYTES_MAX};

/// Bytes before the tail that stay until the end of the string is known: the tail may not begin within an escape.
const SLACK_BYTES: usize = 4 * ESCAPE_BYTES_MAX;
/// Escaped quotes after which blocks are searched: most strings have none, and logs have thousands.
const QUOTES_ONE_BY_ONE: usize = 8;

/// Shortens a JSON text that comes in parts: [`read`](super::read) makes of the result what it makes of the whole text.
/// Strings over [`TEXT_BYTES_MAX`] bytes lose their middle, and a note says how many bytes it had; all else is unchanged.
/// How the text is divided into parts makes no difference.
///
/// Quotes are all that is read of the text. If it is not JSON, the result is not JSON either.
#[derive(Debug, Default)]
pub struct Shortener {
    /// Whether the next byte belongs to a string.
    is_in_string: bool,
    /// Whether the last part ended with an odd number of backslashes.
    is_escaping: bool,
    /// What of the string is neither passed on nor left out.
    held: Vec<u8>,
    /// Whether the string is longer than the limit, and its beginning was passed on.
    is_long: bool,
    /// Bytes of the string that were left out.
    left_out: usize,
}

impl Shortener {
    /// Takes the next part of the text, and appends what is known of the result.
    pub fn push(&mut self, part: &[u8], result: &mut Vec<u8>) {
        let mut rest = part;
        loop {
            if !self.is_in_string {
                let Some(quote) = memchr::memchr(b'"', rest) else {
                    result.extend_from_slice(rest);
                    return;
                };
                let (outside, string) = rest.split_at(quote + 1);
                result.extend_from_slice(outside);
                self.is_in_string = true;
                rest = string;
            }
            let Some(end) = self.end_of_string(rest) else {
                self.hold(rest, result);
                return;
            };
            let (string, after) = rest.split_at(end);
            if self.held.is_empty() && !self.is_long && string.len() <= TEXT_BYTES_MAX {
                result.extend_from_slice(string);
            } else {
                self.hold(string, result);
                self.flush(result);
            }
            (self.is_in_string, self.is_escaping) = (false, false);
            rest = after;
            // The quote.
            result.extend_from_slice(rest.get(..1).unwrap_or_default());
            rest = rest.get(1..).unwrap_or_default();
        }
    }

    /// Ends the text, and appends the rest of the result.
    pub fn finish(mut self, result: &mut Vec<u8>) {
        self.flush(result);
    }

    /// Appends all that came and was not passed on, if nothing of it was left out: the rest of the text may follow as it
    /// is. Returns false, and changes nothing, within a string that is being shortened.
    #[must_use]
    pub fn pass_all(&mut self, result: &mut Vec<u8>) -> bool {
        if !self.is_long {
            result.append(&mut self.held);
        }
        !self.is_long
    }

    /// Returns the place of the quote that ends the string, if it is in this part.
    fn end_of_string(&mut self, part: &[u8]) -> Option<usize> {
        let is_escaped = |at: usize, was_escaping: bool| {
            let from = backslashes_before(part, at);
            !(at - from + usize::from(from == 0 && was_escaping)).is_multiple_of(2)
        };
        let (mut from, mut escaped) = (0, 0);
        while let Some(quote) = memchr::memchr(b'"', part.get(from..).unwrap_or_default()) {
            if !is_escaped(from + quote, self.is_escaping) {
                return Some(from + quote);
            }
            from += quote + 1;
            escaped += 1;
            if usize::is_multiple_of(escaped, QUOTES_ONE_BY_ONE) {
                from = past_escaped_quotes(part, from);
            }
        }
        self.is_escaping = is_escaped(part.len(), self.is_escaping);
        None
    }

    /// Takes a part of a string.
    fn hold(&mut self, part: &[u8], result: &mut Vec<u8>) {
        let mut rest = part;
        if !self.is_long {
            if self.held.len() + part.len() <= TEXT_BYTES_MAX {
                self.held.extend_from_slice(part);
                return;
            }
            // An escape at the end of the head is known by the bytes behind it.
            let missing = (HEAD_BYTES + ESCAPE_BYTES_MAX).saturating_sub(self.held.len());
            let (beginning, others) = part.split_at(missing.min(part.len()));
            self.held.extend_from_slice(beginning);
            let head = end_of_head(&self.held, HEAD_BYTES);
            result.extend(self.held.drain(..head));
            self.is_long = true;
            rest = others;
        }
        match start_in_part(rest) {
            Some(from) => {
                self.left_out += self.held.len() + from;
                self.held.clear();
                self.held
                    .extend_from_slice(rest.get(from..).unwrap_or_default());
            }
            None => {
                self.held.extend_from_slice(rest);
                if self.held.len() > 4 * TAIL_BYTES {
                    self.leave_out(TAIL_BYTES + SLACK_BYTES);
                }
            }
        }
    }

    /// Leaves out all that is held but this number of bytes, and a few less where an escape is.
    fn leave_out(&mut self, bytes: usize) {
        let from = start_of_tail(&self.held, self.held.len().saturating_sub(bytes));
        self.held.drain(..from);
        self.left_out += from;
    }

    /// Passes on what is held of a string that has ended.
    fn flush(&mut self, result: &mut Vec<u8>) {
        if self.is_long {
            self.leave_out(TAIL_BYTES);
            result.extend_from_slice(note(self.left_out).as_bytes());
        }
        result.append(&mut self.held);
        (self.is_long, self.left_out) = (false, 0);
    }
}

/// Returns a place before the tail in a large part of a string at which an escape may begin; `None` in a part that is
/// not large, and if there are backslashes alone before the place: they may belong to an escape that began earlier.
fn start_in_part(part: &[u8]) -> Option<usize> {
    if part.len() < 2 * TAIL_BYTES {
        return None;
    }
    let at = part.len() - TAIL_BYTES - SLACK_BYTES;
    let near = at.saturating_sub(2 * ESCAPE_BYTES_MAX)..=at;
    let is_known = near
        .map(|place| backslashes_before(part, place))
        .all(|from| from > 0);
    is_known.then(|| start_of_tail(part, at))
}

/// Returns a place from `from` on, which follows an escaped quote, without another quote before it that may be the end of
/// the string. Blocks are compared as a whole, not quote by quote.
fn past_escaped_quotes(part: &[u8], from: usize) -> usize {
    const BLOCK_BYTES: usize = 1 << 10;
    let mut at = from;
    // Without two bytes before it, the quote is escaped by a backslash of an earlier part.
    while let Some(block) = at
        .checked_sub(2)
        .and_then(|begin| part.get(begin..at + BLOCK_BYTES))
    {
        let before = block.iter().zip(block.iter().skip(1));
        let may_end =
            before
                .zip(block.iter().skip(2))
                .fold(false, |may_end, ((second, first), byte)| {
                    may_end | ((*byte == b'"') & ((*first != b'\\') | (*second == b'\\')))
                });
        if may_end {
            return at;
        }
        at += BLOCK_BYTES;
    }
    at
}
