//! A reader over one text that fills the tree as it goes; what the JSON and the Python reader share.

use super::flat::{Source, Span, clamp};
use super::nodes::{DEPTH_MAX, Kind, NodeId, NodeLabel, Nodes};
use super::{NESTED_MAX, json};

/// Where a value goes: under which value, and how it is called there.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParentSlot {
    /// A value of its own under `parent`, or a document when there is none.
    New {
        parent: Option<NodeId>,
        label: NodeLabel,
    },
    /// The form of a string leaf that is itself JSON: its members go under that leaf.
    Within(Option<NodeId>),
}

/// The text does not go on as its language wants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanError;

/// Reads `source` from `pos` and writes values and flat text to `out`.
pub(super) struct Scan<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) out: &'a mut Nodes,
    pub(super) pos: usize,
    /// How deep in objects and arrays the reader is.
    pub(super) depth: u16,
    /// How many strings this text is inside of.
    pub(super) level: u8,
    /// Everything before this offset is in the flat text already.
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

    /// Takes a comma between members. It becomes a blank, so that `[100,200]` is not read as one number.
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

    /// Brings the flat text up to the present position.
    pub(super) fn flush(&mut self) {
        self.out.flat.copy(self.source, self.copied, self.pos);
        self.copied = self.pos;
    }

    /// Leaves what lies between the last flush and the present position out of the flat text.
    pub(super) fn skip_copy(&mut self) {
        self.copied = self.pos;
    }

    /// Writes a character that stands for the source text at `pos`.
    pub(super) fn stand_in(&mut self, c: char, pos: usize) {
        let raw = self.source.raw_of(pos);
        self.out.flat.push(c, raw);
    }

    /// The flat offset the present position will get.
    pub(super) fn here(&self) -> u32 {
        self.out.flat.here() + clamp(self.pos - self.copied)
    }

    /// Enters an object or array whose bracket is next; the caller reads it and calls [`Scan::leave`].
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

    /// Leaves the object or array `id`, whose closing bracket was just read.
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

    /// Adds a value without members. A string that is itself an object or array gets its members, too.
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

    /// Whether the string that was just read may end as JSON does: a cheap look at its last byte.
    fn may_nest(&self) -> bool {
        let last = self.pos.checked_sub(2).and_then(|last| self.at(last));
        matches!(last, None | Some(b'}' | b']' | b' ' | b'n'))
    }
}

/// Whether a text begins and ends as an object or array does: a cheap look before the whole reading.
pub(super) fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'))
}
