//! Unwraps the envelopes of a tool result: JSON-RPC, and MCP's `content[]` and `structuredContent`.

use super::flat::Source;
use super::nodes::{Kind, NodeId, NodeLabel, Nodes};
use super::scan::ParentSlot;
use super::{Document, NESTED_MAX, document, json};

/// The content of an unwrapped result.
pub(super) struct EnvelopeContent {
    pub(super) nodes: Nodes,
    pub(super) documents: Vec<Document>,
    pub(super) is_error: bool,
}

/// Keys of an MCP tool result. An object with other keys is data that happens to have a `content`.
const RESULT_KEYS: [&str; 5] = [
    "content",
    "structuredContent",
    "isError",
    "_meta",
    "resultType",
];

/// Unwraps the JSON document `root` of `raw`; `None` if it is data and not an envelope.
pub(super) fn unwrap(raw: &str, nodes: &Nodes, root: NodeId) -> Option<EnvelopeContent> {
    if is_rpc_error(nodes, root) {
        return None;
    }
    let result = rpc_result(nodes, root).unwrap_or(root);
    if is_tool_result(nodes, result) {
        return Some(tool_result(raw, nodes, result));
    }
    if result == root {
        return None;
    }
    let mut out = Nodes::default();
    let documents = vec![document(&slice(raw, nodes, result), &mut out)];
    Some(EnvelopeContent {
        nodes: out,
        documents,
        is_error: false,
    })
}

/// Returns whether `root` has a JSON-RPC `error` or a true `isError`.
pub(super) fn says_error(nodes: &Nodes, root: NodeId) -> bool {
    let marked = member(nodes, root, "isError").and_then(|id| nodes.get(id));
    is_rpc_error(nodes, root) || marked.is_some_and(|node| node.kind == Kind::Bool(true))
}

/// Returns whether `root` is `{"error": {"code": NUMBER, "message": TEXT}}`, with or without the other members.
fn is_rpc_error(nodes: &Nodes, root: NodeId) -> bool {
    let Some(error) = member(nodes, root, "error") else {
        return false;
    };
    let has = |key, kind| {
        let node = member(nodes, error, key).and_then(|id| nodes.get(id));
        node.is_some_and(|node| node.kind == kind)
    };
    has("code", Kind::Number) && has("message", Kind::String)
}

/// Returns the `result` of a JSON-RPC response.
fn rpc_result(nodes: &Nodes, root: NodeId) -> Option<NodeId> {
    member(nodes, root, "jsonrpc")?;
    member(nodes, root, "result")
}

fn is_tool_result(nodes: &Nodes, root: NodeId) -> bool {
    if nodes.get(root).is_none_or(|node| node.kind != Kind::Object) {
        return false;
    }
    let known = |node| {
        nodes
            .key(node)
            .is_some_and(|key| RESULT_KEYS.contains(&key))
    };
    if !nodes.children(root).all(|(_, node)| known(node)) {
        return false;
    }
    match member(nodes, root, "content") {
        Some(content) => {
            let is_array = nodes
                .get(content)
                .is_some_and(|node| node.kind == Kind::Array);
            is_array
                && nodes
                    .children(content)
                    .all(|(part, _)| member(nodes, part, "type").is_some())
        }
        None => member(nodes, root, "structuredContent").is_some(),
    }
}

fn tool_result(raw: &str, nodes: &Nodes, result: NodeId) -> EnvelopeContent {
    let mut out = Nodes::default();
    let structured =
        member(nodes, result, "structuredContent").filter(|id| is_container(nodes, *id));
    let documents = match structured {
        Some(structured) => structured_content(raw, nodes, structured, &mut out),
        None => match member(nodes, result, "content") {
            Some(content) => parts(raw, nodes, content, &mut out),
            None => Vec::new(),
        },
    };
    let is_error = says_error(nodes, result);
    EnvelopeContent {
        nodes: out,
        documents,
        is_error,
    }
}

fn is_container(nodes: &Nodes, id: NodeId) -> bool {
    let kind = nodes.get(id).map(|node| node.kind);
    matches!(kind, Some(Kind::Object | Kind::Array))
}

/// Reads structured content: data, or one string whose text is the data. The string stays readable by its key.
fn structured_content(
    raw: &str,
    nodes: &Nodes,
    structured: NodeId,
    out: &mut Nodes,
) -> Vec<Document> {
    let source = slice(raw, nodes, structured);
    let mut members = nodes.children(structured);
    let only = match (members.next(), members.next()) {
        (Some((_, node)), None) if node.kind == Kind::String => nodes.key(node).map(|_| node),
        _ => None,
    };
    let Some(only) = only else {
        return vec![document(&source, out)];
    };
    let inner = document(&nodes.flat().source(only.text), out);
    wrapper(&source, out);
    vec![inner]
}

/// Reads each part separately: text as a document, embedded or linked resources as fields. Skips images and audio.
fn parts(raw: &str, nodes: &Nodes, content: NodeId, out: &mut Nodes) -> Vec<Document> {
    let mut documents = Vec::new();
    for (part, _) in nodes.children(content) {
        let type_name = member(nodes, part, "type").and_then(|id| nodes.get(id));
        match type_name.map(|node| nodes.text(node)) {
            Some("image" | "audio") => {}
            Some("text") => documents.extend(text_of(nodes, part, out)),
            Some(_) | None => {
                let resource = member(nodes, part, "resource");
                documents.extend(resource.and_then(|resource| text_of(nodes, resource, out)));
                let fields = resource.unwrap_or(part);
                wrapper(&slice(raw, nodes, fields), out);
                documents.extend(uri_of(nodes, fields, out));
            }
        }
    }
    documents
}

/// Adds an object's fields without mining its text, because that is mined elsewhere or is base64.
fn wrapper(source: &Source<'_>, out: &mut Nodes) {
    let before = out.checkpoint();
    let place = ParentSlot::New {
        parent: None,
        label: NodeLabel::Root,
    };
    if json::read(source, out, 0, place, NESTED_MAX).is_err() {
        out.back_to(before);
    }
}

fn text_of(nodes: &Nodes, part: NodeId, out: &mut Nodes) -> Option<Document> {
    let text = member(nodes, part, "text").and_then(|id| nodes.get(id))?;
    let source = nodes.flat().source(text.text);
    (text.kind == Kind::String).then(|| document(&source, out))
}

/// Adds the URI of a resource as text to be mined.
fn uri_of(nodes: &Nodes, part: NodeId, out: &mut Nodes) -> Option<Document> {
    let uri = member(nodes, part, "uri").and_then(|id| nodes.get(id))?;
    let source = nodes.flat().source(uri.text);
    let start = out.flat.here();
    out.flat.copy(&source, 0, source.text.len());
    let end = out.flat.here();
    Some(Document {
        json: None,
        blocks: Vec::new(),
        lines: None,
        tables: Vec::new(),
        mined: super::Span { start, end },
    })
}

fn member(nodes: &Nodes, object: NodeId, key: &str) -> Option<NodeId> {
    let mut members = nodes.children(object);
    members
        .find(|(_, node)| nodes.key(node) == Some(key))
        .map(|(id, _)| id)
}

/// Returns the raw text of an object or array.
fn slice<'a>(raw: &'a str, nodes: &Nodes, id: NodeId) -> Source<'a> {
    let span = nodes.get(id).map(|node| node.text).unwrap_or_default();
    let start = nodes.flat().raw_of(span.start) as usize;
    let end = match span.end.checked_sub(1) {
        Some(last) => nodes.flat().raw_of(last) as usize + 1,
        None => start,
    };
    Source::raw(raw.get(start..end).unwrap_or_default(), start)
}
