//! The parts of hosts' files that are lore's: the entry of the server, hooks, a rule for tools, a plugin, instructions.

use lored_hosts::config::{HookSetup, Permission};

use super::edit::{self, EditError, FileLayout, JsonShape};
use super::entry::{Entry, InstallState};
use super::instructions;
use super::json_file::hooks;

/// A part of a file that is lore's.
#[derive(Debug, Clone)]
pub enum Part {
    /// The entry that starts the bridge.
    Server(FileLayout, Entry),
    /// Hooks in lists that other programs' hooks are in, too.
    Hooks(JsonShape, &'static HookSetup),
    /// A rule that lets the model call lore's tools without asking.
    Rule(JsonShape, Permission),
    /// A file of source code that is lore's as a whole.
    Plugin(&'static str),
    /// Lines for the model, between markers.
    Instructions,
}

impl Part {
    /// Returns how much of the part is in a text; `None` if nothing is.
    ///
    /// # Errors
    /// When the text is malformed, or its structure leaves no place for the part.
    pub fn find(&self, text: &str) -> Result<Option<InstallState>, EditError> {
        let (_, bare) = edit::mark_and_text(text);
        match self {
            Self::Server(layout, entry) => {
                Ok(edit::find(*layout, text)?.map(|present| entry.compare(&present)))
            }
            Self::Hooks(shape, setup) => hooks::find_hooks(*shape, bare, setup),
            Self::Rule(shape, permission) => hooks::find_rule(*shape, bare, *permission),
            Self::Plugin(plugin) => Ok(match text {
                "" => None,
                text if text == *plugin => Some(InstallState::Same),
                text if is_plugin(text) => Some(InstallState::Other),
                _ => Some(InstallState::Foreign("is not lore's plugin".to_owned())),
            }),
            Self::Instructions => Ok(instructions::find(text)),
        }
    }

    /// Returns the text with the part. `whole` replaces a foreign one.
    ///
    /// # Errors
    /// As [`Part::find`].
    pub fn put(&self, text: &str, whole: bool) -> Result<String, EditError> {
        let (mark, bare) = edit::mark_and_text(text);
        let marked = |text: Result<String, EditError>| text.map(|text| mark.to_owned() + &text);
        match self {
            Self::Server(layout, entry) => edit::put(*layout, text, entry, whole),
            Self::Hooks(shape, setup) => marked(hooks::put_hooks(*shape, bare, setup)),
            Self::Rule(shape, permission) => marked(hooks::put_rule(*shape, bare, *permission)),
            Self::Plugin(plugin) => Ok((*plugin).to_owned()),
            Self::Instructions => Ok(instructions::put(text)),
        }
    }

    /// Returns the text without the part.
    ///
    /// # Errors
    /// As [`Part::find`].
    pub fn remove(&self, text: &str) -> Result<String, EditError> {
        let (mark, bare) = edit::mark_and_text(text);
        let marked = |text: Result<String, EditError>| text.map(|text| mark.to_owned() + &text);
        match self {
            Self::Server(layout, _) => edit::remove(*layout, text),
            Self::Hooks(shape, setup) => marked(hooks::remove_hooks(*shape, bare, setup)),
            Self::Rule(shape, permission) => marked(hooks::remove_rule(*shape, bare, *permission)),
            Self::Plugin(_) => Ok(String::new()),
            Self::Instructions => Ok(instructions::remove(text)),
        }
    }

    /// Describes the part for people; nothing for the entry of the server, which every set-up has.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Server(..) => None,
            Self::Hooks(_, setup) => Some(format!("{} hooks", setup.entries.len())),
            Self::Rule(_, permission) => Some(format!("the permission `{}`", permission.rule)),
            Self::Plugin(_) => Some("the plugin with its hooks".to_owned()),
            Self::Instructions => Some("instructions".to_owned()),
        }
    }

    /// Returns the name of the part, for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Server(..) => "server",
            Self::Hooks(..) => "hooks",
            Self::Rule(..) => "permission",
            Self::Plugin(_) => "plugin",
            Self::Instructions => "instructions",
        }
    }
}

/// Returns whether a file of source code is a plugin of any release of ours.
fn is_plugin(text: &str) -> bool {
    text.starts_with("// lore: ")
}
