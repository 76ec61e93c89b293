//! Interprets a tool's response: finds the matching object, or that there is none.
//!
//! Servers respond in many shapes: structured or as text, a list or a page of one, wrapped in `result` or `data`,
//! JSON in a text in JSON, or an error that means "not found".

use serde_json::{Map, Value};

use super::phrases::quoted;

/// Limit on the stored bytes of an object.
const DATA_BYTES_MAX: usize = 64 << 10;
/// Limit on an id, name or slug, in bytes.
const TEXT_BYTES_MAX: usize = 1024;
/// Limit on a text that is interpreted as "not found", in bytes.
const NONE_BYTES_MAX: usize = 300;
/// Limit on the nesting of an object: a list in `result` in a text in `result`.
const DEPTH_MAX: usize = 4;

/// Fields that name an object, the best first.
const NAMES: [&str; 4] = ["name", "display", "address", "slug"];
/// Fields in which servers wrap results.
const WRAPPERS: [&str; 4] = ["results", "result", "data", "items"];

/// A resolver's match for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Name as the server writes it.
    pub name: String,
    /// Id on the server.
    pub id: Option<String>,
    /// Slug on the server.
    pub slug: Option<String>,
    /// Object as JSON, at most 64 KiB.
    pub data: String,
    /// Fields omitted from `data` to keep it within the limit.
    pub left_out: Vec<String>,
}

/// A tool's response in MCP's form.
#[derive(Debug, Default)]
pub struct Answer {
    /// Structured content.
    pub structured: Option<Value>,
    /// Texts of the content.
    pub texts: Vec<String>,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}

impl Answer {
    /// Returns the object that matches `name`, or `None` when the server knows none. `wants_one`: the request was for
    /// exactly one object.
    ///
    /// # Errors
    /// The reason why the response is unusable, as the end of a sentence.
    pub fn candidate(&self, name: &str, wants_one: bool) -> Result<Option<Candidate>, String> {
        if self.is_error {
            return Err(failed(self.texts.first().map_or("", String::as_str)));
        }
        let mut objects = Vec::new();
        match &self.structured {
            Some(value) => collect(value.clone(), 0, &mut objects)?,
            None if self.texts.is_empty() => return Err("answered nothing at all".to_owned()),
            // Some servers send a list as one text per object.
            None => {
                for text in &self.texts {
                    collect_text(text, 0, &mut objects)?;
                }
            }
        }
        let is_only = wants_one && objects.len() == 1;
        let found = objects
            .iter()
            .position(|object| is_named(object, name))
            .or(is_only.then_some(0));
        match found {
            Some(at) => Ok(Some(Candidate::of(objects.swap_remove(at), name))),
            None => Ok(None),
        }
    }
}

impl Candidate {
    fn of(object: Map<String, Value>, asked: &str) -> Self {
        let text = |key: &str| {
            let text = match object.get(key)? {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
            };
            (!text.is_empty() && text.len() <= TEXT_BYTES_MAX).then_some(text)
        };
        let name = NAMES.into_iter().find_map(text);
        let (id, slug) = (text("id"), text("slug"));
        let (data, left_out) = bounded(object);
        Self {
            name: name.unwrap_or_else(|| asked.to_owned()),
            id,
            slug,
            data,
            left_out,
        }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let names: usize = self.left_out.iter().map(String::len).sum();
        self.name.len() + self.data.len() + names + 256
    }
}

/// Serialises the object, without its largest fields if it is too long.
fn bounded(object: Map<String, Value>) -> (String, Vec<String>) {
    let mut fields: Vec<(String, usize)> = object
        .iter()
        .map(|(key, value)| (key.clone(), key.len() + value.to_string().len() + 4))
        .collect();
    fields.sort_by_key(|(_, bytes)| *bytes);
    let mut bytes: usize = 2 + fields.iter().map(|(_, bytes)| bytes).sum::<usize>();
    let mut object = object;
    let mut left_out = Vec::new();
    while bytes > DATA_BYTES_MAX
        && let Some((key, its)) = fields.pop()
    {
        object.shift_remove(&key);
        bytes -= its;
        // A key may be long as well.
        left_out.push(quoted(&key));
    }
    (Value::Object(object).to_string(), left_out)
}

/// Returns whether one of an object's names is this one; an address also matches without its prefix length.
fn is_named(object: &Map<String, Value>, name: &str) -> bool {
    let name = name.trim().to_lowercase();
    NAMES.iter().any(|key| {
        let Some(Value::String(text)) = object.get(*key) else {
            return false;
        };
        let text = text.trim().to_lowercase();
        text == name || *key == "address" && text.split('/').next() == Some(name.as_str())
    })
}

/// Collects the objects within a value.
fn collect(value: Value, depth: usize, into: &mut Vec<Map<String, Value>>) -> Result<(), String> {
    if depth > DEPTH_MAX {
        return Err("answered objects that lie too deep".to_owned());
    }
    match value {
        Value::Null => Ok(()),
        Value::Array(values) => values
            .into_iter()
            .try_for_each(|value| collect(value, depth + 1, into)),
        Value::Object(object) => collect_object(object, depth, into),
        Value::String(text) => collect_text(&text, depth + 1, into),
        Value::Bool(_) | Value::Number(_) => Err(format!(
            "answered {}, which is not an object",
            quoted(&value.to_string())
        )),
    }
}

fn collect_object(
    mut object: Map<String, Value>,
    depth: usize,
    into: &mut Vec<Map<String, Value>>,
) -> Result<(), String> {
    // A value with a name is an object, whatever else it contains.
    if NAMES
        .iter()
        .any(|key| object.get(*key).is_some_and(Value::is_string))
    {
        into.push(object);
        return Ok(());
    }
    for key in ["error", "detail"] {
        match object.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::String(text)) if says_not_found(text) => return Ok(()),
            Some(Value::String(text)) => return Err(failed(text)),
            Some(other) => return Err(failed(&other.to_string())),
        }
    }
    for key in WRAPPERS {
        if let Some(inner) = object.shift_remove(key) {
            return collect(inner, depth + 1, into);
        }
    }
    // A value with only an id is an object as well; an empty one is not.
    if object.contains_key("id") {
        into.push(object);
        return Ok(());
    }
    match object.len() {
        0 => Ok(()),
        _ => Err("answered an object without a name".to_owned()),
    }
}

fn collect_text(
    text: &str,
    depth: usize,
    into: &mut Vec<Map<String, Value>>,
) -> Result<(), String> {
    match serde_json::from_str(text) {
        Ok(value) => collect(value, depth, into),
        Err(_) if text.trim_start().to_lowercase().starts_with("error") => Err(failed(text)),
        Err(_) if text.trim().is_empty() || says_none(text) => Ok(()),
        Err(_) => Err(format!("answered no JSON but \"{}\"", quoted(text))),
    }
}

/// Returns whether a text means "not found": "No devices match", "Device x not found."
fn says_none(text: &str) -> bool {
    let is_none = text.trim_start().to_lowercase().starts_with("no ");
    is_none && text.len() <= NONE_BYTES_MAX || says_not_found(text)
}

fn says_not_found(text: &str) -> bool {
    let text = text.trim().trim_end_matches('.').to_lowercase();
    text.ends_with("not found") && text.len() <= NONE_BYTES_MAX
}

fn failed(text: &str) -> String {
    match text.trim() {
        "" => "answered an error without a word".to_owned(),
        text => format!("answered an error: {}", quoted(text)),
    }
}

#[cfg(test)]
mod tests;
