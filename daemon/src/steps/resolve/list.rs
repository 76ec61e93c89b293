//! Lists and counts over all values of a field in one step.

use super::field::{self, Match, MatchedBy};
use super::form::form;
use super::items;
use super::numbers;
use super::outcome::TooLarge;
use super::step::StepData;
use super::value_sizes;
use crate::steps::extract::Type;
use crate::steps::parse::{Kind, NodeId};
use crate::steps::words;
use serde_json::Value;
use std::collections::HashSet;

/// The values of a field, and where the first of them is.
pub(super) struct FieldList {
    pub(super) values: Vec<Value>,
    pub(super) place: String,
}

/// Returns every distinct value of a field, in document order: of a list those of its items, else those at all depths.
///
/// A field that is a list gives its items. Without a match, an alias of the field answers, and then the values of the
/// type that the field names. `None` if none of them exists. The list may be empty for a type, and for a result whose
/// main list is empty.
///
/// # Errors
/// [`TooLarge`] when `reserve` refuses the memory of the values.
pub(super) fn all(
    step: &StepData,
    field: &str,
    of: Option<Type>,
    reserve: &dyn Fn(usize) -> Result<(), TooLarge>,
) -> Result<Option<FieldList>, TooLarge> {
    let nodes = step.parsed().nodes();
    let forms = words::number_forms(field);
    let named = of.or_else(|| forms.iter().find_map(|form| step.set().type_named(form)));
    let fields = fields(step, &forms, named);
    let place = fields.first().map(|id| nodes.path(*id));
    let mut values = Vec::new();
    // Each value is also compared as text.
    reserve(fields.iter().map(|id| 2 * nodes.held_bytes(*id)).sum())?;
    for id in fields {
        match of {
            Some(of) => values.extend(form(step, of, id).map(|(_, value)| value)),
            None => values.extend(members(step, id)),
        }
    }
    if values.is_empty() {
        let type_name = named.map(|named| step.set().name_of(named));
        if type_name.is_none() && (!step.success || count(step) != Some(0)) {
            return Ok(None);
        }
        let type_name = type_name.unwrap_or_default();
        let extracts = step.extracted().of(type_name);
        reserve(2 * value_sizes::extracts_bytes(step, extracts.iter()))?;
        values.extend(extracts.iter().map(|extract| extract.value(step.parsed())));
        if values.is_empty() && !step.success {
            return Ok(None);
        }
        let place = match extracts.is_empty() {
            true => "the result, which is an empty list".to_owned(),
            false => format!("{type_name} extractor"),
        };
        return Ok(Some(FieldList {
            values: distinct(values),
            place,
        }));
    }
    Ok(Some(FieldList {
        values: distinct(values),
        place: place.unwrap_or_default(),
    }))
}

/// Returns the values of a plural such as `PR_IDS`, which no field has as its name: those of `ALL_PR_IDS`.
///
/// Types and names with aliases have plurals. Any other word has one if the items of a list have the singular.
///
/// # Errors
/// [`TooLarge`] when `reserve` refuses the memory of the values.
pub(super) fn plural(
    step: &StepData,
    field: &str,
    of: Option<Type>,
    reserve: &dyn Fn(usize) -> Result<(), TooLarge>,
) -> Result<Option<FieldList>, TooLarge> {
    let set = step.set();
    let is_known =
        |form: &String| set.type_named(form).is_some() || set.aliases(form).all().next().is_some();
    let is_in_list = |form: &String| {
        field::matches(step, form)
            .iter()
            .any(|found| items::is_in_list(step, found.node))
    };
    let mut singulars = words::number_forms(field).into_iter();
    let is_type = is_plural_of_known(field, &is_known);
    let is_plural =
        singulars.any(|form| form.len() < field.len() && (is_known(&form) || is_in_list(&form)));
    let list = match is_plural {
        true => all(step, field, of, reserve)?,
        false => None,
    };
    // An empty list has no ids, and that is an answer: nothing is to be done.
    Ok(list.filter(|list| !list.values.is_empty() || (is_type && is_empty_list(step))))
}

fn is_plural_of_known(field: &str, is_known: &dyn Fn(&String) -> bool) -> bool {
    let mut singulars = words::number_forms(field).into_iter();
    singulars.any(|form| form.len() < field.len() && is_known(&form))
}

/// Returns whether the result is an empty list, or an object of one with no more than numbers beside it.
fn is_empty_list(step: &StepData) -> bool {
    let nodes = step.parsed().nodes();
    let Some((list, node)) = main_list(step).and_then(|id| Some((id, nodes.get(id)?))) else {
        return false;
    };
    let is_alone = node.depth == 0
        || (node.depth == 1
            && nodes.children(node.parent).all(|(id, beside)| {
                id == list || matches!(beside.kind, Kind::Number | Kind::Bool(_) | Kind::Null)
            }));
    nodes.count(list) == 0 && is_alone
}

/// Removes duplicate values.
pub(super) fn distinct(mut values: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.to_string()));
    values
}

/// Returns the fields of a name in any of its forms, or of an alias, in document order.
///
/// The values of a type are better than an alias, except for ids: `pullRequestId` is the id of a pull request, while
/// the extractor also takes those of what is around it.
fn fields(step: &StepData, forms: &[String], named: Option<Type>) -> Vec<NodeId> {
    let takes_aliases = named.is_none_or(|named| named == Type::Id);
    let found = forms.iter().flat_map(|form| match takes_aliases {
        true => field::matches(step, form),
        false => match field::named(step, form) {
            named if named.is_empty() => numbers::of(step, form),
            named => named,
        },
    });
    let mut found: Vec<Match> = found
        .filter(|found| found.by != MatchedBy::Alias || !found.is_odd)
        .collect();
    found.sort_unstable();
    let mut seen = HashSet::with_capacity(found.len());
    found.retain(|found| seen.insert(found.node));
    items::own(step, found, forms)
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

/// Returns the length of the result's main list.
pub(super) fn count(step: &StepData) -> Option<usize> {
    main_list(step).map(|id| step.parsed().nodes().count(id))
}

/// Returns the main list: the result itself, else its shallowest array.
pub(super) fn main_list(step: &StepData) -> Option<NodeId> {
    let arrays = step.parsed().nodes().iter();
    let arrays = arrays.filter(|(_, node)| node.kind == Kind::Array);
    let shallowest = arrays.min_by_key(|(id, node)| (node.depth, *id));
    shallowest.map(|(id, _)| id)
}
