//! Writes the hints of refusals for the transport that carries them: in one place, where the reply leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lore::protocol::ErrorBody;

use super::operations::TABLE;
use super::tool_selection::ToolSelection;
use crate::error::Refusal;
use crate::hint::{Hint, HintForm};

/// Program part of the client label that the command line sends.
const COMMAND_LINE: &str = "lore/";

/// The reader of the replies on a connection of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person who runs the commands of `lore`.
    Person,
    /// A program that calls operations, also `lore call`.
    Program,
}

impl Reader {
    /// Tells the reader from the client label of a Hello.
    #[must_use]
    pub fn of(client: &str) -> Self {
        match client.starts_with(COMMAND_LINE) {
            true => Self::Person,
            false => Self::Program,
        }
    }

    /// Converts a refusal, with the hint as this reader calls operations.
    #[must_use]
    pub fn body(self, refusal: &Refusal, called: Option<&str>) -> ErrorBody {
        let door = match self {
            Self::Person => HintForm::CommandLine,
            Self::Program => HintForm::Operations,
        };
        body(refusal, door, called)
    }
}

/// Converts a refusal for a model that sees these tools.
#[must_use]
pub fn for_tools(refusal: &Refusal, tools: &ToolSelection, called: Option<&str>) -> ErrorBody {
    body(refusal, HintForm::Tools(&|name| tools.has(name)), called)
}

/// Writes a text for a model that sees these tools; `None` if no sentence applies to it.
#[must_use]
pub fn text_for_tools(text: &Hint, tools: &ToolSelection) -> Option<String> {
    let door = HintForm::Tools(&|name| tools.has(name));
    text.render(door, &|operation, name| argument_for(operation, name))
}

fn body(refusal: &Refusal, door: HintForm<'_>, called: Option<&str>) -> ErrorBody {
    let argument = |operation: Option<&str>, name: &str| argument_for(operation.or(called), name);
    refusal.to_body_for(door, &argument)
}

fn argument_for(operation: Option<&str>, name: &str) -> Option<String> {
    match operation {
        Some(operation) => argument_of(operation, name),
        None => Some(name.to_owned()),
    }
}

/// Names of the arguments of every operation.
static ARGUMENTS: LazyLock<BTreeMap<&'static str, BTreeSet<String>>> = LazyLock::new(|| {
    let names = |schema: serde_json::Map<String, serde_json::Value>| {
        let properties = schema.get("properties").and_then(|it| it.as_object());
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    let operations = TABLE.values();
    operations
        .map(|operation| (operation.name, names((operation.input)())))
        .collect()
});

/// Returns the name of an argument in an operation, whose family may write names in `camelCase` and call ids
/// `sessionId`; `None` if the operation does not take it.
#[must_use]
pub fn argument_of(operation: &str, name: &str) -> Option<String> {
    let known = ARGUMENTS.get(operation)?;
    [name.to_owned(), camel(name), format!("{}Id", camel(name))]
        .into_iter()
        .find(|form| known.contains(form))
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        let upper = letters.next().map(|letter| letter.to_ascii_uppercase());
        text + &upper.into_iter().chain(letters).collect::<String>()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use lore::protocol::Toolset;
    use lore::protocol::hint::{Tool, flags};

    use super::*;
    use crate::error::Code;
    use crate::hint::{arg, hint};

    /// Every operation that a hint can name exists, as a tool and as an operation. The command line's own test
    /// checks the commands.
    #[test]
    fn hints_name_operations_of_the_table() {
        for tool in Tool::ALL {
            assert!(TABLE.contains_key(tool.operation()), "{tool:?}");
        }
        let takes = |argument: &str| {
            let names = ARGUMENTS.keys();
            names
                .copied()
                .any(|operation| argument_of(operation, argument).is_some())
        };
        for (argument, _) in flags() {
            assert!(takes(argument), "no operation takes `{argument}`");
        }
    }

    /// Whatever tools are listed, a hint names none that is not.
    #[test]
    fn hints_for_models_name_listed_tools_alone() {
        for set in Toolset::ALL {
            let tools = ToolSelection::of(&[*set]);
            for tool in Tool::ALL {
                let refusal = Refusal::new(Code::NotFound, "no").hint(hint![
                    *tool, " lists them.";
                    "Try again", crate::hint::aside(*tool), "."
                ]);
                let hint = for_tools(&refusal, &tools, None).hint.unwrap();
                assert_eq!(
                    hint.contains(tool.operation()),
                    tools.has(tool.operation()),
                    "{hint}"
                );
                assert!(hint.contains("Try again"), "{hint}");
            }
        }
    }

    /// The hint of a missing session names the argument of the called operation.
    #[test]
    fn arguments_are_those_of_the_called_operation() {
        let refusal = Refusal::new(Code::SessionNotFound, "no")
            .hint(hint!["Leave ", arg("session"), " out."; Tool::CreateSession, " makes one."]);
        let core = ToolSelection::default();
        let saved = for_tools(&refusal, &core, Some("workflow_checkpoint_save"));
        assert_eq!(saved.hint.unwrap(), "Leave `sessionId` out.");
        let listed = Reader::Program.body(&refusal, Some("list_messages"));
        assert_eq!(
            listed.hint.unwrap(),
            "Leave `session` out. `create_session` makes one."
        );
        let person = Reader::of("lore/0.1.0").body(&refusal, Some("list_messages"));
        assert_eq!(
            person.hint.unwrap(),
            "Leave `--session` out. `lore session create` makes one."
        );
        assert_eq!(Reader::of("lore-call/0.1.0"), Reader::Program);
        // An operation without the argument gets no advice about it.
        assert_eq!(
            Reader::Program.body(&refusal, Some("status")).hint.unwrap(),
            "`create_session` makes one."
        );
    }

    /// Hints name operations as values, never in their text: only then each transport writes them in its own form.
    #[test]
    fn no_hint_holds_the_name_of_an_operation_as_text() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut checked = 0;
        for_each_file(&source, &mut |path, text| {
            for hint in hints_in(text) {
                checked += 1;
                for quoted in hint.split('`').skip(1).step_by(2) {
                    let word = quoted.split_whitespace().next().unwrap_or_default();
                    let is_flag = flags().iter().any(|(argument, _)| *argument == word);
                    assert!(
                        !TABLE.contains_key(word) && (!is_flag || quoted != word),
                        "{}: the hint holds `{word}` as text: {hint}",
                        path.display()
                    );
                }
            }
        });
        assert!(checked > 150, "{checked} hints");
    }

    fn for_each_file(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                for_each_file(&path, each);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Unit tests stand at the end of a file.
                each(&path, text.split("#[cfg(test)]").next().unwrap_or_default());
            }
        }
    }

    /// Returns the source of each argument of `.hint(…)`, up to the parenthesis that closes it.
    fn hints_in(text: &str) -> impl Iterator<Item = &str> {
        text.match_indices(".hint(").filter_map(|(at, call)| {
            let rest = text.get(at + call.len()..)?;
            let (mut depth, mut is_text, mut is_escaped) = (1, false, false);
            for (end, character) in rest.char_indices() {
                match character {
                    _ if is_escaped => is_escaped = false,
                    '\\' if is_text => is_escaped = true,
                    '"' => is_text = !is_text,
                    '(' if !is_text => depth += 1,
                    ')' if !is_text => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    return rest.get(..end);
                }
            }
            None
        })
    }
}
