//! Fields that belong to another thing than the one that a result is about.

use super::field::{Match, MatchedBy};
use super::step::StepData;
use crate::steps::parse::{Kind, Node, NodeId, NodeLabel, Nodes};
use crate::steps::words;

/// Names that each thing has one of: those of a nested thing do not answer for the outer one.
const OWN: [&str; 8] = [
    "title",
    "subject",
    "summary",
    "description",
    "desc",
    "body",
    "status",
    "state",
];
/// Keys by which an object is a thing of its own.
const IDENTITY: [&str; 14] = [
    "id",
    "uuid",
    "guid",
    "iid",
    "number",
    "key",
    "sha",
    "login",
    "name",
    "title",
    "slug",
    "pullrequestid",
    "displayname",
    "username",
];
/// Objects that are a part of the thing around them, or that only wrap it.
const PARTS: [&str; 24] = [
    "attributes",
    "body",
    "content",
    "data",
    "details",
    "entity",
    "fields",
    "info",
    "item",
    "items",
    "meta",
    "metadata",
    "node",
    "object",
    "payload",
    "properties",
    "record",
    "resource",
    "response",
    "result",
    "results",
    "rows",
    "spec",
    "value",
];

/// Removes the fields of other things: those below a null of the same name, and for a name that each thing has one of,
/// those of a thing within the one that the result is about.
pub(super) fn retain_own(step: &StepData, field: &str, matches: &mut Vec<Match>) {
    // Fields of the outermost object are its own.
    if matches.iter().all(|found| found.depth <= 1) {
        return;
    }
    let nodes = step.parsed().nodes();
    let is_own_name = OWN.iter().any(|own| words::same(own, field));
    if is_own_name {
        matches.retain(|found| {
            found.by == MatchedBy::Path || !is_of_another(nodes, found.node, found.by)
        });
    }
    let aliases = step.set().aliases(field).all().filter(|_| is_own_name);
    let names = std::iter::once(field).chain(aliases);
    let null = names.filter_map(|name| step.parsed().index().null_depth(nodes, name));
    if let Some(depth) = null.min() {
        matches.retain(|found| found.depth <= depth);
    }
}

/// Returns whether the outermost object has a null under a name: then nothing else in the result answers for it.
pub(super) fn is_null(step: &StepData, field: &str) -> bool {
    let nodes = step.parsed().nodes();
    step.parsed().index().null_depth(nodes, field) == Some(1)
}

/// Returns whether a field is of a thing that is within another one.
fn is_of_another(nodes: &Nodes, id: NodeId, by: MatchedBy) -> bool {
    let Some(holder) = nodes.get(id).map(|node| node.parent) else {
        return false;
    };
    // A general alias such as `name` says little; the name itself, or one that is as narrow, is of a part as well.
    let is_thing = by == MatchedBy::Alias || has_identity(nodes, holder);
    let mut at = holder;
    let mut is_part = true;
    while let Some(node) = nodes.get(at).filter(|node| node.parent != at) {
        is_part &= match (nodes.key(node), node.label) {
            (Some(key), _) => PARTS.iter().any(|part| words::same(part, key)),
            (None, NodeLabel::Index(_) | NodeLabel::Root) => true,
            (None, NodeLabel::Key(_)) => false,
        };
        at = node.parent;
        let is_object = nodes.get(at).is_some_and(|node| node.kind == Kind::Object);
        if is_object && !is_part && is_thing && has_identity(nodes, at) {
            return true;
        }
    }
    false
}

/// Returns whether an object has a plain value by which it is a thing of its own.
fn has_identity(nodes: &Nodes, object: NodeId) -> bool {
    let is_plain = |node: &Node| matches!(node.kind, Kind::String | Kind::Number);
    nodes.children(object).any(|(_, node)| {
        let is_identity = |key| IDENTITY.iter().any(|one| words::same(one, key));
        is_plain(node) && nodes.key(node).is_some_and(is_identity)
    })
}
