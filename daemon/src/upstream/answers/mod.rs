//! Reads what a tool answered: which of its objects is meant, or that there is none.
//!
//! Servers answer in many shapes: structured or as text, a list or pages of one, wrapped in `result`
//! or `data`, JSON within a text within JSON, an error that says it is none.

use serde_json::{Map, Value};

use super::phrases::quoted;

/// The most bytes of an object that are kept.
const DATA_BYTES_MAX: usize = 64 << 10;
/// The longest id, name or slug that is taken, in bytes.
const TEXT_BYTES_MAX: usize = 1024;
/// The longest text that may say that there is nothing, in bytes.
const NONE_BYTES_MAX: usize = 300;
/// How deep an object is looked for: a list in `result` in a text in `result`.
const DEPTH_MAX: usize = 4;

/// Fields that name an object, the best first.
const NAMES: [&str; 4] = ["name", "display", "address", "slug"];
/// Fields in which servers wrap what they found.
const WRAPPERS: [&str; 4] = ["results", "result", "data", "items"];

/// What a resolver found for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name as the server writes it.
    pub name: String,
    /// Its id there.
    pub id: Option<String>,
    /// Its slug there.
    pub slug: Option<String>,
    /// The object as JSON, at most 64 KiB.
    pub data: String,
    /// Fields that were left out of `data`, since with them it would be too long.
    pub left_out: Vec<String>,
}

/// What a tool answered, as the protocol has it.
#[derive(Debug, Default)]
pub struct Answer {
    /// The structured content.
    pub structured: Option<Value>,
    /// Each text of the content.
    pub texts: Vec<String>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

impl Answer {
    /// The object that is meant by `name`, or `None` when the server knows none. `wants_one` says
    /// that it was asked for one alone.
    ///
    /// # Errors
    /// Why the answer is none, as the end of a sentence.
    pub fn candidate(&self, name: &str, wants_one: bool) -> Result<Option<Candidate>, String> {
        if self.is_error {
            return Err(failed(self.texts.first().map_or("", String::as_str)));
        }
        let mut objects = Vec::new();
        match &self.structured {
            Some(value) => collect(value.clone(), 0, &mut objects)?,
            None if self.texts.is_empty() => return Err("answered nothing at all".to_owned()),
            // Some servers send a list as one text for each of its objects.
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

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let names: usize = self.left_out.iter().map(String::len).sum();
        self.name.len() + self.data.len() + names + 256
    }
}

/// The object as text, without its largest fields when it is too long.
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
        // A key may be long itself.
        left_out.push(quoted(&key));
    }
    (Value::Object(object).to_string(), left_out)
}

/// Whether one of an object's names is this one; an address also without the length of its prefix.
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

/// Adds the objects within a value.
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
    // What has a name is an object, whatever else it has.
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
    // One that has nothing but an id is an object, too; an empty one is none.
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

/// Whether a text says that there is nothing: "No devices match", "Device x not found."
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
