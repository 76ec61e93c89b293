//! Reads whole lines of a file of any size with bounded memory.

use std::io::{self, BufRead};

use lored_hosts::json::Shortener;

/// Bytes of a line beyond which its long strings lose their middle while it is read.
const LONG_BYTES: usize = 1 << 20;
/// Bytes of a shortened line beyond which it is passed over.
const SHORTENED_BYTES_MAX: usize = 16 << 20;

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// Its bytes; those of a long line without the middle of its long strings. `None` if it is too long even so.
    pub bytes: Option<&'l [u8]>,
    /// Its length in the file, with its end.
    pub length: u64,
    /// Whether its end has been written.
    pub is_whole: bool,
}

/// Reads lines one by one.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from the beginning of a line.
    pub const fn new(source: R) -> Self {
        Self {
            source,
            line: Vec::new(),
        }
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut taken = TakenLine {
            line: &mut self.line,
            shortener: None,
            is_too_long: false,
        };
        let (mut length, mut is_whole) = (0_u64, false);
        while !is_whole {
            let available = match self.source.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', available);
            taken.push(
                available
                    .get(..end.unwrap_or(available.len()))
                    .unwrap_or_default(),
            );
            let used = end.map_or(available.len(), |end| end + 1);
            is_whole = end.is_some();
            length += used as u64;
            self.source.consume(used);
        }
        if length == 0 {
            return Ok(None);
        }
        let is_kept = taken.finish();
        Ok(Some(Line {
            bytes: is_kept.then_some(&*self.line),
            length,
            is_whole,
        }))
    }
}

/// A line while it is read.
struct TakenLine<'l> {
    line: &'l mut Vec<u8>,
    shortener: Option<Shortener>,
    is_too_long: bool,
}

impl TakenLine<'_> {
    fn push(&mut self, part: &[u8]) {
        if self.is_too_long {
            return;
        }
        if self.shortener.is_none() {
            if self.line.len() + part.len() <= LONG_BYTES {
                self.line.extend_from_slice(part);
                return;
            }
            let begun = std::mem::take(self.line);
            self.shortener
                .get_or_insert_default()
                .push(&begun, self.line);
        }
        if let Some(shortener) = &mut self.shortener {
            shortener.push(part, self.line);
        }
        if self.line.len() > SHORTENED_BYTES_MAX {
            self.is_too_long = true;
            *self.line = Vec::new();
            self.shortener = None;
        }
    }

    /// Returns whether the line is kept.
    fn finish(self) -> bool {
        if let Some(shortener) = self.shortener {
            shortener.finish(self.line);
        }
        !self.is_too_long
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], capacity: usize) -> Vec<(Option<Vec<u8>>, u64, bool)> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, bytes));
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.bytes.map(<[u8]>::to_vec), line.length, line.is_whole));
        }
        found
    }

    proptest! {
        /// Lines are what `split` makes of the whole text, however it is buffered.
        #[test]
        fn lines_are_those_of_the_text(text in "[ab\n]{0,60}", capacity in 1_usize..20) {
            let found = read(text.as_bytes(), capacity);
            let whole: String = found
                .iter()
                .map(|(line, _, is_whole)| {
                    let line = String::from_utf8(line.clone().unwrap()).unwrap();
                    if *is_whole { line + "\n" } else { line }
                })
                .collect();
            prop_assert_eq!(&whole, &text);
            let bytes: u64 = found.iter().map(|(_, length, _)| length).sum();
            prop_assert_eq!(bytes, text.len() as u64);
            let ended = found.iter().filter(|(_, _, is_whole)| *is_whole).count();
            prop_assert_eq!(ended, text.matches('\n').count());
        }
    }

    /// A line of any length takes no more memory than a long one.
    #[test]
    fn a_line_of_any_length_is_shortened_while_it_is_read() {
        let begin = &br#"{"type":"x","text":""#[..];
        let long = begin
            .chain(io::repeat(b'a').take(64 << 20))
            .chain(&b"\"}\n{}\n"[..]);
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, long));
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.bytes.unwrap().len() < 1 << 20);
        assert_eq!(line.length, (64 << 20) + 23);
        assert!(line.is_whole);
        assert_eq!(lines.next_line().unwrap().unwrap().bytes, Some(&b"{}"[..]));
    }

    /// What is not JSON, or has no long strings, cannot be shortened.
    #[test]
    fn a_line_that_stays_too_long_is_passed_over() {
        let numbers = io::repeat(b'1').take((SHORTENED_BYTES_MAX + LONG_BYTES) as u64);
        let long = numbers.chain(&b"\nnext\n"[..]);
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, long));
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!((line.bytes, line.is_whole), (None, true));
        assert_eq!(
            lines.next_line().unwrap().unwrap().bytes,
            Some(&b"next"[..])
        );
    }
}
