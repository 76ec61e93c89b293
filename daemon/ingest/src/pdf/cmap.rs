//! Maps the character codes of a font to text, from a character map in the file.

use super::object::{Lexer, Object};

/// Limit on the ranges of a map; a single code counts as a range.
const RANGES_MAX: usize = 30_000;
/// Limit on the text of one code, in bytes of UTF-16.
const TEXT_BYTES_MAX: usize = 64;

/// A range of codes and the text of the first code. For each next code, the text's last character increases by
/// one.
#[derive(Debug)]
struct CodeRange {
    first: u32,
    last: u32,
    text: Box<str>,
}

/// A map from codes to texts.
#[derive(Debug, Default)]
pub(super) struct CMap {
    /// Sorted by first code.
    runs: Vec<CodeRange>,
    /// The length of a code in bytes, if all code space ranges of the map have the same one.
    pub code_bytes: Option<usize>,
}

impl CMap {
    /// Parses a map; malformed entries are skipped.
    pub fn read(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::of_content(bytes);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.next() {
            let Object::Word(word) = object else {
                operands.push(object);
                continue;
            };
            match word.as_slice() {
                b"endcodespacerange" => map.code_space(&operands),
                b"endbfchar" => map.characters(&operands),
                b"endbfrange" => map.ranges(&operands),
                _ => {}
            }
            operands.clear();
        }
        map.runs.sort_by_key(|run| run.first);
        map
    }

    /// Returns the text of a code.
    pub fn text(&self, code: u32) -> Option<String> {
        let behind = self.runs.partition_point(|run| run.first <= code);
        // Ranges may be nested, so the nearest four are checked.
        let near = self.runs.get(behind.saturating_sub(4)..behind)?;
        let run = near.iter().rev().find(|run| run.last >= code)?;
        let mut text = run.text.to_string();
        if code > run.first {
            let last = text.pop()?;
            text.push(char::from_u32(
                u32::from(last).checked_add(code - run.first)?,
            )?);
        }
        Some(text)
    }

    fn code_space(&mut self, operands: &[Object]) {
        let mut lengths = operands.iter().filter_map(|operand| match operand {
            Object::Text(code) => Some(code.len()),
            _ => None,
        });
        let Some(first) = lengths.next() else { return };
        let is_same = lengths.all(|length| length == first)
            && self.code_bytes.is_none_or(|known| known == first);
        self.code_bytes = (is_same && (1..=4).contains(&first)).then_some(first);
    }

    fn characters(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::Text(code), Object::Text(text)] = pair {
                let code = number(code);
                self.push(code, code, text);
            }
        }
    }

    fn ranges(&mut self, operands: &[Object]) {
        for range in operands.chunks_exact(3) {
            match range {
                [Object::Text(first), Object::Text(last), Object::Text(text)] => {
                    self.push(number(first), number(last), text);
                }
                [Object::Text(first), Object::Text(_), Object::Array(texts)] => {
                    for (code, text) in (number(first)..).zip(texts) {
                        if let Object::Text(text) = text {
                            self.push(code, code, text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, first: u32, last: u32, text: &[u8]) {
        let units = text.chunks_exact(2).take(TEXT_BYTES_MAX / 2);
        let units = units.map(|pair| {
            pair.iter()
                .fold(0, |unit, byte| unit << 8 | u16::from(*byte))
        });
        let mut text: String = char::decode_utf16(units).flatten().collect();
        if text.is_empty() {
            return;
        }
        text.retain(|c| c != '\0');
        if self.runs.len() < RANGES_MAX && last >= first {
            self.runs.push(CodeRange {
                first,
                last,
                text: text.into(),
            });
        }
    }
}

/// Decodes a big-endian code of at most four bytes.
pub(super) fn number(code: &[u8]) -> u32 {
    code.iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}
