//! Whether a command was typed by a person, as far as the system shows.

use super::process::Process;
use super::{ID_VARIABLES, MARKS};

/// Programs of agents' hosts, by the names that the system shows. A command below one of them was not typed by a person.
const HOSTS: [&str; 12] = [
    "aider",
    "amp",
    "claude",
    "codex",
    "copilot",
    "crush",
    "cursor-agent",
    "droid",
    "gemini",
    "goose",
    "opencode",
    "qwen",
];
/// Programs that run another one, which their first argument names.
const INTERPRETERS: [&str; 6] = ["node", "bun", "deno", "python", "python3", "npx"];

/// Returns why a process is not a command that a person typed into a terminal; `None` if nothing speaks against it. A
/// person has a terminal, and neither the process nor one that started it is an agent's host or has its variables.
///
/// It keeps an agent that does what a text says from doing what only a person may. It does not stop a program of the same
/// user that pretends to be a person: to the system both are the same user.
#[must_use]
pub fn why_no_person(process: u32) -> Option<String> {
    let Some(own) = Process::with_id(process) else {
        return Some("the process that asks cannot be seen".to_owned());
    };
    if !own.has_terminal() {
        return Some("the command has no terminal".to_owned());
    }
    if let Some(name) = variable_of_host(&own) {
        return Some(format!("`{name}` says that an agent runs the command"));
    }
    own.ancestors().find_map(|ancestor| {
        if let Some(name) = variable_of_host(&ancestor) {
            return Some(format!("`{name}` says that an agent runs the command"));
        }
        let names = ancestor.program_names();
        let host = names.iter().find(|name| HOSTS.contains(&name.as_str()))?;
        Some(format!("`{host}` runs the command"))
    })
}

/// Returns the variable of a host with which a process was started.
fn variable_of_host(process: &Process) -> Option<&'static str> {
    let ids = ID_VARIABLES.iter().map(|(name, _)| *name);
    process.first_variable(ids.chain(MARKS))
}

impl Process {
    /// Returns the names of its program and, for a script, of the script, without folders and endings.
    fn program_names(&self) -> Vec<String> {
        let words = self.words().unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        let mut names = vec![name(words.next().unwrap_or_default())];
        let is_interpreter = names
            .first()
            .is_some_and(|name| INTERPRETERS.contains(&name.as_str()));
        if is_interpreter {
            let script = words.find(|word| !word.starts_with(b"-"));
            names.extend(script.map(name));
        }
        names
    }
}

/// Returns the name of a program: `/usr/bin/gemini.js` is `gemini`.
fn name(word: &[u8]) -> String {
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    let name = name.trim_start_matches('-');
    let endings = [".js", ".mjs", ".cjs", ".py", ".exe"];
    let stripped = endings.iter().find_map(|ending| name.strip_suffix(ending));
    stripped.unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_have_no_folders_and_endings() {
        for (word, wanted) in [
            ("/usr/local/bin/gemini.js", "gemini"),
            ("Claude.exe", "claude"),
            ("-zsh", "zsh"),
            ("", ""),
        ] {
            assert_eq!(name(word.as_bytes()), wanted);
        }
    }

    /// No process has the id 0, and a process that was never started cannot be seen.
    #[test]
    fn what_cannot_be_seen_is_no_person() {
        for id in [0, u32::MAX] {
            let reason = why_no_person(id).unwrap_or_default();
            assert!(reason.contains("cannot be seen"), "{reason}");
        }
    }
}
