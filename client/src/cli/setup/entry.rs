//! The entry that makes a host start this program, and how one that is there compares with it.

use std::path::Path;

use serde_json::{Map, Value};

/// What the entry is called in every host's file.
pub const NAME: &str = "lore";

/// The fields of an entry, in the order they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry(pub Vec<Field>);

/// One field of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub key: &'static str,
    /// What it should say.
    pub words: FieldText,
    /// Whether it must say so: otherwise what is there already stays.
    pub is_fixed: bool,
}

/// What a field says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldText {
    /// A text.
    One(String),
    /// A list of texts.
    Many(Vec<String>),
}

/// How an entry that is there compares with ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallState {
    /// It says all that ours does.
    Same,
    /// It starts this program, but otherwise.
    Other,
    /// It is somebody else's: what it runs, for people.
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
    /// As JSON.
    pub fn json(&self) -> Value {
        match self {
            Self::One(word) => Value::from(word.as_str()),
            Self::Many(words) => Value::from(words.clone()),
        }
    }
}

impl Field {
    /// One that has to say just this.
    pub fn fixed(key: &'static str, words: impl Into<FieldText>) -> Self {
        Self {
            key,
            words: words.into(),
            is_fixed: true,
        }
    }

    /// One that is written where there is none.
    pub fn at_first(key: &'static str, words: impl Into<FieldText>) -> Self {
        Self {
            is_fixed: false,
            ..Self::fixed(key, words)
        }
    }
}

impl Entry {
    /// As a JSON object.
    pub fn json(&self) -> Value {
        let fields = self.0.iter();
        let pairs = fields.map(|field| (field.key.to_owned(), field.words.json()));
        Value::Object(pairs.collect::<Map<_, _>>())
    }

    /// Compares one that is there.
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

/// The program and its arguments: a text and a list, or all in one list, as opencode has it.
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

/// Whether a command starts the bridge, wherever this program lies.
fn is_ours(command: &[String]) -> bool {
    command.split_first().is_some_and(|(program, arguments)| {
        let name = Path::new(program).file_name();
        name.is_some_and(|name| name == NAME) && arguments.iter().any(|word| word == "mcp")
    })
}
