//! The filters that leave nothing: which one it is, and the nearest values that exist.

use std::collections::BTreeSet;

use lored_retrieval::text::Kind;

use super::result::wire_kind;
use crate::clock::format_time;
use crate::documents::Catalogue;
use crate::documents::operations::{chunk_index, nearest_names};
use crate::error::Refusal;
use crate::search::execute::Search;
use crate::search::filter::fits_with_chunks;
use crate::search::request::{DocumentFilter, Pattern, plain_type};
use crate::state::State;

/// Explains why a search found nothing if filters are the reason; empty if they leave something to search. Only a search
/// of everything has a choice of kinds.
pub fn why_nothing(
    search: &Search<'_>,
    state: &State,
    catalogue: &Catalogue,
    has_kinds: bool,
) -> Result<Vec<String>, Refusal> {
    let ask = search.ask;
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
    if reasons.is_empty() {
        reasons = of_texts(search, has_kinds)?;
    }
    Ok(reasons)
}

/// What the indexed texts are, as far as filters ask.
#[derive(Default)]
struct TextSummary {
    kinds: Vec<Kind>,
    /// The times of the oldest and the newest text with a known time, in seconds since 1970.
    times: Option<(u64, u64)>,
    passes: bool,
}

impl TextSummary {
    fn of(search: &Search<'_>) -> Result<Self, Refusal> {
        let mut summary = Self::default();
        let looked = search.index.text.each(&mut |text| {
            if !summary.kinds.contains(&text.kind) {
                summary.kinds.push(text.kind);
            }
            if text.time > 0 {
                let (oldest, newest) = summary.times.unwrap_or((text.time, text.time));
                summary.times = Some((oldest.min(text.time), newest.max(text.time)));
            }
            summary.passes |= search.scope.has(text);
        });
        looked.map_err(|error| super::result_page::refused(&error.into()))?;
        Ok(summary)
    }
}

/// Names the filters by kind and time that leave no text, each alone or all together.
fn of_texts(search: &Search<'_>, has_kinds: bool) -> Result<Vec<String>, Refusal> {
    let ask = search.ask;
    let kinds = Some(&ask.kinds).filter(|kinds| has_kinds && kinds.len() < Kind::ALL.len());
    let period = ask.period.clone().unwrap_or(0..u64::MAX);
    let since = Some(period.start).filter(|start| *start > 0);
    let until = Some(period.end).filter(|end| *end < u64::MAX);
    if kinds.is_none() && since.is_none() && until.is_none() {
        return Ok(Vec::new());
    }
    let there = TextSummary::of(search)?;
    if there.passes || there.kinds.is_empty() {
        return Ok(Vec::new());
    }
    let mut reasons = Vec::new();
    let mut excludes = |name: &str, why: String| {
        reasons.push(format!("the filter `{name}` excludes everything: {why}"));
    };
    if let Some(kinds) = kinds
        && !kinds.iter().any(|kind| there.kinds.contains(kind))
    {
        let (wanted, known) = (kind_names(kinds), kind_names(&there.kinds));
        excludes(
            "kinds",
            format!("nothing of the kind {wanted} is recorded; there is {known}"),
        );
    }
    let time = |seconds: u64| format_time(seconds.saturating_mul(1_000_000));
    match (since, there.times) {
        (Some(since), Some((_, newest))) if newest < since => {
            excludes("since", format!("the newest text is of {}", time(newest)));
        }
        _ => {}
    }
    match (until, there.times) {
        (Some(until), Some((oldest, _))) if oldest >= until => {
            excludes("until", format!("the oldest text is of {}", time(oldest)));
        }
        _ => {}
    }
    if reasons.is_empty() {
        let given = [
            ("session", ask.session.is_some()),
            ("project", ask.project.is_some()),
            ("filters", ask.document_filter.is_some()),
            ("kinds", kinds.is_some()),
            ("since", since.is_some()),
            ("until", until.is_some()),
        ];
        let given = given.iter().filter(|(_, is_given)| *is_given);
        let names: Vec<String> = given.map(|(name, _)| format!("`{name}`")).collect();
        reasons.push(match names.as_slice() {
            [name] => format!("the filter {name} excludes everything"),
            names => format!("no text passes the filters {} together", names.join(", ")),
        });
    }
    Ok(reasons)
}

fn kind_names(kinds: &[Kind]) -> String {
    let name = |kind: &Kind| match serde_json::to_value(wire_kind(*kind)) {
        Ok(serde_json::Value::String(name)) => format!("`{name}`"),
        _ => String::new(),
    };
    let names: BTreeSet<String> = kinds.iter().map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(" or ")
}

/// One filter of a request: its name, its value as shown, and the request with this filter only.
type OneFilter = (&'static str, String, DocumentFilter);

fn of_documents(filter: &DocumentFilter, catalogue: &Catalogue) -> Vec<String> {
    if catalogue.is_empty() {
        return vec!["there are no documents; `add_source` adds a folder".to_owned()];
    }
    let has = |one: &DocumentFilter| catalogue.all().any(|entry| fits_with_chunks(entry, one));
    let each = each(filter);
    let mut reasons = Vec::new();
    for (name, value, one) in &each {
        if has(one) {
            continue;
        }
        // The value is the first part in code marks.
        let wanted = value.split('`').nth(1).unwrap_or_default();
        let near = nearest_names(wanted, known(name, catalogue));
        let hint = match near.is_empty() {
            true if *name == "chunk_range" => last_chunk(catalogue),
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

/// Says up to which number there are chunks.
fn last_chunk(catalogue: &Catalogue) -> String {
    let most = catalogue.all().map(|entry| entry.row.taken.chunks).max();
    match most.and_then(|count| count.checked_sub(1)) {
        Some(last) => format!("; chunks are numbered from 0, and the highest is {last}"),
        None => "; no document has a chunk".to_owned(),
    }
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
    if let Some(pattern) = &filter.pattern {
        let one = DocumentFilter {
            pattern: Some(pattern.clone()),
            ..none()
        };
        let shown = match pattern {
            Pattern::Exactly(name) => format!("a chunk `{name}`"),
            Pattern::Beginning(beginning) => format!("a chunk `{beginning}*`"),
        };
        each.push(("chunk_pattern", shown, one));
    }
    if let Some(range) = &filter.range {
        let one = DocumentFilter {
            range: Some(range.clone()),
            ..none()
        };
        let (start, end) = (range.start(), range.end());
        each.push(("chunk_range", format!("a chunk {start} to {end}"), one));
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
            "chunk_pattern" => vec![chunk_index(entry.row.file_name(), 0)],
            _ => Vec::new(),
        }
    });
    of.collect()
}
