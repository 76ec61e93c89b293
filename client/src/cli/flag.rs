//! Flags and positional arguments as values: the accepted input, the help text and the operation argument
//! that they map to.

use lore::protocol::{CheckpointId, Serialize, SessionId};
use serde_json::Value;

use super::Failure;
use super::input;

/// A flag, or a positional argument.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Long flag without dashes, or id of a positional argument.
    pub name: &'static str,
    /// Name of its value in help.
    pub value: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// Accepted input.
    pub kind: Kind,
    /// Whether it is a positional argument.
    pub is_positional: bool,
    /// Operation argument; empty when the command reads the flag itself.
    pub argument: &'static str,
    /// Short form of the flag.
    pub short: Option<char>,
    /// Whether the command requires it.
    pub is_required: bool,
    /// Flag whose absence makes this flag required.
    pub required_unless: &'static str,
    /// Default value.
    pub default: &'static str,
    /// Flags that exclude it.
    pub conflicts: &'static [&'static str],
    /// Flag that must accompany it.
    pub requires: &'static str,
    /// Whether the value may begin with a dash.
    pub allows_dash: bool,
}

/// Accepted input of a flag, and its mapping to an operation argument.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// No value; the argument is `true`.
    Switch,
    /// No value; the argument is this word.
    Word(&'static str),
    /// A text.
    Text,
    /// A repeatable text.
    Texts,
    /// One or more words, joined into one text.
    Words,
    /// Repeatable texts, also separated by commas.
    Commas,
    /// A text, or `-` for standard input.
    TextOrInput,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of these words, each with its help.
    Choice(&'static [(&'static str, &'static str)]),
    /// One of these words, repeatable.
    Choices(&'static [(&'static str, &'static str)]),
    /// A position or an RFC 3339 time.
    Moment,
    /// The id of a session.
    Session,
    /// The id of a checkpoint.
    Checkpoint,
    /// A JSON object.
    Object,
    /// `NAME=JSON`, repeatable.
    Preferences,
    /// A path that the command itself reads.
    Path,
    /// A folder; the current folder if the flag has no value.
    FolderOrHere,
    /// All remaining words, for another program.
    Rest,
    /// A list of MCP tools to expose.
    Tools,
}

impl Flag {
    const fn new(name: &'static str, value: &'static str, help: &'static str, kind: Kind) -> Self {
        Self {
            name,
            value,
            help,
            kind,
            is_positional: false,
            argument: name,
            short: None,
            is_required: false,
            required_unless: "",
            default: "",
            conflicts: &[],
            requires: "",
            allows_dash: false,
        }
    }

    /// Creates a flag without a value, which sends `true`.
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "", help, Kind::Switch)
    }

    /// Creates a flag with a text.
    pub const fn text(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Text)
    }

    /// Creates a repeatable flag with a text.
    pub const fn texts(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Texts)
    }

    /// Creates a flag with a number.
    pub const fn number(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Number)
    }

    /// Creates a flag with a value of this kind.
    pub const fn of(
        kind: Kind,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, value, help, kind)
    }

    /// Creates a positional argument, required by default.
    pub const fn positional(
        kind: Kind,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        let mut flag = Self::new(name, value, help, kind);
        flag.is_positional = true;
        flag.is_required = true;
        flag
    }

    /// Maps the flag to this operation argument.
    pub const fn sends(mut self, argument: &'static str) -> Self {
        self.argument = argument;
        self
    }

    /// Marks the flag as read by the command itself.
    pub const fn local(mut self) -> Self {
        self.argument = "";
        self
    }

    /// Adds a short form.
    pub const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    /// Makes the flag required.
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Makes the flag optional.
    pub const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    /// Requires either this flag or `other`.
    pub const fn unless(mut self, other: &'static str) -> Self {
        self.is_required = false;
        self.required_unless = other;
        self
    }

    /// Sets the default value.
    pub const fn default(mut self, default: &'static str) -> Self {
        self.is_required = false;
        self.default = default;
        self
    }

    /// Sets the flags that exclude it.
    pub const fn conflicts(mut self, others: &'static [&'static str]) -> Self {
        self.conflicts = others;
        self
    }

    /// Sets the flag that must accompany it.
    pub const fn requires(mut self, other: &'static str) -> Self {
        self.requires = other;
        self
    }

    /// Allows values that begin with a dash.
    pub const fn allows_dash(mut self) -> Self {
        self.allows_dash = true;
        self
    }

    /// Returns the name of the operation argument.
    pub fn argument_name(&self) -> String {
        self.argument.replace('-', "_")
    }

    fn label(&self) -> String {
        match self.is_positional {
            true => self.value.to_owned(),
            false => format!("--{}", self.name),
        }
    }

    /// Adds the argument with this value.
    pub fn put(
        &self,
        value: &(impl Serialize + ?Sized),
        fields: &mut Fields,
    ) -> Result<(), Failure> {
        fields.put(&self.argument_name(), value)
    }

    /// Adds the argument if there is a value.
    pub fn put_some(
        &self,
        value: Option<&(impl Serialize + ?Sized)>,
        fields: &mut Fields,
    ) -> Result<(), Failure> {
        value.map_or(Ok(()), |value| self.put(value, fields))
    }

    /// Adds the argument for one text.
    pub fn put_one(&self, text: &str, fields: &mut Fields) -> Result<(), Failure> {
        match self.kind {
            Kind::Moment => self.put(&input::moment(&self.label(), text)?, fields),
            Kind::Session => self.put(&input::id::<SessionId>(text)?, fields),
            Kind::Checkpoint => self.put(&input::id::<CheckpointId>(text)?, fields),
            Kind::Object => self.put(&input::object(&self.label(), text)?, fields),
            Kind::TextOrInput => {
                let what = format!("the {}", self.argument_name());
                self.put(&input::text(&what, text)?, fields)
            }
            _ => self.put(text, fields),
        }
    }

    /// Adds the argument for several texts.
    pub fn put_all(&self, texts: &[&str], fields: &mut Fields) -> Result<(), Failure> {
        match self.kind {
            Kind::Words => self.put(&texts.join(" "), fields),
            Kind::Preferences => self.put(&input::preferences(texts)?, fields),
            _ => self.put(texts, fields),
        }
    }
}

/// Arguments of an operation: a JSON object written member by member, so that a context is sent byte for byte.
#[derive(Debug, Default, Clone)]
pub struct Fields(String);

impl Fields {
    /// Adds a member.
    pub fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
        let value = serde_json::to_string(value);
        let value = value.map_err(|error| Failure::Usage(error.to_string()))?;
        self.put_raw(name, &value);
        Ok(())
    }

    /// Adds a member if there is a value.
    pub fn put_some(
        &mut self,
        name: &str,
        value: Option<&(impl Serialize + ?Sized)>,
    ) -> Result<(), Failure> {
        value.map_or(Ok(()), |value| self.put(name, value))
    }

    /// Adds a member whose value is already JSON.
    pub fn put_raw(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0 += &Value::from(name).to_string();
        self.0.push(':');
        self.0 += json;
    }

    /// Adds a member whose value is an object.
    pub fn put_fields(&mut self, name: &str, fields: Self) {
        self.put_raw(name, &fields.into_text());
    }

    /// Returns the object as JSON.
    pub fn into_json(self) -> Vec<u8> {
        self.into_text().into_bytes()
    }

    fn into_text(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0 + "}"
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_a_json_object() {
        assert_eq!(Fields::default().into_json(), b"{}");
        let mut fields = Fields::default();
        fields.put("a", "x\"").ok().unwrap();
        fields.put_raw("b", "{\"n\": 1.10}");
        fields.put_some("c", None::<&u64>).ok().unwrap();
        assert_eq!(fields.into_json(), br#"{"a":"x\"","b":{"n": 1.10}}"#);
    }
}
