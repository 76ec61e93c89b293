//! The tree of a result's values, stored flat in document order: small, fast to build and to walk.

use super::flat::{Flat, FlatPosition, Span, clamp};
use serde_json::{Map, Number, Value};

/// Maximum number of values of one result. Later values remain text, but are not fields.
pub const VALUES_MAX: usize = 2_000_000;

/// Maximum nesting depth of parsed objects and arrays.
pub const DEPTH_MAX: u16 = 128;

/// Index of a value in the tree. Values are in document order, parents before children.
pub type NodeId = u32;

/// A value's label within its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLabel {
    /// Root of a document.
    Root,
    /// Object key.
    Key(Span),
    /// Array index, from 0.
    Index(u32),
}

/// A value's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. The span contains its digits unchanged.
    Number,
    /// A string. The span contains it without escapes.
    String,
    /// An object. The span contains its text.
    Object,
    /// An array. The span contains its text.
    Array,
}

/// One value of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Parent object or array; a root is its own parent.
    pub parent: NodeId,
    /// First value after it that is not inside it.
    pub end: NodeId,
    /// Number of path segments; 0 for a root.
    pub depth: u16,
    /// Label within the parent.
    pub label: NodeLabel,
    /// Kind of the value.
    pub kind: Kind,
    /// Span of its text.
    pub text: Span,
}

/// The values of one result, over its flat text.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    pub(super) flat: Flat,
    all: Vec<Node>,
    roots: Vec<NodeId>,
    overflowed: bool,
}

/// A saved state, for rollback when parsing fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    flat: FlatPosition,
    nodes: usize,
    roots: usize,
}

impl Nodes {
    /// Returns the flat text of the values.
    #[must_use]
    pub fn flat(&self) -> &Flat {
        &self.flat
    }

    /// Returns the memory of the values and their text, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.flat.bytes() + self.all.capacity() * size_of::<Node>()
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> NodeId {
        clamp(self.all.len())
    }

    /// Returns whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the roots of the documents, in order.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Returns whether there were more than [`VALUES_MAX`] values.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns a value.
    #[must_use]
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.all.get(id as usize)
    }

    /// Iterates over all values with their indexes, in document order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).zip(&self.all)
    }

    /// Iterates over the values directly inside `id`, in order.
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

    /// Returns the key of an object's member.
    #[must_use]
    pub fn key(&self, node: &Node) -> Option<&str> {
        match node.label {
            NodeLabel::Key(span) => Some(self.flat.get(span)),
            NodeLabel::Root | NodeLabel::Index(_) => None,
        }
    }

    /// Returns the text of a value: a string without quotes and escapes, or a number's digits.
    #[must_use]
    pub fn text(&self, node: &Node) -> &str {
        self.flat.get(node.text)
    }

    /// Returns the path of a value, `a.b[0].c`; empty for a whole document.
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

    /// Converts a value to JSON, numbers digit by digit. The depth is limited to [`DEPTH_MAX`] by construction.
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

    /// Returns the memory that a value takes as JSON, in bytes: about, and never much less.
    #[must_use]
    pub fn held_bytes(&self, id: NodeId) -> usize {
        /// Memory of one JSON value, with its place in an object, in bytes.
        const VALUE_BYTES: usize = 128;
        self.get(id).map_or(0, |node| {
            let values = node.end.saturating_sub(id) as usize;
            values * VALUE_BYTES + self.text(node).len()
        })
    }

    /// Counts the items of an array without building them.
    #[must_use]
    pub fn count(&self, id: NodeId) -> usize {
        self.children(id).count()
    }

    /// Adds a value; `None` if there are too many.
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

    /// Closes `id`: every value added since is inside it. Its text ends at `text_end`.
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

/// Converts digits to a JSON number, or to text if they are not a JSON number.
pub(crate) fn number(digits: &str) -> Value {
    match digits.parse::<Number>() {
        // The parsed number would format exponents differently.
        Ok(_) => Value::Number(Number::from_string_unchecked(digits.to_owned())),
        Err(_) => Value::String(digits.to_owned()),
    }
}
