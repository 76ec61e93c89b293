//! The filters that leave nothing: which one it is, and the nearest values that exist.

use std::collections::BTreeSet;

use crate::documents::Catalogue;
use crate::documents::operations::nearest_names;
use crate::error::Refusal;
use crate::operation::Context;
use crate::search::filter::fits;
use crate::search::request::{DocumentFilter, SearchRequest, plain_type};
use crate::state::State;

/// Explains why a search found nothing if filters are the reason; empty if they leave something to search.
pub fn why_nothing(
    _cx: &Context,
    state: &State,
    ask: &SearchRequest,
    catalogue: &Catalogue,
) -> Result<Vec<String>, Refusal> {
    let mut reasons = Vec::new();
    if let Some(filter) = &ask.document_filter {
        reasons.extend(of_documents(filter, catalogue));
    }
    if let Some(project) = &ask.project
        && crate::sessions::of_project(state, project)?.is_empty()
        && crate::projects::file_types(state, project)?.is_empty()
    {
        reasons.push(format!(
            "the project `{project}` has no sessions and no context files"
        ));
    }
    Ok(reasons)
}

/// One filter of a request: its name, its value as shown, and the request with this filter only.
type OneFilter = (&'static str, String, DocumentFilter);

fn of_documents(filter: &DocumentFilter, catalogue: &Catalogue) -> Vec<String> {
    if catalogue.is_empty() {
        return vec!["there are no documents; `add_source` adds a folder".to_owned()];
    }
    let has = |one: &DocumentFilter| catalogue.all().any(|entry| fits(entry, one));
    let each = each(filter);
    let mut reasons = Vec::new();
    for (name, value, one) in &each {
        if has(one) {
            continue;
        }
        let near = nearest_names(value.trim_matches('`'), known(name, catalogue));
        let hint = match near.is_empty() {
            true => String::new(),
            false => format!("; the nearest are {}", near.join(", ")),
        };
        reasons.push(format!(
            "the filter `{name}` excludes everything: no document has {value}{hint}"
        ));
    }
    if reasons.is_empty() && !has(filter) {
        let names: Vec<&str> = each.iter().map(|(name, _, _)| *name).collect();
        reasons.push(format!(
            "no document passes the filters {} together; each of them alone leaves some",
            names.join(", ")
        ));
    }
    reasons
}

/// Splits a filter into its parts.
fn each(filter: &DocumentFilter) -> Vec<OneFilter> {
    let none = DocumentFilter::default;
    let quoted = |values: &[String]| {
        let values = values.iter().map(|value| format!("`{value}`"));
        values.collect::<Vec<_>>().join(" or ")
    };
    let mut each: Vec<OneFilter> = Vec::new();
    if !filter.context_ids.is_empty() {
        let one = DocumentFilter {
            context_ids: filter.context_ids.clone(),
            ..none()
        };
        each.push(("context_id", quoted(&filter.context_ids), one));
    }
    if let Some(context) = &filter.context {
        let one = DocumentFilter {
            context: Some(context.clone()),
            ..none()
        };
        each.push(("work_item_id", format!("`{context}`"), one));
    }
    if let Some(name) = &filter.context_name {
        let one = DocumentFilter {
            context_name: Some(name.clone()),
            ..none()
        };
        each.push(("context_name", format!("`{name}`"), one));
    }
    if !filter.categories.is_empty() {
        let one = DocumentFilter {
            categories: filter.categories.clone(),
            ..none()
        };
        each.push(("category", quoted(&filter.categories), one));
    }
    if let Some(name) = &filter.file_name {
        let one = DocumentFilter {
            file_name: Some(name.clone()),
            ..none()
        };
        each.push(("file_name", format!("`{name}`"), one));
    }
    if let Some(file_type) = &filter.file_type {
        let one = DocumentFilter {
            file_type: Some(file_type.clone()),
            ..none()
        };
        each.push(("file_type", format!("`{file_type}`"), one));
    }
    if !filter.tags.is_empty() {
        let one = DocumentFilter {
            tags: filter.tags.clone(),
            ..none()
        };
        each.push(("tags", quoted(&filter.tags), one));
    }
    for (path, condition) in &filter.conditions {
        let one = DocumentFilter {
            conditions: vec![(path.clone(), condition.clone())],
            ..none()
        };
        each.push(("custom_metadata", format!("such a field `{path}`"), one));
    }
    each
}

/// Returns the values of a filter that documents have.
fn known(name: &str, catalogue: &Catalogue) -> BTreeSet<String> {
    let of = catalogue.all().flat_map(|entry| {
        let taken = &entry.row.taken;
        match name {
            "context_id" | "work_item_id" => vec![taken.context_id.clone()],
            "context_name" => vec![taken.context_name.clone()],
            "category" => taken.category.iter().cloned().collect(),
            "file_name" => vec![entry.row.file_name().to_owned()],
            "file_type" => vec![plain_type(&taken.file_type)],
            "tags" => taken.tags.clone(),
            _ => Vec::new(),
        }
    });
    of.collect()
}
