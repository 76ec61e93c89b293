//! Flags and positional arguments as values: what the parser accepts, what help says, and which argument of the
//! operation they become.

use lore::protocol::{CheckpointId, Serialize, SessionId};
use serde_json::Value;

use super::Failure;
use super::input;

/// A flag, or a positional argument.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The long flag without dashes, or the id of a positional argument.
    pub name: &'static str,
    /// The name of its value in help.
    pub value: &'static str,
    /// A line of help.
    pub help: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it is a positional argument.
    pub is_positional: bool,
    /// The argument of the operation; empty when the command reads the flag itself.
    pub argument: &'static str,
    /// The short flag.
    pub short: Option<char>,
    /// Whether the command needs it.
    pub is_required: bool,
    /// The flag without which this one is required.
    pub required_unless: &'static str,
    /// What stands for it when it is absent.
    pub default: &'static str,
    /// Flags that exclude it.
    pub conflicts: &'static [&'static str],
    /// The flag that it needs.
    pub requires: &'static str,
    /// Whether the value may begin with a dash.
    pub allows_dash: bool,
}

/// What a flag takes, and how it becomes an argument of the operation.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Nothing; the argument is `true`.
    Switch,
    /// Nothing; the argument is this word.
    Word(&'static str),
    /// A text.
    Text,
    /// A text each time it is given.
    Texts,
    /// One or more words, which are joined to one text.
    Words,
    /// Texts that may also be separated by commas.
    Commas,
    /// A text, or `-` for standard input.
    TextOrInput,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of these words, each with its help.
    Choice(&'static [(&'static str, &'static str)]),
    /// One of these words each time it is given.
    Choices(&'static [(&'static str, &'static str)]),
    /// A position or an RFC 3339 time.
    Moment,
    /// The id of a session.
    Session,
    /// The id of a checkpoint.
    Checkpoint,
    /// A JSON object.
    Object,
    /// `NAME=JSON` each time it is given.
    Preferences,
    /// A path, for the command itself.
    Path,
    /// A folder, which may be left out after the flag: then it is the current one.
    FolderOrHere,
    /// All remaining words, for another program.
    Rest,
    /// A list of tools that MCP shows.
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

    /// A flag without a value, which sends `true`.
    pub const fn switch(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "", help, Kind::Switch)
    }

    /// A flag with a text.
    pub const fn text(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Text)
    }

    /// A flag with a text, which may be repeated.
    pub const fn texts(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Texts)
    }

    /// A flag with a number.
    pub const fn number(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, value, help, Kind::Number)
    }

    /// A flag with a value of some kind.
    pub const fn of(
        kind: Kind,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, value, help, kind)
    }

    /// A positional argument, required unless said otherwise.
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

    /// It becomes this argument of the operation.
    pub const fn sends(mut self, argument: &'static str) -> Self {
        self.argument = argument;
        self
    }

    /// The command reads it itself.
    pub const fn local(mut self) -> Self {
        self.argument = "";
        self
    }

    /// With a short form.
    pub const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    /// The command needs it.
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// It may be absent.
    pub const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    /// One of this and another flag is needed.
    pub const fn unless(mut self, other: &'static str) -> Self {
        self.is_required = false;
        self.required_unless = other;
        self
    }

    /// What stands for it when it is absent.
    pub const fn default(mut self, default: &'static str) -> Self {
        self.is_required = false;
        self.default = default;
        self
    }

    /// It excludes other flags.
    pub const fn conflicts(mut self, others: &'static [&'static str]) -> Self {
        self.conflicts = others;
        self
    }

    /// It needs another flag.
    pub const fn requires(mut self, other: &'static str) -> Self {
        self.requires = other;
        self
    }

    /// Its value may begin with a dash.
    pub const fn allows_dash(mut self) -> Self {
        self.allows_dash = true;
        self
    }

    /// The name of the operation's argument.
    pub fn argument_name(&self) -> String {
        self.argument.replace('-', "_")
    }

    /// How messages name it.
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

    /// Adds the argument, if there is a value.
    pub fn put_some(
        &self,
        value: Option<&(impl Serialize + ?Sized)>,
        fields: &mut Fields,
    ) -> Result<(), Failure> {
        value.map_or(Ok(()), |value| self.put(value, fields))
    }

    /// Adds the argument that one text becomes.
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

    /// Adds the argument that several texts become.
    pub fn put_all(&self, texts: &[&str], fields: &mut Fields) -> Result<(), Failure> {
        match self.kind {
            Kind::Words => self.put(&texts.join(" "), fields),
            Kind::Preferences => self.put(&input::preferences(texts)?, fields),
            _ => self.put(texts, fields),
        }
    }
}

/// The arguments of an operation: a JSON object that is written member by member, so that a context goes out byte for
/// byte as it was read.
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

    /// Adds a member, if there is a value.
    pub fn put_some(
        &mut self,
        name: &str,
        value: Option<&(impl Serialize + ?Sized)>,
    ) -> Result<(), Failure> {
        value.map_or(Ok(()), |value| self.put(name, value))
    }

    /// Adds a member whose value is JSON already.
    pub fn put_raw(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0 += &Value::from(name).to_string();
        self.0.push(':');
        self.0 += json;
    }

    /// Adds a member that is an object itself.
    pub fn put_fields(&mut self, name: &str, fields: Self) {
        self.put_raw(name, &fields.into_text());
    }

    /// The object as JSON.
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
