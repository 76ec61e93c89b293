//! The value of a type in one field.

use super::step::StepData;
use crate::steps::extract::{Type, ValueForm, find_in};
use crate::steps::parse::{Kind, NodeId, Nodes, number};
use serde_json::Value;

/// Maximum number of values visited inside an object for a value of a type.
const INSIDE_MAX: usize = 10_000;

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
        (Type::Id | Type::Url | Type::Email | Type::Date | Type::Custom(_), Kind::Object) => {
            inside(step, of, id).map(|value| (false, value))
        }
        (_, Kind::Null | Kind::Bool(_) | Kind::Object | Kind::Array) => None,
    }
}

/// Returns the shallowest value of the type inside an object.
fn inside(step: &StepData, of: Type, object: NodeId) -> Option<Value> {
    let nodes = step.parsed().nodes();
    let end = nodes.get(object)?.end;
    let within = (object + 1..end).take(INSIDE_MAX);
    let scalars = within.filter_map(|id| {
        let node = nodes.get(id)?;
        let is_scalar = matches!(node.kind, Kind::String | Kind::Number) && node.end == id + 1;
        is_scalar.then_some((node.depth, id))
    });
    let found = scalars.filter_map(|(depth, id)| {
        let (is_whole, value) = form(step, of, id)?;
        is_whole.then_some(((depth, id), value))
    });
    found
        .min_by_key(|(place, _)| *place)
        .map(|(_, value)| value)
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
