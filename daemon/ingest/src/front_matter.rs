//! Front matter: the metadata before a document's text.

use super::yaml::{self, YamlError};
use super::{FrontMatter, Warning};
use serde_json::{Map, Number, Value};

/// Limit on front matter, in bytes; a longer block is text.
const BYTES_MAX: usize = 64 << 10;

/// Result of reading front matter.
pub(super) struct FrontMatterBlock {
    pub front: FrontMatter,
    /// Start of the content: 0 if there is no front matter or it is invalid.
    pub content: usize,
    pub warnings: Vec<Warning>,
}

/// Reads YAML between `---` lines, or TOML between `+++` lines, at the very beginning of a text. Invalid front
/// matter stays in the content, with a warning.
pub(super) fn read(text: &str) -> FrontMatterBlock {
    let mut found = FrontMatterBlock {
        front: FrontMatter::default(),
        content: 0,
        warnings: Vec::new(),
    };
    let Some((fence, inner, content)) = fenced(text) else {
        return found;
    };
    let fields = match fence {
        Fence::Yaml => yaml::mapping(inner),
        Fence::Toml => toml_table(inner),
    };
    match fields {
        Ok(fields) => {
            found.content = content;
            found.front = sorted(fields, &mut found.warnings);
        }
        // The first line of the YAML is the second line of the file.
        Err(YamlError { line, reason }) => found.warnings.push(Warning {
            line: Some(line + 1),
            reason: format!("the front matter is taken as text: {reason}"),
        }),
    }
    found
}

#[derive(Clone, Copy)]
enum Fence {
    Yaml,
    Toml,
}

/// Returns the fence, the text within it, and the offset of the content after it.
fn fenced(text: &str) -> Option<(Fence, &str, usize)> {
    let (first, _) = text.split_once('\n')?;
    let fence = match first.trim_end() {
        "---" => Fence::Yaml,
        "+++" => Fence::Toml,
        _ => return None,
    };
    let start = first.len() + 1;
    let mut at = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        // A Markdown rule is followed by a blank line; front matter begins at once.
        if at == start && line.trim().is_empty() {
            return None;
        }
        let is_end = match fence {
            Fence::Yaml => matches!(line.trim_end(), "---" | "..."),
            Fence::Toml => line.trim_end() == "+++",
        };
        if is_end {
            return Some((fence, text.get(start..at)?, at + line.len()));
        }
        at += line.len();
        if at > BYTES_MAX {
            return None;
        }
    }
    None
}

fn toml_table(text: &str) -> Result<Map<String, Value>, YamlError> {
    let table = text.parse::<toml::Table>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or_default();
        YamlError {
            line: before.matches('\n').count() + 1,
            reason: error.message().to_owned(),
        }
    })?;
    Ok(table
        .into_iter()
        .map(|(key, value)| (key, from_toml(value)))
        .collect())
}

/// Converts a TOML value. The recursion is safe, because the TOML parser limits the nesting.
fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::Number(number.into()),
        toml::Value::Float(number) => match Number::from_f64(number) {
            Some(number) => Value::Number(number),
            None => Value::String(number.to_string()),
        },
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(list) => Value::Array(list.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => {
            let fields = table.into_iter();
            Value::Object(fields.map(|(key, value)| (key, from_toml(value))).collect())
        }
    }
}

/// Splits the fields into known ones and custom metadata.
fn sorted(fields: Map<String, Value>, warnings: &mut Vec<Warning>) -> FrontMatter {
    let mut front = FrontMatter::default();
    for (key, value) in fields {
        let slot = match key.as_str() {
            "title" => &mut front.title,
            "category" => &mut front.category,
            "context_id" => &mut front.context_id,
            "context_name" => &mut front.context_name,
            "tags" => {
                match tags(&value) {
                    Some(tags) => front.tags = tags,
                    None => keep(&mut front.custom, key, value, warnings),
                }
                continue;
            }
            _ => {
                front.custom.insert(key, value);
                continue;
            }
        };
        match scalar(&value) {
            Some(text) => *slot = Some(text).filter(|text| !text.is_empty()),
            None => keep(&mut front.custom, key, value, warnings),
        }
    }
    front
}

/// Stores a known field with a value of the wrong type as custom metadata, with a warning.
fn keep(custom: &mut Map<String, Value>, key: String, value: Value, warnings: &mut Vec<Warning>) {
    let wanted = match key.as_str() {
        "tags" => "a list of texts, or a text with commas",
        _ => "a text",
    };
    warnings.push(Warning {
        line: None,
        reason: format!(
            "`{key}` in the front matter is not {wanted}; it is kept as custom metadata"
        ),
    });
    custom.insert(key, value);
}

/// Returns a scalar as text; null becomes an empty text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the distinct tags, in order.
fn tags(value: &Value) -> Option<Vec<String>> {
    let texts: Vec<String> = match value {
        Value::Array(list) => list.iter().map(scalar).collect::<Option<_>>()?,
        Value::Object(_) => return None,
        other => scalar(other)?.split(',').map(str::to_owned).collect(),
    };
    let mut tags: Vec<String> = Vec::new();
    for text in texts {
        let tag = text.trim().trim_start_matches('#').to_owned();
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Some(tags)
}

/// Converts a timestamp from the usual YAML form to ISO 8601: `2024-05-01 10:00:00` gets a `T`.
pub(super) fn moment(text: &str) -> Option<String> {
    let (date, time) = text.split_once(' ')?;
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let time = time.trim_start();
    let is_time = time.len() >= 5
        && time.bytes().enumerate().all(|(at, byte)| match at {
            2 | 5 => byte == b':',
            0..=7 => byte.is_ascii_digit(),
            _ => byte.is_ascii_digit() || b".+-:Zz ".contains(&byte),
        });
    (is_date && is_time).then(|| format!("{date}T{}", time.replace(' ', "")))
}
