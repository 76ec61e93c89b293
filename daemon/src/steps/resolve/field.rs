//! The five strategies that find the value of a field.

use super::Strategy;
use super::step::StepData;
use crate::steps::extract::{Extract, Type, ValueForm, find_in};
use crate::steps::parse::{Kind, NodeId, NodeLabel, Nodes, number};
use crate::steps::words;
use serde_json::Value;

/// Maximum number of values visited along a written path.
const WALK_MAX: u32 = 100_000;

/// A match, with the strategy that found it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) strategy: Strategy,
    /// Fields of the parsed result, or values extracted from it.
    pub(super) found: FieldValue,
}

/// The values of a match.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue {
    /// Fields, best first.
    Fields(Vec<NodeId>),
    /// Values that a type's extractor takes from fields, best first.
    Forms(Type, Vec<Value>),
    /// All extracted values of a type, in order.
    Extracts(Type),
}

/// Looks up a field in one step. The first strategy with a match wins.
pub(super) fn find(step: &StepData, field: &str, of: Option<Type>) -> Option<Hit> {
    let nodes = step.parsed().nodes();
    let named = candidates(step, field);
    let direct = direct(step, field, &named);
    let hit = |strategy, found: Option<FieldValue>| found.map(|found| Hit { strategy, found });
    if let Some(of) = of {
        let typed = |fields: Vec<NodeId>| typed(step, of, &fields);
        return hit(Strategy::Direct, typed(direct))
            .or_else(|| hit(Strategy::CaseInsensitive, typed(named)))
            .or_else(|| hit(Strategy::Typed, extracts(step, of)));
    }
    let fields = |fields: Vec<NodeId>| (!fields.is_empty()).then_some(FieldValue::Fields(fields));
    hit(Strategy::Direct, fields(direct))
        .or_else(|| hit(Strategy::CaseInsensitive, fields(named)))
        .or_else(|| hit(Strategy::Mapping, fields(mapped(step, nodes, field))))
        .or_else(|| {
            let of = step.set().type_named(field)?;
            hit(Strategy::Extracted, extracts(step, of))
        })
}

/// Looks up a field of the outermost object only.
pub(super) fn outermost(step: &StepData, field: &str) -> Option<Hit> {
    let parsed = step.parsed();
    let nodes = parsed.nodes();
    let found = parsed.index().under(nodes, field);
    let outer: Vec<NodeId> = found
        .filter(|id| nodes.get(*id).is_some_and(|node| node.depth == 1))
        .collect();
    let first = outer.first().and_then(|id| nodes.get(*id))?;
    let is_exact = nodes.key(first) == Some(field);
    let strategy = if is_exact {
        Strategy::Direct
    } else {
        Strategy::CaseInsensitive
    };
    Some(Hit {
        strategy,
        found: FieldValue::Fields(outer),
    })
}

/// Returns values whose whole path equals the field, as written or in lower case.
fn direct(step: &StepData, field: &str, named: &[NodeId]) -> Vec<NodeId> {
    let nodes = step.parsed().nodes();
    let lower = field.to_lowercase();
    let is_direct = |id: &NodeId| {
        let node = nodes.get(*id).filter(|node| node.depth == 1);
        let key = node.and_then(|node| nodes.key(node));
        key.is_some_and(|key| key == field || key == lower)
    };
    let found: Vec<NodeId> = named.iter().copied().filter(is_direct).collect();
    if !found.is_empty() || !field.contains(['.', '[']) {
        return found;
    }
    let mut walk = PathWalk {
        nodes,
        left: WALK_MAX,
    };
    let roots = nodes.roots().iter();
    roots
        .filter_map(|root| walk.to(*root, field).or_else(|| walk.to(*root, &lower)))
        .collect()
}

/// A walk along a written path.
struct PathWalk<'a> {
    nodes: &'a Nodes,
    left: u32,
}

impl PathWalk<'_> {
    fn to(&mut self, from: NodeId, path: &str) -> Option<NodeId> {
        if path.is_empty() {
            return Some(from).filter(|id| {
                self.nodes
                    .get(*id)
                    .is_some_and(|node| node.kind != Kind::Null)
            });
        }
        let nodes = self.nodes;
        for (id, node) in nodes.children(from) {
            self.left = self.left.checked_sub(1)?;
            let rest = match node.label {
                NodeLabel::Root => None,
                NodeLabel::Key(_) => nodes.key(node).and_then(|key| path.strip_prefix(key)),
                NodeLabel::Index(index) => path.strip_prefix(format!("[{index}]").as_str()),
            };
            let rest = match rest {
                Some(rest) if rest.is_empty() || rest.starts_with('[') => rest,
                Some(rest) => match rest.strip_prefix('.') {
                    Some(rest) => rest,
                    None => continue,
                },
                None => continue,
            };
            if let Some(found) = self.to(id, rest) {
                return Some(found);
            }
        }
        None
    }
}

/// Returns values whose path ends with the field's words: shallow ones first, then in document order.
fn candidates(step: &StepData, field: &str) -> Vec<NodeId> {
    let parsed = step.parsed();
    let nodes = parsed.nodes();
    let mut found: Vec<NodeId> = parsed.index().under(nodes, field).collect();
    let separators = field.char_indices().filter(|(_, c)| !c.is_alphanumeric());
    let mut split = false;
    for (at, _) in separators {
        let (head, tail) = (
            field.get(..at).unwrap_or_default(),
            field.get(at..).unwrap_or_default(),
        );
        if words::normal_chars(head).next().is_none() || words::normal_chars(tail).next().is_none()
        {
            continue;
        }
        let head = words::normalise(head);
        let below = parsed
            .index()
            .under(nodes, tail)
            .filter(|id| ends_with(nodes, *id, &head));
        let before = found.len();
        found.extend(below);
        split |= found.len() > before;
    }
    if split {
        found.sort_by_key(|id| (nodes.get(*id).map(|node| node.depth), *id));
        found.dedup();
    }
    found
}

/// Returns whether the path above `id` ends with whole segments that together are `words`.
fn ends_with(nodes: &Nodes, id: NodeId, words: &str) -> bool {
    let mut left = words.to_owned();
    let mut at = id;
    while !left.is_empty() {
        let Some(node) = nodes.get(at).filter(|node| node.parent != at) else {
            return false;
        };
        at = node.parent;
        let Some(key) = nodes.get(at).and_then(|parent| nodes.key(parent)) else {
            continue;
        };
        let key = words::normalise(key);
        if key.is_empty() || !left.ends_with(&key) {
            return false;
        }
        left.truncate(left.len() - key.len());
    }
    true
}

/// Returns values under an alias of the field: shallow ones first, then in the order of the aliases.
fn mapped(step: &StepData, nodes: &Nodes, field: &str) -> Vec<NodeId> {
    let index = step.parsed().index();
    let mut found = Vec::new();
    for (rank, alias) in step.set().aliases(field).iter().enumerate() {
        let ids = index.under(nodes, alias);
        found.extend(ids.map(|id| (nodes.get(id).map(|node| node.depth), rank, id)));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, _, id)| id).collect()
}

fn extracts(step: &StepData, of: Type) -> Option<FieldValue> {
    let values = step.extracted().of(step.set().name_of(of));
    (!values.is_empty()).then_some(FieldValue::Extracts(of))
}

/// Returns the fields that have the type: first whole values of the type, then values that contain one.
fn typed(step: &StepData, of: Type, fields: &[NodeId]) -> Option<FieldValue> {
    let mut forms: Vec<(bool, Value)> =
        fields.iter().filter_map(|id| form(step, of, *id)).collect();
    forms.sort_by_key(|(is_whole, _)| !is_whole);
    let values: Vec<Value> = forms.into_iter().map(|(_, value)| value).collect();
    (!values.is_empty()).then_some(FieldValue::Forms(of, values))
}

/// Returns the value of the type in one field, and whether it is the field's whole value.
pub(super) fn form(step: &StepData, of: Type, id: NodeId) -> Option<(bool, Value)> {
    let nodes = step.parsed().nodes();
    let node = nodes.get(id)?;
    let is_container = matches!(node.kind, Kind::Object | Kind::Array) || node.end > id + 1;
    match (of, node.kind) {
        (Type::Json, _) => is_container.then(|| (true, container(nodes, id))),
        (Type::Number, Kind::Number) => Some((true, nodes.value(id))),
        (_, Kind::String | Kind::Number) => {
            let text = nodes.text(node);
            let is_named = nodes
                .key(node)
                .is_some_and(|key| step.set().is_field_of(of, key));
            if is_named && !text.is_empty() && of != Type::Date {
                return Some((true, nodes.value(id)));
            }
            let (form, is_whole) = find_in(step.set(), of, text)?;
            let value = match form {
                ValueForm::Text(found) if found == text => nodes.value(id),
                ValueForm::Text(found) => Value::String(found),
                ValueForm::Number(digits) => number(&digits),
                ValueForm::Json(node) => nodes.value(node),
            };
            Some((is_whole, value))
        }
        (_, Kind::Null | Kind::Bool(_) | Kind::Object | Kind::Array) => None,
    }
}

/// Returns an object or array as JSON. A string that contains one is parsed.
fn container(nodes: &Nodes, id: NodeId) -> Value {
    let value = nodes.value(id);
    match &value {
        Value::String(text) => serde_json::from_str(text).unwrap_or(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value
        }
    }
}

/// Returns the values of a match, best first: all of them, or only the first.
pub(super) fn values(step: &StepData, found: &FieldValue, all: bool) -> Vec<Value> {
    let count = if all { usize::MAX } else { 1 };
    let parsed = step.parsed();
    match found {
        FieldValue::Fields(ids) => ids
            .iter()
            .take(count)
            .map(|id| parsed.nodes().value(*id))
            .collect(),
        FieldValue::Forms(_, values) => values.iter().take(count).cloned().collect(),
        FieldValue::Extracts(of) => {
            let extracts: &[Extract] = step.extracted().of(step.set().name_of(*of));
            extracts
                .iter()
                .take(count)
                .map(|extract| extract.value(parsed))
                .collect()
        }
    }
}

/// Returns the values of a match that have the shape of the first: fields on the same path, ignoring array indexes.
pub(super) fn peers(step: &StepData, found: &FieldValue) -> Vec<Value> {
    let nodes = step.parsed().nodes();
    match found {
        FieldValue::Fields(ids) => {
            let first = ids.first().copied().unwrap_or_default();
            let mut peers: Vec<NodeId> = ids
                .iter()
                .copied()
                .filter(|id| same_shape(nodes, first, *id))
                .collect();
            peers.sort_unstable();
            peers.into_iter().map(|id| nodes.value(id)).collect()
        }
        FieldValue::Forms(..) | FieldValue::Extracts(_) => values(step, found, true),
    }
}

fn same_shape(nodes: &Nodes, left: NodeId, right: NodeId) -> bool {
    let (mut left, mut right) = (left, right);
    loop {
        let (Some(one), Some(other)) = (nodes.get(left), nodes.get(right)) else {
            return false;
        };
        let same = match (one.label, other.label) {
            (NodeLabel::Root, NodeLabel::Root) => return true,
            (NodeLabel::Key(_), NodeLabel::Key(_)) => nodes.key(one) == nodes.key(other),
            (NodeLabel::Index(_), NodeLabel::Index(_)) => true,
            (NodeLabel::Root | NodeLabel::Key(_) | NodeLabel::Index(_), _) => false,
        };
        if !same {
            return false;
        }
        (left, right) = (one.parent, other.parent);
    }
}
