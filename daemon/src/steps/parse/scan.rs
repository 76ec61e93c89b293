//! Parser state shared by the JSON and Python parsers. It fills the tree as it reads a text.

use super::flat::{Source, Span, clamp};
use super::nodes::{DEPTH_MAX, Kind, NodeId, NodeLabel, Nodes};
use super::{NESTED_MAX, json};

/// Target of a value: its parent and its label.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParentSlot {
    /// A new value under `parent`; without a parent, a document.
    New {
        parent: Option<NodeId>,
        label: NodeLabel,
    },
    /// The content of a string leaf that is itself JSON. Its members are added under that leaf.
    Within(Option<NodeId>),
}

/// Syntax error in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanError;

/// Reads `source` from `pos`, and writes values and flat text to `out`.
pub(super) struct Scan<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) out: &'a mut Nodes,
    pub(super) pos: usize,
    /// Current nesting depth of objects and arrays.
    pub(super) depth: u16,
    /// Number of strings that enclose this text.
    pub(super) level: u8,
    /// Source offset up to which the flat text is complete.
    copied: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(source: &'a Source<'a>, out: &'a mut Nodes, pos: usize, level: u8) -> Self {
        Scan {
            source,
            out,
            pos,
            depth: 0,
            level,
            copied: pos,
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.at(self.pos)
    }

    pub(super) fn at(&self, pos: usize) -> Option<u8> {
        self.source.text.as_bytes().get(pos).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.text.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let ahead = self.source.text.as_bytes().get(self.pos..);
        let found = ahead.is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if found {
            self.pos += word.len();
        }
        found
    }

    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.pos += 1;
        }
    }

    /// Consumes a comma between members. It becomes a blank, so that `[100,200]` is not read as one number.
    pub(super) fn comma(&mut self) -> bool {
        if self.peek() != Some(b',') {
            return false;
        }
        self.flush();
        self.stand_in(' ', self.pos);
        self.pos += 1;
        self.copied = self.pos;
        true
    }

    /// Copies the text up to the current position to the flat text.
    pub(super) fn flush(&mut self) {
        self.out.flat.copy(self.source, self.copied, self.pos);
        self.copied = self.pos;
    }

    /// Skips the text between the last flush and the current position: it is not copied to the flat text.
    pub(super) fn skip_copy(&mut self) {
        self.copied = self.pos;
    }

    /// Writes a character that replaces the source text at `pos`.
    pub(super) fn stand_in(&mut self, c: char, pos: usize) {
        let raw = self.source.raw_of(pos);
        self.out.flat.push(c, raw);
    }

    /// Returns the flat offset of the current position.
    pub(super) fn here(&self) -> u32 {
        self.out.flat.here() + clamp(self.pos - self.copied)
    }

    /// Enters an object or array at its opening bracket. The caller parses it and calls [`Scan::leave`].
    pub(super) fn enter(
        &mut self,
        place: ParentSlot,
        kind: Kind,
    ) -> Result<Option<NodeId>, ScanError> {
        if self.depth >= DEPTH_MAX {
            return Err(ScanError);
        }
        self.depth += 1;
        let start = self.here();
        self.pos += 1;
        Ok(match place {
            ParentSlot::Within(node) => node,
            ParentSlot::New { parent, label } => {
                let text = Span { start, end: start };
                self.out.push(parent, label, kind, text)
            }
        })
    }

    /// Leaves the object or array `id` after its closing bracket.
    pub(super) fn leave(&mut self, place: ParentSlot, id: Option<NodeId>) {
        self.depth -= 1;
        let end = self.here();
        let own_text = match place {
            ParentSlot::New { .. } => Some(end),
            ParentSlot::Within(_) => None,
        };
        if let Some(id) = id {
            self.out.close(id, own_text);
        }
    }

    /// Adds a value without members. A string that contains an object or array also gets its members.
    pub(super) fn leaf(&mut self, place: ParentSlot, kind: Kind, text: Span) {
        let ParentSlot::New { parent, label } = place else {
            return;
        };
        let Some(id) = self.out.push(parent, label, kind, text) else {
            return;
        };
        if kind == Kind::String && self.level < NESTED_MAX && self.may_nest() {
            self.flush();
            if !looks_like_json(self.out.flat.get(text)) {
                return;
            }
            let inner = self.out.flat.source(text);
            let before = self.out.checkpoint();
            self.out.flat.push('\n', self.source.raw_of(self.pos));
            let depth = self.depth;
            let read = json::read_inside(&inner, self.out, id, depth, self.level + 1);
            if read.is_err() {
                self.out.back_to(before);
            }
            self.out.close(id, None);
        }
    }

    /// Returns whether the string just read may end like JSON. Checks only its last byte, to be cheap.
    fn may_nest(&self) -> bool {
        let last = self.pos.checked_sub(2).and_then(|last| self.at(last));
        matches!(last, None | Some(b'}' | b']' | b' ' | b'n'))
    }
}

/// Returns whether a text begins and ends like an object or array: a cheap check before parsing.
pub(super) fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'))
}
