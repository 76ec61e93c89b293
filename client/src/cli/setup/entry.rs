//! The entry that makes a host start this program, and its comparison with an existing entry.

use std::path::Path;

use serde_json::{Map, Value};

/// Name of the entry in every host's file.
pub const NAME: &str = "lore";

/// Fields of an entry, in the order of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry(pub Vec<Field>);

/// A field of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name of the field.
    pub key: &'static str,
    /// Intended value.
    pub words: FieldText,
    /// Whether the value is mandatory; otherwise an existing value stays.
    pub is_fixed: bool,
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldText {
    /// A text.
    One(String),
    /// A list of texts.
    Many(Vec<String>),
}

/// Result of the comparison of an existing entry with ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallState {
    /// It contains all of our values.
    Same,
    /// It starts this program with other values.
    Other,
    /// It starts another program, described for people.
    Foreign(String),
}

impl From<&str> for FieldText {
    fn from(word: &str) -> Self {
        Self::One(word.to_owned())
    }
}

impl From<String> for FieldText {
    fn from(word: String) -> Self {
        Self::One(word)
    }
}

impl From<Vec<String>> for FieldText {
    fn from(words: Vec<String>) -> Self {
        Self::Many(words)
    }
}

impl FieldText {
    /// Returns the value as JSON.
    pub fn json(&self) -> Value {
        match self {
            Self::One(word) => Value::from(word.as_str()),
            Self::Many(words) => Value::from(words.clone()),
        }
    }
}

impl Field {
    /// Creates a field with a mandatory value.
    pub fn fixed(key: &'static str, words: impl Into<FieldText>) -> Self {
        Self {
            key,
            words: words.into(),
            is_fixed: true,
        }
    }

    /// Creates a field with an initial value that does not replace an existing one.
    pub fn at_first(key: &'static str, words: impl Into<FieldText>) -> Self {
        Self {
            is_fixed: false,
            ..Self::fixed(key, words)
        }
    }
}

impl Entry {
    /// Returns the entry as a JSON object.
    pub fn json(&self) -> Value {
        let fields = self.0.iter();
        let pairs = fields.map(|field| (field.key.to_owned(), field.words.json()));
        Value::Object(pairs.collect::<Map<_, _>>())
    }

    /// Compares an existing entry with this one.
    pub fn compare(&self, present: &Value) -> InstallState {
        let command = command_of(present);
        if !is_ours(&command) {
            return InstallState::Foreign(match command.as_slice() {
                [] => "is not a local program".to_owned(),
                words => format!("runs `{}`", words.join(" ")),
            });
        }
        let says_so = |field: &Field| match present.get(field.key) {
            Some(said) => !field.is_fixed || *said == field.words.json(),
            None => false,
        };
        match self.0.iter().all(says_so) {
            true => InstallState::Same,
            false => InstallState::Other,
        }
    }
}

/// Returns the program and its arguments: from a text and a list, or from one list as in opencode.
fn command_of(entry: &Value) -> Vec<String> {
    let texts = |value: Option<&Value>| -> Vec<String> {
        let values = value.and_then(Value::as_array);
        let texts = values.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    match entry.get("command") {
        Some(Value::String(command)) => std::iter::once(command.clone())
            .chain(texts(entry.get("args")))
            .collect(),
        command => texts(command),
    }
}

/// Returns whether a command starts the bridge, from any location of this program.
fn is_ours(command: &[String]) -> bool {
    command.split_first().is_some_and(|(program, arguments)| {
        let name = Path::new(program).file_name();
        name.is_some_and(|name| name == NAME) && arguments.iter().any(|word| word == "mcp")
    })
}
