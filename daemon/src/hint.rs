//! Hints: the next action of a caller, written for the transport that carries the reply.
//!
//! The same operation is a tool for a model, a command for a person and an operation for a program. So a hint does
//! not hold names as text: it holds sentences of parts, and [`Hint::render`] writes each name as the caller calls it.
//! A sentence that names what this caller cannot call is left out.

use std::borrow::Cow;

pub use lore::protocol::hint::Tool;
use lore::protocol::hint::flag;

/// The next action for the caller: sentences, each of which is shown where its names can be called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hint(Vec<Sentence>);

/// A sentence of a hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text that is the same for every caller.
    Text(Cow<'static, str>),
    /// The name of an operation; without it the sentence says nothing.
    Tool(Tool),
    /// The name of an operation with the text around it; the sentence can do without.
    Aside(&'static str, Tool, &'static str),
    /// The name of an argument: of the last operation that the sentence names, else of the called operation.
    Argument(&'static str),
}

/// Names an argument in a hint, by its name in `snake_case`.
#[must_use]
pub const fn arg(name: &'static str) -> Part {
    Part::Argument(name)
}

/// Adds the operation that does what the sentence says, in parentheses, for callers that can call it.
#[must_use]
pub const fn aside(tool: Tool) -> Part {
    Part::Aside(" (", tool, ")")
}

/// Adds the operation that does what the sentence says, after "with", for callers that can call it.
#[must_use]
pub const fn with(tool: Tool) -> Part {
    Part::Aside(" with ", tool, "")
}

impl From<Tool> for Part {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}

impl From<&'static str> for Part {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<&'static str> for Hint {
    fn from(text: &'static str) -> Self {
        Self::of(vec![vec![text.into()]])
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::of(vec![vec![text.into()]])
    }
}

/// Builds a hint: the parts of a sentence are separated by commas, sentences by semicolons.
macro_rules! hint {
    ($($($part:expr),+);+) => {
        $crate::hint::Hint::of(vec![$(vec![$($crate::hint::Part::from($part)),+]),+])
    };
}
pub(crate) use hint;

/// How the reader of a hint calls operations.
#[derive(Clone, Copy)]
pub enum HintForm<'d> {
    /// A person at a terminal, with the commands of `lore`.
    CommandLine,
    /// A model over MCP, with the tools that this function accepts.
    Tools(&'d dyn Fn(&str) -> bool),
    /// A program, with all operations.
    Operations,
}

/// Returns the name that an argument has in an operation; `None` if the operation does not take it.
pub type ArgumentName<'d> = dyn Fn(Option<&str>, &str) -> Option<String> + 'd;

impl Hint {
    /// Creates a hint of these sentences.
    #[must_use]
    pub fn of(sentences: Vec<Vec<Part>>) -> Self {
        Self(sentences.into_iter().map(Sentence).collect())
    }

    /// Adds the sentences of another hint.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Writes the hint for a reader; `None` if no sentence applies to it.
    #[must_use]
    pub fn render(&self, door: HintForm<'_>, argument: &ArgumentName<'_>) -> Option<String> {
        let sentences = self.0.iter();
        let written: Vec<String> = sentences
            .filter_map(|sentence| sentence.render(door, argument))
            .collect();
        (!written.is_empty()).then(|| written.join(" "))
    }

    /// Writes the hint for a program: with the names of operations, and with arguments as the hint names them.
    #[must_use]
    pub fn plain(&self) -> String {
        let as_named = |_: Option<&str>, name: &str| Some(name.to_owned());
        self.render(HintForm::Operations, &as_named)
            .unwrap_or_default()
    }

    /// Returns every operation that the hint may name.
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        let parts = self.0.iter().flat_map(|sentence| &sentence.0);
        parts.filter_map(|part| match part {
            Part::Tool(tool) | Part::Aside(_, tool, _) => Some(*tool),
            Part::Text(_) | Part::Argument(_) => None,
        })
    }
}

impl Sentence {
    fn render(&self, door: HintForm<'_>, argument: &ArgumentName<'_>) -> Option<String> {
        let mut text = String::new();
        let mut last = None;
        for part in &self.0 {
            match part {
                Part::Text(fixed) => text += fixed,
                Part::Tool(tool) => {
                    text += &door.name(*tool)?;
                    last = Some(tool.operation());
                }
                Part::Aside(before, tool, after) => {
                    if let Some(name) = door.name(*tool) {
                        text += &format!("{before}{name}{after}");
                        last = Some(tool.operation());
                    }
                }
                Part::Argument(name) => {
                    let name = match door {
                        HintForm::CommandLine => flag(name)?.to_owned(),
                        HintForm::Tools(_) | HintForm::Operations => argument(last, name)?,
                    };
                    text += &format!("`{name}`");
                }
            }
        }
        Some(text)
    }
}

impl HintForm<'_> {
    /// Returns the quoted name by which the reader calls an operation; `None` if it cannot.
    fn name(self, tool: Tool) -> Option<String> {
        let operation = tool.operation();
        match self {
            Self::CommandLine => Some(format!("`{}`", tool.command())),
            Self::Tools(listed) => listed(operation).then(|| format!("`{operation}`")),
            Self::Operations => Some(format!("`{operation}`")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written(hint: &Hint, door: HintForm<'_>) -> Option<String> {
        let camel = |operation: Option<&str>, name: &str| match (operation, name) {
            (Some("workflow_checkpoint_list"), "session") => Some("sessionId".to_owned()),
            (_, "fence") => None,
            _ => Some(name.to_owned()),
        };
        hint.render(door, &camel)
    }

    #[test]
    fn names_are_written_as_the_reader_calls_them() {
        let hint = hint![
            Tool::CheckpointList, " with ", arg("session"), " lists them.";
            "Continue in a fork", aside(Tool::ForkSession), ".";
            "Leave ", arg("fence"), " out."
        ];
        assert_eq!(
            written(&hint, HintForm::Operations).unwrap(),
            "`workflow_checkpoint_list` with `sessionId` lists them. Continue in a fork (`fork_session`)."
        );
        assert_eq!(
            written(&hint, HintForm::CommandLine).unwrap(),
            "`lore checkpoint list` with `--session` lists them. Continue in a fork (`lore session fork`)."
        );
        let only_list = |name: &str| name == "workflow_checkpoint_list";
        assert_eq!(
            written(&hint, HintForm::Tools(&only_list)).unwrap(),
            "`workflow_checkpoint_list` with `sessionId` lists them. Continue in a fork."
        );
        assert_eq!(
            written(&hint, HintForm::Tools(&|_| false)).unwrap(),
            "Continue in a fork."
        );
    }

    #[test]
    fn a_hint_without_a_sentence_for_the_reader_is_none() {
        let hint = hint![Tool::ListProjects, " lists them."];
        assert_eq!(written(&hint, HintForm::Tools(&|_| false)), None);
        assert_eq!(Hint::from("Free some space.").plain(), "Free some space.");
    }
}
