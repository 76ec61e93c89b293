//! What mended a failure: the edits and changing commands between it and the next success.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::command::{Command, command, commands};
use super::effect::Effect;
use super::signature::{Signature, signature};
use crate::text::beginning;
use crate::text::words::terms;

/// Events after a failure that are read.
const EVENTS_MAX: usize = 400;

/// Actions of a repair.
const ACTIONS_MAX: usize = 2;

/// Bytes of an edit's text, and of a command line, that are kept.
const TEXT_BYTES_MAX: usize = 400;

/// Something that happened in a session after a failure, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A command ended.
    Command {
        /// Its line.
        line: &'a str,
        /// Its output; needed only if it failed.
        output: &'a str,
        /// Whether it failed. Leave out commands that a person refused or interrupted.
        is_failure: bool,
    },
    /// A file was edited or written.
    Edit {
        /// Its path.
        path: &'a str,
        /// The new text, as far as known.
        text: &'a str,
    },
}

/// What an agent did that a failure did not survive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It ran another command.
    Command {
        /// The line.
        line: String,
    },
    /// It edited a file.
    Edit {
        /// The path.
        path: String,
        /// The beginning of the new text; may be empty.
        text: String,
    },
    /// It ran the command in another form.
    Rerun {
        /// The line that succeeded.
        line: String,
    },
}

impl Action {
    /// Returns the action as one text for comparisons.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Command { line } | Self::Rerun { line } => line.clone(),
            Self::Edit { path, text } => format!("{path} {text}"),
        }
    }

    /// Whether both do the same: equal commands, or edits of the same file.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Edit { path, text },
                Self::Edit {
                    path: its,
                    text: other,
                },
            ) => {
                crate::text::paths::is_same(path, its)
                    && (text == other || text.is_empty() || other.is_empty())
            }
            (Self::Edit { .. }, _) | (_, Self::Edit { .. }) => false,
            _ => commands(&self.text()) == commands(&other.text()),
        }
    }
}

/// What mended a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// The likeliest actions, the best first; at most two. Empty if the same command simply succeeded later.
    pub actions: Vec<Action>,
    /// Actions after which the failure stayed.
    pub refuted: Vec<Action>,
    /// Place of the success among the events; `None` if there was none.
    pub success: Option<usize>,
}

/// Returns what mended a failed command, from what happened in its session afterwards.
///
/// The success is the next run of the same program and subcommand with at least the same targets. A repeated failure refutes
/// what was done before it, and owns what follows.
#[must_use]
pub fn repair(line: &str, output: &str, events: &[Event]) -> Repair {
    let failed = command(line);
    let failed_signature = signature(output);
    let mut made = Repair::default();
    let mut pending: Vec<Action> = Vec::new();
    for (at, event) in events.iter().enumerate().take(EVENTS_MAX) {
        match event {
            Event::Edit { path, text } => pending.push(Action::Edit {
                path: (*path).to_owned(),
                text: beginning(text.trim(), TEXT_BYTES_MAX).to_owned(),
            }),
            Event::Command {
                line: again,
                output,
                is_failure: true,
            } => {
                // Nothing was done that it could refute. A loop that fails has hundreds of these.
                if pending.is_empty() {
                    continue;
                }
                let is_again = commands(again)
                    .iter()
                    .any(|command| command.is_same_program(&failed));
                if is_again && is_same_failure(&failed_signature, &signature(output)) {
                    made.refuted.append(&mut pending);
                }
            }
            Event::Command {
                line: again,
                is_failure: false,
                ..
            } => {
                if commands(again)
                    .iter()
                    .any(|command| command.covers(&failed))
                {
                    if differs(line, again) {
                        pending.push(Action::Rerun {
                            line: beginning(again.trim(), TEXT_BYTES_MAX).to_owned(),
                        });
                    }
                    made.success = Some(at);
                    break;
                }
                if is_changing(again, &failed) {
                    pending.push(Action::Command {
                        line: beginning(again.trim(), TEXT_BYTES_MAX).to_owned(),
                    });
                }
            }
        }
    }
    if made.success.is_some() {
        // What is done again after it failed to help is no remedy, unless nothing else was done.
        let kept: Vec<Action> = pending
            .iter()
            .filter(|action| !made.refuted.iter().any(|one| one.is_same(action)))
            .cloned()
            .collect();
        made.actions = best(
            if kept.is_empty() { pending } else { kept },
            &failed,
            &failed_signature,
        );
    }
    made.refuted.truncate(8);
    made
}

fn is_same_failure(one: &Signature, other: &Signature) -> bool {
    one.words == other.words
        && one.codes == other.codes
        && (one.parameters == other.parameters
            || one
                .parameters
                .intersection(&other.parameters)
                .next()
                .is_some())
}

/// Whether a line that succeeded says more than the one that failed: another flag, variable or way to run the program.
fn differs(failed: &str, succeeded: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let line = line.split('|').next().unwrap_or_default();
        line.split_whitespace()
            .filter(|word| !word.starts_with("2>"))
            .map(str::to_owned)
            .collect()
    };
    let (old, new) = (words(failed), words(succeeded));
    let (old_command, new_command) = (command(failed), command(succeeded));
    let is_other_program = !new_command.is_same_program(&old_command);
    let has_more_flags = new_command.flags.iter().any(|flag| {
        !old_command.flags.contains(flag)
            && !matches!(
                flag.as_str(),
                "-q" | "-v" | "--quiet" | "--verbose" | "-x" | "-s"
            )
    });
    let assigned = |words: &[String]| -> Vec<String> {
        words
            .iter()
            .take_while(|word| {
                word.contains('=') || *word == "env" || *word == "sudo" || *word == "cd"
            })
            .cloned()
            .collect()
    };
    let first = |words: &[String]| words.first().cloned().unwrap_or_default();
    let is_other_path = first(&old) != first(&new) && first(&new).contains('/');
    is_other_program || has_more_flags || is_other_path || assigned(&old) != assigned(&new)
}

/// Whether a command may have mended something: it changes, and is not about keeping or showing work.
fn is_changing(line: &str, failed: &Command) -> bool {
    commands(line).iter().any(|command| {
        let keeps_work = command.program == "git"
            && matches!(
                command.subcommand.as_str(),
                "add" | "commit" | "push" | "stash" | "fetch"
            );
        let is_cd = matches!(command.program.as_str(), "cd" | "pushd" | "popd");
        command.effect() == Effect::Changes
            && !is_cd
            && (!keeps_work || failed.program == "git")
            && !command.is_same_program(failed)
    })
}

/// Returns the likeliest actions: those that share a word with the error or the command, then the nearest to the success.
fn best(pending: Vec<Action>, failed: &Command, signature: &Signature) -> Vec<Action> {
    let mut about: FxHashSet<u64> = FxHashSet::default();
    let mut text: Vec<&str> = signature
        .parameters
        .iter()
        .chain(&signature.files)
        .chain(&signature.words)
        .map(String::as_str)
        .collect();
    text.extend(failed.targets.iter().map(String::as_str));
    text.push(&failed.program);
    about.extend(terms(&text.join(" ")).iter().map(|term| term.hash));
    let mut ranked: Vec<(bool, usize, Action)> = Vec::new();
    for (at, action) in pending.into_iter().enumerate() {
        // Of several edits of one file the last one stands.
        ranked.retain(|(_, _, other)| !matches!((other, &action), (Action::Edit { path, .. }, Action::Edit { path: its, .. }) if path == its) && *other != action);
        let words = terms(&action.text());
        let shares =
            words.iter().any(|term| about.contains(&term.hash)) || mentions(&action, signature);
        ranked.push((shares, at, action));
    }
    ranked.sort_by_key(|(shares, at, _)| Reverse((*shares, *at)));
    ranked
        .into_iter()
        .take(ACTIONS_MAX)
        .map(|(_, _, action)| action)
        .collect()
}

/// Whether an action names a parameter of the failure, perhaps within a longer word: `-lssl` and `libssl-dev`.
fn mentions(action: &Action, signature: &Signature) -> bool {
    let text = action.text().to_lowercase();
    signature.parameters.iter().any(|parameter| {
        let parameter = parameter.strip_prefix("-l").unwrap_or(parameter);
        parameter.len() > 1 && text.contains(parameter)
    })
}

/// Whether an action depends on a name that only the known failure has. A name may be a plain word of the output: then
/// the new failure has another one instead.
pub(super) fn depends_on(action: &Action, known: &Signature, new: &Signature) -> bool {
    let text = action.text().to_lowercase();
    let names_parameter = known
        .parameters
        .difference(&new.parameters)
        .any(|parameter| {
            let parameter = parameter.strip_prefix("-l").unwrap_or(parameter);
            parameter.len() > 1 && text.contains(parameter)
        });
    let has_replaced_word = new.words.difference(&known.words).next().is_some();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let names_word = has_replaced_word
        && known
            .words
            .difference(&new.words)
            .any(|word| word.len() > 1 && words().any(|part| part == word));
    names_parameter || names_word
}
