//! Validation of requests and conversion from protocol types.

use lore::protocol::search::{Filters, FusionKind, SearchType};
use serde_json::{Map, Value};

use crate::documents::operations::content::check_range;
use crate::error::Refusal;
use crate::search::metadata::Condition;
use crate::search::request::{DocumentFilter, Fusing, Mode, Pattern, plain_type};

/// Maximum number of values of one filter.
const VALUES_MAX: usize = 1000;

/// Converts a search type from the protocol.
#[must_use]
pub fn mode(search_type: SearchType) -> Mode {
    match search_type {
        SearchType::Text => Mode::Text,
        SearchType::Vector => Mode::Vector,
        SearchType::Hybrid => Mode::Hybrid,
        SearchType::Semantic => Mode::Semantic,
    }
}

/// Converts a search mode to the protocol.
#[must_use]
pub fn search_type(mode: Mode) -> SearchType {
    match mode {
        Mode::Text => SearchType::Text,
        Mode::Vector => SearchType::Vector,
        Mode::Hybrid => SearchType::Hybrid,
        Mode::Semantic => SearchType::Semantic,
    }
}

/// Converts a fusion method from the protocol.
#[must_use]
pub fn fusing(fusion: FusionKind) -> Fusing {
    match fusion {
        FusionKind::ZScores => Fusing::ZScores,
        FusionKind::Rrf => Fusing::ReciprocalRanks,
    }
}

/// Validates filters; `None` if they select everything.
pub fn document_filter(filters: Filters) -> Result<Option<DocumentFilter>, Refusal> {
    for (name, list) in [
        ("context_id", &filters.context_id),
        ("category", &filters.category),
        ("tags", &filters.tags),
    ] {
        if list.len() > VALUES_MAX {
            return Err(Refusal::invalid(format!(
                "filter `{name}` has {} values; at most {VALUES_MAX} are allowed",
                list.len()
            )));
        }
    }
    let range = filters.chunk_range.map(|range| {
        check_range(range)?;
        Ok::<_, Refusal>(range.start..=range.end)
    });
    let mut conditions = Vec::new();
    for (beginning, fields) in [
        ("", filters.custom_metadata),
        ("content_analysis", filters.content_analysis),
    ] {
        for (name, value) in fields.unwrap_or_default() {
            add(&mut conditions, beginning, &name, value)?;
        }
    }
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let document_filter = DocumentFilter {
        context_ids: filters.context_id,
        context: None,
        context_name: given(filters.context_name),
        categories: filters.category,
        file_name: given(filters.file_name),
        file_type: given(filters.file_type).map(|one| plain_type(&one)),
        tags: filters.tags,
        pattern: given(filters.chunk_pattern).map(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => Pattern::Beginning(beginning.to_owned()),
            None => Pattern::Exactly(pattern),
        }),
        range: range.transpose()?,
        conditions,
    };
    Ok((document_filter != DocumentFilter::default()).then_some(document_filter))
}

/// Adds a condition on a metadata field; for an object that is not a range, one for each of its fields.
fn add(
    conditions: &mut Vec<(String, Condition)>,
    beginning: &str,
    name: &str,
    value: Value,
) -> Result<(), Refusal> {
    let path = match beginning {
        "" => name.to_owned(),
        beginning => format!("{beginning}.{name}"),
    };
    match value {
        Value::Object(fields) if !Condition::is_range(&fields) => {
            let fields: Map<String, Value> = fields;
            for (name, value) in fields {
                add(conditions, &path, &name, value)?;
            }
        }
        value => {
            let condition = Condition::of(&path, value)?;
            conditions.push((path, condition));
        }
    }
    Ok(())
}
