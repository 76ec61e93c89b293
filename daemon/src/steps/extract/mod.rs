//! Extraction of values from a result: ids, dates, numbers, JSON, addresses and the types of registered extractors.
//!
//! Extraction reads the flat text of a result and its fields once each, in linear time. It depends only on the
//! result and the set: a repeated extraction gives the same values in the same order, byte for byte.

mod date;
mod email;
mod id;
mod json;
mod mappings;
mod number;
mod other;
mod registration;
mod search;
mod set;
mod span;
mod url;

pub use mappings::{FieldForm, MAPPINGS};
pub use registration::{
    COMPILED_BYTES_MAX, Extractor, FieldMapping, NAME_BYTES_MAX, PATTERN_BYTES_MAX, REGISTERED_MAX,
    RegistrationError, WORDS_MAX,
};
pub use set::{Aliases, BUILT_IN, ExtractorSet, Type};

use super::parse::{self, NodeId, Nodes, ParsedResult};
use search::{Search, custom_finds, mined};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use span::{OccupiedSpans, Spans};

/// Maximum part of a result that is searched, in bytes of its flat text.
pub const MINED_BYTES_MAX: usize = 4 << 20;

/// The values extracted from one result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractedValues {
    /// The types in extraction order, each with its values.
    pub types: Vec<TypeValues>,
    /// Number of bytes searched, if the result was too large to be searched completely.
    pub searched_bytes: Option<u64>,
}

/// The values of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeValues {
    /// Type name.
    pub name: String,
    /// Distinct values, in extraction order.
    pub values: Vec<Extract>,
}

/// One extracted value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// Byte offset in the raw result.
    pub offset: u32,
    /// The value itself.
    pub form: ValueForm,
}

/// The form of an extracted value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueForm {
    /// Text.
    Text(String),
    /// A number, as its digits.
    Number(String),
    /// An object or array, as its node in the parsed result.
    Json(NodeId),
}

impl Extract {
    /// Returns the value as JSON. `parsed` is the result that it was extracted from.
    #[must_use]
    pub fn value(&self, parsed: &ParsedResult) -> Value {
        match &self.form {
            ValueForm::Text(text) => Value::String(text.clone()),
            ValueForm::Number(digits) => parse::number(digits),
            ValueForm::Json(node) => parsed.nodes().value(*node),
        }
    }

    /// Returns the memory that the value takes, in bytes.
    #[must_use]
    pub fn held_bytes(&self, nodes: &Nodes) -> usize {
        match &self.form {
            ValueForm::Text(text) | ValueForm::Number(text) => text.len() + size_of::<Value>(),
            ValueForm::Json(node) => nodes.held_bytes(*node),
        }
    }
}

impl ExtractedValues {
    /// Returns the values of the type with exactly this name.
    #[must_use]
    pub fn of(&self, name: &str) -> &[Extract] {
        let found = self.types.iter().find(|found| found.name == name);
        found.map_or(&[], |found| found.values.as_slice())
    }
}

/// Extracts the values of all types in `set` from a result.
#[must_use]
pub fn extract(parsed: &ParsedResult, set: &ExtractorSet) -> ExtractedValues {
    let (spans, searched_bytes) = mined(parsed);
    let mut search = Search::new(parsed, spans, searched_bytes.is_some());
    let types = set.types().map(|(name, of)| TypeValues {
        name: name.to_owned(),
        values: search.values(set, of),
    });
    ExtractedValues {
        types: types.collect(),
        searched_bytes,
    }
}

/// Returns the number of bytes that are searched, if a result is too large to be searched completely.
#[must_use]
pub fn searched_bytes(parsed: &ParsedResult) -> Option<u64> {
    match parsed.nodes().flat().text().len() > MINED_BYTES_MAX {
        true => mined(parsed).1,
        false => None,
    }
}

/// Returns the first value of a type in `text`, and whether it makes up the whole text apart from punctuation.
#[must_use]
pub fn find_in(set: &ExtractorSet, of: Type, text: &str) -> Option<(ValueForm, bool)> {
    let range = match of {
        Type::Id => FormMatches::of(text).ids.into_iter().next(),
        Type::Date => date::find(text).into_iter().next(),
        Type::Number => FormMatches::of(text).numbers.into_iter().next(),
        Type::Json => return None,
        Type::Url => url::find(text).into_iter().next(),
        Type::Email => email::find(text, &url::find(text)).into_iter().next(),
        Type::Custom(at) => set
            .custom
            .get(at)
            .and_then(|custom| custom_finds(custom, text).into_iter().next()),
    }?;
    let found = text.get(range.clone())?;
    let before = text.get(..range.start)?.trim();
    let after = text.get(range.end..)?;
    let is_whole = before
        .trim_start_matches(['#', '<', '"', '\'', '('])
        .is_empty()
        && after
            .chars()
            .all(|c| c.is_whitespace() || c.is_ascii_punctuation());
    let form = match of {
        Type::Number => ValueForm::Number(number::digits_of(found)),
        Type::Id | Type::Date | Type::Json | Type::Url | Type::Email | Type::Custom(_) => {
            ValueForm::Text(found.to_owned())
        }
    };
    Some((form, is_whole))
}

/// The matches of all finders in one piece of text.
struct FormMatches {
    /// UUIDs, references and runs of digits, in the order of the text.
    ids: Spans,
    dates: Spans,
    numbers: Spans,
    urls: Spans,
    emails: Spans,
}

impl FormMatches {
    fn of(text: &str) -> FormMatches {
        let urls = url::find(text);
        let emails = email::find(text, &urls);
        let dates = date::find(text);
        let uuids = OccupiedSpans::of(&[&urls, &emails]).rest_of(id::uuids(text));
        let taken = OccupiedSpans::of(&[&urls, &emails, &dates, &uuids, &other::find(text)]);
        let references = taken.rest_of(id::references(text));
        let runs = taken.rest_of(id::runs(text));
        let numbers = taken.rest_of(number::find(text, &taken));
        let mut ids = uuids;
        ids.extend(references);
        ids.extend(runs);
        ids.sort_unstable_by_key(|span| (span.start, span.end));
        FormMatches {
            ids,
            numbers,
            dates,
            urls,
            emails,
        }
    }
}

#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
