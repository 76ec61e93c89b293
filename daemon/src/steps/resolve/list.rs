//! Lists and counts over all values of a field in one step.

use super::field::form;
use super::step::StepData;
use crate::steps::extract::Type;
use crate::steps::parse::{Kind, NodeId};
use crate::steps::words;
use serde_json::Value;
use std::collections::HashSet;

/// Returns every distinct value of a field, at all depths and in document order.
///
/// A field that is a list gives its items. Without a match, the values of the type that the field names are
/// returned. `None` if neither the field nor the type exists. The list may be empty for a type, and for a result
/// whose main list is empty.
pub(super) fn all(step: &StepData, field: &str, of: Option<Type>) -> Option<Vec<Value>> {
    let forms = words::number_forms(field);
    let mut values = Vec::new();
    for id in fields(step, &forms) {
        match of {
            Some(of) => values.extend(form(step, of, id).map(|(_, value)| value)),
            None => values.extend(members(step, id)),
        }
    }
    if values.is_empty() {
        let named = of.or_else(|| forms.iter().find_map(|form| step.set().type_named(form)));
        let named = named.map(|named| step.set().name_of(named));
        if named.is_none() && (!step.success || count(step) != Some(0)) {
            return None;
        }
        let extracts = step.extracted().of(named.unwrap_or_default());
        values.extend(extracts.iter().map(|extract| extract.value(step.parsed())));
        if values.is_empty() && !step.success {
            return None;
        }
    }
    Some(distinct(values))
}

/// Removes duplicate values.
pub(super) fn distinct(mut values: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    values
}

fn fields(step: &StepData, forms: &[String]) -> Vec<NodeId> {
    let parsed = step.parsed();
    let mut ids: Vec<NodeId> = forms
        .iter()
        .flat_map(|form| parsed.index().under(parsed.nodes(), form))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn members(step: &StepData, id: NodeId) -> Vec<Value> {
    let nodes = step.parsed().nodes();
    match nodes.value(id) {
        Value::Array(values) => values
            .into_iter()
            .filter(|value| !value.is_null())
            .collect(),
        value => vec![value],
    }
}

/// Returns the length of the result's main list: the result itself, else its shallowest array.
pub(super) fn count(step: &StepData) -> Option<usize> {
    let nodes = step.parsed().nodes();
    let arrays = nodes.iter().filter(|(_, node)| node.kind == Kind::Array);
    let shallowest = arrays.min_by_key(|(id, node)| (node.depth, *id));
    shallowest.map(|(id, _)| nodes.count(id))
}
