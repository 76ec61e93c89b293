//! The tree of values found in a result, kept flat in document order: small, quick to build and to walk.

use super::flat::{Flat, FlatPosition, Span, clamp};
use serde_json::{Map, Number, Value};

/// The most values one result is flattened into; what comes later is still text, but no field.
pub const VALUES_MAX: usize = 2_000_000;

/// The deepest nesting of objects and arrays that is read as such.
pub const DEPTH_MAX: u16 = 128;

/// A value's number in the tree; values are numbered in document order, parents before children.
pub type NodeId = u32;

/// How a value is called within its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLabel {
    /// It is a document of its own.
    Root,
    /// The key of an object.
    Key(Span),
    /// The place in an array, from 0.
    Index(u32),
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; the span holds its digits as they came.
    Number,
    /// A string; the span holds it without escapes.
    String,
    /// An object; the span holds its text.
    Object,
    /// An array; the span holds its text.
    Array,
}

/// One value of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The object or array it is in; itself for a root.
    pub parent: NodeId,
    /// The first value behind it that is not inside it.
    pub end: NodeId,
    /// Segments of its path: 0 for a root.
    pub depth: u16,
    /// How it is called.
    pub label: NodeLabel,
    /// What it is.
    pub kind: Kind,
    /// Where its text is.
    pub text: Span,
}

/// The values of one result over its flat text.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    pub(super) flat: Flat,
    all: Vec<Node>,
    roots: Vec<NodeId>,
    overflowed: bool,
}

/// A state to come back to when a text turns out not to be what it seemed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    flat: FlatPosition,
    nodes: usize,
    roots: usize,
}

impl Nodes {
    /// The flat text the values lie in.
    #[must_use]
    pub fn flat(&self) -> &Flat {
        &self.flat
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> NodeId {
        clamp(self.all.len())
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The documents, in order.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Whether there were more than [`VALUES_MAX`] values.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// One value.
    #[must_use]
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.all.get(id as usize)
    }

    /// All values with their numbers, in document order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).zip(&self.all)
    }

    /// The values directly inside `id`, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node)> {
        let end = self.get(id).map_or(0, |node| node.end);
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let at = next;
            let node = self.get(at).filter(|_| at < end)?;
            next = node.end.max(at + 1);
            Some((at, node))
        })
    }

    /// The key a value is called by, if it is one of an object.
    #[must_use]
    pub fn key(&self, node: &Node) -> Option<&str> {
        match node.label {
            NodeLabel::Key(span) => Some(self.flat.get(span)),
            NodeLabel::Root | NodeLabel::Index(_) => None,
        }
    }

    /// The text of a value: a string without quotes and escapes, a number's digits.
    #[must_use]
    pub fn text(&self, node: &Node) -> &str {
        self.flat.get(node.text)
    }

    /// The path of a value, `a.b[0].c`; empty for a whole document.
    #[must_use]
    pub fn path(&self, id: NodeId) -> String {
        let mut labels = Vec::new();
        let mut at = id;
        while let Some(node) = self.get(at) {
            if node.label == NodeLabel::Root {
                break;
            }
            labels.push(node.label);
            at = node.parent;
        }
        let mut path = String::new();
        for label in labels.into_iter().rev() {
            match label {
                NodeLabel::Root => {}
                NodeLabel::Key(span) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(self.flat.get(span));
                }
                NodeLabel::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    /// A value as JSON, numbers digit by digit. Deep trees end at [`DEPTH_MAX`] by construction.
    #[must_use]
    pub fn value(&self, id: NodeId) -> Value {
        let Some(node) = self.get(id) else {
            return Value::Null;
        };
        match node.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Number => number(self.text(node)),
            Kind::String => Value::String(self.text(node).to_owned()),
            Kind::Array => Value::Array(self.children(id).map(|(id, _)| self.value(id)).collect()),
            Kind::Object => {
                let members = self.children(id);
                let members = members.map(|(id, node)| {
                    let key = self.key(node).unwrap_or_default();
                    (key.to_owned(), self.value(id))
                });
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// How many values an array holds; counting does not build them.
    #[must_use]
    pub fn count(&self, id: NodeId) -> usize {
        self.children(id).count()
    }

    /// Adds a value; `None` once there are too many.
    pub(super) fn push(
        &mut self,
        parent: Option<NodeId>,
        label: NodeLabel,
        kind: Kind,
        text: Span,
    ) -> Option<NodeId> {
        if self.all.len() >= VALUES_MAX {
            self.overflowed = true;
            return None;
        }
        let id = clamp(self.all.len());
        let depth = match parent.and_then(|parent| self.get(parent)) {
            Some(parent) => parent.depth.saturating_add(1),
            None => 0,
        };
        self.all.push(Node {
            parent: parent.unwrap_or(id),
            end: id + 1,
            depth,
            label,
            kind,
            text,
        });
        if label == NodeLabel::Root {
            self.roots.push(id);
        }
        Some(id)
    }

    /// Says that `id` ends here: everything added since is inside it, and its text ends at `text_end`.
    pub(super) fn close(&mut self, id: NodeId, text_end: Option<u32>) {
        let end = clamp(self.all.len());
        if let Some(node) = self.all.get_mut(id as usize) {
            node.end = end;
            if let Some(text_end) = text_end {
                node.text.end = text_end;
            }
        }
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            flat: self.flat.checkpoint(),
            nodes: self.all.len(),
            roots: self.roots.len(),
        }
    }

    pub(super) fn back_to(&mut self, checkpoint: Checkpoint) {
        self.flat.back_to(checkpoint.flat);
        self.all.truncate(checkpoint.nodes);
        self.roots.truncate(checkpoint.roots);
    }
}

/// The digits as a JSON number; as text when JSON has no such number.
pub(crate) fn number(digits: &str) -> Value {
    match digits.parse::<Number>() {
        // Not the parsed one: it writes exponents in its own way.
        Ok(_) => Value::Number(Number::from_string_unchecked(digits.to_owned())),
        Err(_) => Value::String(digits.to_owned()),
    }
}
