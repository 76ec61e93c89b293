//! A process, its start time and its ancestors.

#[cfg(target_os = "linux")]
use std::fs;

/// Number of ancestors that are examined.
const ANCESTORS_MAX: usize = 32;

/// Shells that hosts start for a single command.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"];

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    id: u32,
    parent: u32,
    session: u32,
    has_terminal: bool,
    /// Start time in the system's own form; empty if the process has ended.
    started: String,
}

impl Process {
    /// Returns this process, if the system shows processes.
    pub fn this() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Returns whether it has a controlling terminal.
    pub const fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    /// Returns what tells it from every other process of this machine: its id and start time.
    pub fn identity(&self) -> String {
        format!("{}:{}", self.id, self.started)
    }

    /// Returns the first process of its session: the shell of a terminal. It may have ended.
    pub fn session_leader(&self) -> Option<Self> {
        let leader = self.session;
        // Outside of this process namespace the system gives 0.
        if leader == 0 {
            return Self::of(self.parent);
        }
        Some(Self::of(leader).unwrap_or(Self {
            id: leader,
            parent: 0,
            session: leader,
            has_terminal: self.has_terminal,
            started: String::new(),
        }))
    }

    /// Returns the process of the host that started it: its nearest ancestor that the host has not marked with this
    /// variable, and that is no shell for a single command.
    pub fn host(&self, mark: Option<&str>) -> Self {
        let mut process = self.clone();
        for _ in 0..ANCESTORS_MAX {
            let Some(parent) = Self::of(process.parent) else {
                break;
            };
            let is_passed = parent.is_shell_of_one_command()
                || mark.is_some_and(|mark| parent.has_variable(mark));
            process = parent;
            if !is_passed {
                break;
            }
        }
        process
    }

    fn is_shell_of_one_command(&self) -> bool {
        let Some(words) = self.words() else {
            return false;
        };
        let mut words = words.split(|byte| *byte == 0);
        let program = words.next().unwrap_or_default();
        let name = program.rsplit(|byte| *byte == b'/').next();
        let name = String::from_utf8_lossy(name.unwrap_or_default());
        SHELLS.contains(&name.trim_start_matches('-')) && words.any(is_command_flag)
    }
}

/// Returns whether a shell's word is `-c`, alone or with other flags as in `-lc`.
fn is_command_flag(word: &[u8]) -> bool {
    matches!(word, [b'-', flags @ ..] if flags.last() == Some(&b'c') && flags.iter().all(u8::is_ascii_alphabetic))
}

#[cfg(target_os = "linux")]
impl Process {
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Self::parse(id, &stat)
    }

    /// Reads a line of `/proc/ID/stat`. The program's name, in parentheses, may contain anything.
    fn parse(id: u32, stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse().ok();
        // As proc(5) counts them, after the id and the name: parent 4, session 6, terminal 7, start 22.
        Some(Self {
            id,
            parent: number(1)?,
            session: number(3)?,
            has_terminal: fields.get(4).is_some_and(|terminal| *terminal != "0"),
            started: fields.get(19).map(|start| (*start).to_owned())?,
        })
    }

    /// Returns its words, each with a zero byte behind it.
    fn words(&self) -> Option<Vec<u8>> {
        fs::read(format!("/proc/{}/cmdline", self.id)).ok()
    }

    /// Returns whether this variable was set when it started.
    fn has_variable(&self, name: &str) -> bool {
        let all = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        all.split(|byte| *byte == 0).any(|one| {
            let value = one.strip_prefix(name.as_bytes());
            value.is_some_and(|value| value.first() == Some(&b'='))
        })
    }
}

#[cfg(not(target_os = "linux"))]
impl Process {
    fn of(id: u32) -> Option<Self> {
        let id_text = id.to_string();
        let text = Self::ps(&["-o", "ppid=,tty=,lstart=", "-p", &id_text])?;
        let mut fields = text.split_ascii_whitespace();
        let parent = fields.next()?.parse().ok()?;
        let terminal = fields.next()?;
        // This `ps` tells no session that can be used; the first process with the terminal stands for it.
        let session = rustix::process::Pid::from_raw(i32::try_from(id).ok()?)
            .and_then(|pid| rustix::process::getsid(Some(pid)).ok())
            .and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
        Some(Self {
            id,
            parent,
            session: session.unwrap_or(0),
            has_terminal: !terminal.starts_with('?'),
            started: fields.collect::<Vec<_>>().join("-"),
        })
    }

    fn words(&self) -> Option<Vec<u8>> {
        let text = Self::ps(&["-o", "command=", "-p", &self.id.to_string()])?;
        Some(text.replace(' ', "\0").into_bytes())
    }

    /// The system does not show it.
    fn has_variable(&self, _name: &str) -> bool {
        false
    }

    fn ps(arguments: &[&str]) -> Option<String> {
        let done = std::process::Command::new("/bin/ps")
            .args(arguments)
            .output()
            .ok()?;
        String::from_utf8(done.stdout)
            .ok()
            .filter(|text| done.status.success() && !text.trim().is_empty())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_the_same_as_long_as_it_lives() {
        let this = Process::this().unwrap();
        assert_eq!(Process::this().unwrap().identity(), this.identity());
        assert!(this.identity().starts_with(&std::process::id().to_string()));
        assert_ne!(this.host(None).identity(), this.identity());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_may_have_any_name() {
        let fields = (4..=22).map(|field| field.to_string());
        let line = format!("7 (a) b) S {}", fields.collect::<Vec<_>>().join(" "));
        let process = Process::parse(7, &line).unwrap();
        assert_eq!((process.parent, process.session), (4, 6));
        assert_eq!(process.identity(), "7:22");
        assert_eq!(Process::parse(7, "7 (a) S 1 2"), None);
        assert_eq!(Process::parse(7, ""), None);
    }

    #[test]
    fn only_a_shell_with_a_command_is_passed() {
        for (word, is_command) in [("-c", true), ("-lc", true), ("-i", false), ("x.sh", false)] {
            assert_eq!(is_command_flag(word.as_bytes()), is_command, "{word}");
        }
    }
}
