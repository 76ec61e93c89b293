//! Parsing of raw results: unwraps, parses and flattens a tool's output.
//!
//! A result can be JSON, JSON lines, a Python literal, or prose with lines and blocks, each wrapped by MCP once or
//! twice. Parsing never fails: content without a known structure is text. Every value has its byte offset in the
//! raw result. The work is linear in the length of the result. Depth and number of values are limited.

mod envelope;
mod flat;
mod index;
mod json;
mod nodes;
mod python;
mod scan;
mod tables;
mod text;

pub use flat::{Flat, Span};
pub use nodes::{DEPTH_MAX, Kind, Node, NodeId, NodeLabel, Nodes, VALUES_MAX};

pub(crate) use index::{Index, last_word};
pub(crate) use nodes::number;

use flat::Source;
use scan::{ParentSlot, looks_like_json};
use serde_json::Value;
use std::sync::OnceLock;

/// Maximum nesting of JSON within strings that is parsed.
const NESTED_MAX: u8 = 3;

/// A parsed result.
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
    /// Its value, if the whole text is a single value.
    pub json: Option<NodeId>,
    /// Objects and arrays found in the text, in order.
    pub blocks: Vec<Block>,
    /// The object of its `key: value` lines, if the text is no single value and has such lines.
    pub lines: Option<NodeId>,
    /// The lists of the rows of its tables, in order.
    pub tables: Vec<NodeId>,
    /// Its span in the flat text.
    pub mined: Span,
}

/// A whole object or array within a text.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its node.
    pub node: NodeId,
    /// Its span in the flat text.
    pub span: Span,
}

/// One field of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Path, `a.b[0].c`.
    pub path: String,
    /// Value with its JSON type.
    pub value: Value,
}

/// Parses a raw result.
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

/// Infers whether a step succeeded when its recorder did not report it.
///
/// Success means no `error` argument, no `isError` and no JSON-RPC error. Only the outermost members of the result
/// and of its `result` member are examined.
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

/// Parses one text: as JSON, JSON lines or a Python literal if the whole text is one, else as prose.
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
        lines: None,
        tables: Vec::new(),
        mined: span,
    })
}

/// Parses two or more objects or arrays, each beginning on a separate line, with nothing else in the text.
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
        lines: None,
        tables: Vec::new(),
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
        lines: None,
        tables: Vec::new(),
        mined: span,
    })
}

impl ParsedResult {
    /// Returns the values.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the texts of the unwrapped result.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns whether the result marks itself as an error: MCP's `isError` or a JSON-RPC error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Returns whether the result has more than [`VALUES_MAX`] values. Later values are not fields.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.nodes.overflowed()
    }

    /// Returns the unwrapped data: a single value, or a list if there are several.
    ///
    /// A text that is JSON is that value. Any other text gives the objects and arrays within it and the object of its
    /// `key: value` lines.
    #[must_use]
    pub fn data(&self) -> Option<Value> {
        let mut values: Vec<Value> = Vec::new();
        for document in &self.documents {
            let blocks = document.blocks.iter().map(|block| block.node);
            let tables = document.tables.iter().copied();
            let ids: Vec<NodeId> = match document.json {
                Some(json) => vec![json],
                None => blocks.chain(tables).collect(),
            };
            // Values beyond the limit have no node.
            let ids = ids.into_iter().filter(|id| self.nodes.get(*id).is_some());
            values.extend(ids.map(|id| self.nodes.value(id)));
            values.extend(self.lines(document));
        }
        match values.len() {
            0 | 1 => values.pop(),
            _ => Some(Value::Array(values)),
        }
    }

    /// Returns the memory that [`Self::data`] takes, in bytes: at most, because it may leave values out.
    #[must_use]
    pub fn data_bytes(&self) -> usize {
        let roots = self.nodes.roots().iter();
        roots.map(|root| self.nodes.held_bytes(*root)).sum()
    }

    /// Returns the object of a text's `key: value` lines, without those that introduce a block: `Created: {"id":7}`.
    fn lines(&self, document: &Document) -> Option<Value> {
        let lines = document.lines.filter(|_| document.json.is_none())?;
        self.nodes.get(lines)?;
        let mut value = self.nodes.value(lines);
        if let Value::Object(members) = &mut value
            && !document.blocks.is_empty()
        {
            let is_block = |value: &Value| {
                let text = value.as_str();
                text.is_some_and(|text| text.starts_with(['{', '[']))
            };
            members.retain(|_, value| !is_block(value));
            if members.is_empty() {
                return None;
            }
        }
        Some(value)
    }

    /// Returns the memory of the parsed result, in bytes. Builds the index.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.bytes() + self.index().bytes()
    }

    /// Lists all fields in document order, including objects and arrays.
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

    /// Returns the index from a field's words to its values, built on first use.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.nodes))
    }
}

#[cfg(test)]
mod tests;
