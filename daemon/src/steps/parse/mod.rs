//! From a raw result to values: what a tool returned, unwrapped, read and flattened.
//!
//! A result is anything: JSON, JSON lines, a Python literal, prose with lines and blocks in it, each of these
//! wrapped by MCP once or twice. Reading never fails; what cannot be read is text. Every value knows the byte of the
//! raw result it came from. The work is linear in the length of the result; depth and number of values are limited.

mod envelope;
mod flat;
mod index;
mod json;
mod nodes;
mod python;
mod scan;
mod text;

pub use flat::{Flat, Span};
pub use nodes::{DEPTH_MAX, Kind, Node, NodeId, NodeLabel, Nodes, VALUES_MAX};

pub(crate) use index::Index;
pub(crate) use nodes::number;

use flat::Source;
use scan::{ParentSlot, looks_like_json};
use serde_json::Value;
use std::sync::OnceLock;

/// How many strings deep JSON within a string is read.
const NESTED_MAX: u8 = 3;

/// A raw result, read.
#[derive(Debug, Default)]
pub struct ParsedResult {
    nodes: Nodes,
    documents: Vec<Document>,
    is_error: bool,
    index: OnceLock<Index>,
}

/// One text of a result.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its value, if the whole text is one.
    pub json: Option<NodeId>,
    /// The objects and arrays found in it, in order.
    pub blocks: Vec<Block>,
    /// Where its flat text is.
    pub mined: Span,
}

/// A whole object or array found in a text.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its value.
    pub node: NodeId,
    /// Where it stands in the flat text.
    pub span: Span,
}

/// One field of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its path, `a.b[0].c`.
    pub path: String,
    /// Its value, with its own type.
    pub value: Value,
}

/// Reads a raw result.
#[must_use]
pub fn parse(raw: &str) -> ParsedResult {
    let mut nodes = Nodes::default();
    let whole = document(&Source::raw(raw, 0), &mut nodes);
    let root = whole.json.filter(|_| raw.trim_start().starts_with('{'));
    let is_error = root.is_some_and(|root| envelope::says_error(&nodes, root));
    match root.and_then(|root| envelope::unwrap(raw, &nodes, root)) {
        Some(inner) => ParsedResult {
            nodes: inner.nodes,
            documents: inner.documents,
            is_error: is_error || inner.is_error,
            index: OnceLock::new(),
        },
        None => ParsedResult {
            nodes,
            documents: vec![whole],
            is_error,
            index: OnceLock::new(),
        },
    }
}

/// Whether a step succeeded, when its recorder did not say: no `error` argument, no `isError`, no JSON-RPC error.
/// Looks at the result's outermost members alone.
#[must_use]
pub fn succeeded(raw: &str, error: Option<&str>) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome<'a> {
        #[serde(rename = "isError")]
        is_error: Option<Value>,
        #[serde(borrow)]
        error: Option<&'a serde_json::value::RawValue>,
        #[serde(borrow)]
        result: Option<&'a serde_json::value::RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct RpcError {
        #[serde(rename = "code")]
        _code: serde_json::Number,
        #[serde(rename = "message")]
        _message: String,
    }
    if error.is_some() {
        return false;
    }
    let raw = raw.trim();
    if !raw.starts_with('{') || !(raw.contains("\"isError\"") || raw.contains("\"error\"")) {
        return true;
    }
    let Ok(outcome) = serde_json::from_str::<Outcome<'_>>(raw) else {
        return true;
    };
    let rpc_error = outcome
        .error
        .map(|error| serde_json::from_str::<RpcError>(error.get()));
    if matches!(rpc_error, Some(Ok(_))) || outcome.is_error == Some(Value::Bool(true)) {
        return false;
    }
    outcome
        .result
        .is_none_or(|result| result.get().len() >= raw.len() || succeeded(result.get(), None))
}

/// Reads one text: as JSON, JSON lines or a Python literal if all of it is, else as prose.
fn document(source: &Source<'_>, out: &mut Nodes) -> Document {
    let before = out.checkpoint();
    let start = out.flat.here();
    if let Some(found) = whole_json(source, out) {
        return Document {
            mined: Span {
                start,
                end: out.flat.here(),
            },
            ..found
        };
    }
    out.back_to(before);
    if let Some(found) = json_lines(source, out) {
        return Document {
            mined: Span {
                start,
                end: out.flat.here(),
            },
            ..found
        };
    }
    out.back_to(before);
    if let Some(found) = whole_python(source, out) {
        return Document {
            mined: Span {
                start,
                end: out.flat.here(),
            },
            ..found
        };
    }
    out.back_to(before);
    text::read(source, out)
}

fn whole_json(source: &Source<'_>, out: &mut Nodes) -> Option<Document> {
    let text = source.text.trim();
    if !text.starts_with(['{', '[', '"', '-', 't', 'f', 'n'])
        && !text.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let node = out.len();
    let place = ParentSlot::New {
        parent: None,
        label: NodeLabel::Root,
    };
    let at = source.text.len() - source.text.trim_start().len();
    let start = out.flat.here();
    let end = json::read(source, out, at, place, 0).ok()?;
    if end != at + text.len() {
        return None;
    }
    let span = Span {
        start,
        end: out.flat.here(),
    };
    let blocks = text.starts_with(['{', '[']).then_some(Block { node, span });
    Some(Document {
        json: Some(node),
        blocks: blocks.into_iter().collect(),
        mined: span,
    })
}

/// Two or more objects or arrays, each beginning on a line of its own, and nothing else.
fn json_lines(source: &Source<'_>, out: &mut Nodes) -> Option<Document> {
    let text: &str = &source.text;
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let start = out.flat.here();
    let root = out.push(
        None,
        NodeLabel::Root,
        Kind::Array,
        Span { start, end: start },
    );
    let mut at = text.len() - text.trim_start().len();
    let mut blocks = Vec::new();
    while at < text.len() {
        if !text.get(at..)?.starts_with(['{', '[']) {
            return None;
        }
        let label = NodeLabel::Index(flat::clamp(blocks.len()));
        let place = ParentSlot::New {
            parent: root,
            label,
        };
        let (node, from) = (out.len(), out.flat.here());
        let end = json::read(source, out, at, place, 0).ok()?;
        let span = Span {
            start: from,
            end: out.flat.here(),
        };
        blocks.push(Block { node, span });
        let rest = text.get(end..)?;
        let blank = rest.len() - rest.trim_start().len();
        if blank < rest.len() && !rest.get(..blank)?.contains('\n') {
            return None;
        }
        at = end + blank;
        out.flat.copy(source, end, at);
    }
    let root = root.filter(|_| blocks.len() > 1)?;
    let end = out.flat.here();
    out.close(root, Some(end));
    Some(Document {
        json: Some(root),
        blocks,
        mined: Span { start, end },
    })
}

fn whole_python(source: &Source<'_>, out: &mut Nodes) -> Option<Document> {
    let text = source.text.trim();
    let is_tuple = text.starts_with('(') && text.ends_with(')');
    if !looks_like_json(text) && !is_tuple {
        return None;
    }
    let node = out.len();
    let place = ParentSlot::New {
        parent: None,
        label: NodeLabel::Root,
    };
    let at = source.text.len() - source.text.trim_start().len();
    let start = out.flat.here();
    let end = python::read(source, out, at, place).ok()?;
    if end != at + text.len() {
        return None;
    }
    let span = Span {
        start,
        end: out.flat.here(),
    };
    Some(Document {
        json: Some(node),
        blocks: vec![Block { node, span }],
        mined: span,
    })
}

impl ParsedResult {
    /// The values.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The texts the result consists of, once unwrapped.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Whether the result says of itself that it is an error: MCP's `isError`, or a JSON-RPC error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Whether the result has more than [`VALUES_MAX`] values; those behind are no fields.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.nodes.overflowed()
    }

    /// The unwrapped JSON: the one value, or a list of them when several texts are JSON.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        let mut values: Vec<NodeId> = self
            .documents
            .iter()
            .filter_map(|document| document.json)
            .collect();
        match values.len() {
            0 => None,
            1 => values.pop().map(|id| self.nodes.value(id)),
            _ => Some(values.into_iter().map(|id| self.nodes.value(id)).collect()),
        }
    }

    /// All fields in document order, objects and arrays among them.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        let named = self
            .nodes
            .iter()
            .filter(|(_, node)| node.depth > 0 && node.kind != Kind::Null);
        named.map(|(id, _)| Field {
            path: self.nodes.path(id),
            value: self.nodes.value(id),
        })
    }

    /// The way from a field's words to its values, built on first use.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.nodes))
    }
}

#[cfg(test)]
mod tests;
