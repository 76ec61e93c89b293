//! A process, its start time and its ancestors.

#[cfg(target_os = "linux")]
use std::{fs::File, io::Read};

/// Number of ancestors that are examined.
const ANCESTORS_MAX: usize = 32;
/// Bytes of arguments or variables after which reading ends; the system allows more.
#[cfg(target_os = "linux")]
const READ_BYTES_MAX: usize = 1 << 20;

/// Shells that hosts start for a single command.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash"];
/// Programs that hold many others, which their first argument names.
const COLLECTIONS: [&str; 2] = ["busybox", "toybox"];
/// Programs that run the command in their arguments. Some replace themselves by it; while they start it, they are seen.
const WRAPPERS: [&str; 37] = [
    "bwrap",
    "chroot",
    "chrt",
    "dbus-run-session",
    "doas",
    "env",
    "faketime",
    "fakeroot",
    "find",
    "firejail",
    "flock",
    "gtimeout",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "prlimit",
    "runuser",
    "sandbox-exec",
    "script",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "valgrind",
    "xargs",
];

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

    /// Returns the process with an id, if the system shows it.
    pub fn with_id(id: u32) -> Option<Self> {
        Self::of(id)
    }

    /// Returns the processes above it, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let first = Self::of(self.parent);
        std::iter::successors(first, |process| Self::of(process.parent)).take(ANCESTORS_MAX)
    }

    /// Returns whether it has a controlling terminal.
    pub const fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    /// Returns its id and start time, which no other process of this machine has together.
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
    /// variable, and that only runs a command for another: no wrapper, no shell for a single command, no subshell.
    pub fn host(&self, mark: Option<&'static str>) -> Self {
        let mut process = self.clone();
        let mut next = process.parent();
        for _ in 0..ANCESTORS_MAX {
            let Some(ancestor) = next.take() else {
                break;
            };
            let is_passed = match ancestor.part() {
                Part::RunsACommand => true,
                // A part of a script, as `$(…)` and `(…)` are, is a copy of its parent.
                Part::Shell => {
                    next = ancestor.process.parent();
                    let above = next.as_ref().and_then(|above| above.words.as_ref());
                    above.is_some() && above == ancestor.words.as_ref()
                }
                Part::Other => false,
            };
            process = ancestor.process;
            if !is_passed && !mark.is_some_and(|mark| process.has_variable(mark)) {
                break;
            }
            next = next.or_else(|| process.parent());
        }
        process
    }

    fn parent(&self) -> Option<Ancestor> {
        let process = Self::of(self.parent)?;
        let words = process.words();
        Some(Ancestor { process, words })
    }
}

/// A process above another.
struct Ancestor {
    process: Process,
    /// Its words, each with a zero byte behind it, if the system shows them.
    words: Option<Vec<u8>>,
}

/// What a process does between a host and a command of the host.
enum Part {
    /// It only runs a command for another: a wrapper, or a shell for a single command.
    RunsACommand,
    /// A shell that runs a script, or talks to a person.
    Shell,
    /// A program of its own.
    Other,
}

impl Ancestor {
    fn part(&self) -> Part {
        let (program, arguments) = program(self.words.as_deref().unwrap_or_default());
        if SHELLS.contains(&&*program) {
            return match has_command(arguments) {
                true => Part::RunsACommand,
                false => Part::Shell,
            };
        }
        match WRAPPERS.contains(&&*program) {
            true => Part::RunsACommand,
            false => Part::Other,
        }
    }
}

/// Returns the name of the program that a line of words runs, and its arguments.
fn program(line: &[u8]) -> (String, impl Iterator<Item = &[u8]>) {
    let name = |word: &[u8]| {
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        String::from_utf8_lossy(name)
            .trim_start_matches('-')
            .to_owned()
    };
    let mut words = line.split(|byte| *byte == 0);
    let mut program = name(words.next().unwrap_or_default());
    if COLLECTIONS.contains(&&*program) {
        program = name(words.next().unwrap_or_default());
    }
    (program, words)
}

/// Returns whether a shell's arguments give a command: `-c`, alone or with other flags as in `-lc`, before any script.
fn has_command<'w>(mut arguments: impl Iterator<Item = &'w [u8]>) -> bool {
    while let Some(word) = arguments.next() {
        match word {
            [b'-', b'-', ..] => {}
            [b'-' | b'+', flags @ ..] if !flags.is_empty() => {
                if word.starts_with(b"-") && flags.contains(&b'c') {
                    return true;
                }
                // The name of an option follows.
                if matches!(flags.last(), Some(b'o' | b'O')) {
                    let _ = arguments.next();
                }
            }
            _ => return false,
        }
    }
    false
}

/// Reads a file of the system about a process. Such a file has no size, and ends where a read returns less than it
/// could: three calls of the system, where the standard library's functions make ten.
#[cfg(target_os = "linux")]
fn read(path: &str) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let mut bytes = vec![0; 4096];
    let mut length = 0;
    loop {
        let free = bytes.get_mut(length..)?;
        let room = free.len();
        let read = file.read(free).ok()?;
        length += read;
        if read < room || length >= READ_BYTES_MAX {
            bytes.truncate(length);
            return Some(bytes);
        }
        bytes.resize(2 * length, 0);
    }
}

#[cfg(target_os = "linux")]
impl Process {
    fn of(id: u32) -> Option<Self> {
        let stat = read(&format!("/proc/{id}/stat"))?;
        Self::parse(id, &String::from_utf8_lossy(&stat))
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
    pub(super) fn words(&self) -> Option<Vec<u8>> {
        read(&format!("/proc/{}/cmdline", self.id))
    }

    /// Returns whether this variable was set when it started.
    fn has_variable(&self, name: &'static str) -> bool {
        self.first_variable([name]).is_some()
    }

    /// Returns the first of these variables that was set when it started. A confined process does not see those of others.
    pub(super) fn first_variable(
        &self,
        names: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        let all = read(&format!("/proc/{}/environ", self.id))?;
        names.into_iter().find(|name| {
            all.split(|byte| *byte == 0).any(|one| {
                let value = one.strip_prefix(name.as_bytes());
                value.is_some_and(|value| value.len() > 1 && value.starts_with(b"="))
            })
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
        // This `ps` prints no usable session; the first process with the terminal stands for it.
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

    pub(super) fn words(&self) -> Option<Vec<u8>> {
        let text = Self::ps(&["-o", "command=", "-p", &self.id.to_string()])?;
        Some(text.replace(' ', "\0").into_bytes())
    }

    /// The system does not show it.
    fn has_variable(&self, _name: &'static str) -> bool {
        false
    }

    /// The system does not show them.
    pub(super) fn first_variable(
        &self,
        _names: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        None
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
    fn a_shell_with_a_command_runs_only_that() {
        for (line, is_command) in [
            ("sh -c x", true),
            ("/bin/bash -lc x", true),
            ("bash -ce x", true),
            ("bash -eo pipefail -c x", true),
            ("bash --norc -c x", true),
            ("busybox sh -c x", true),
            ("-zsh -i", false),
            ("bash x.sh", false),
            ("bash x.sh -c", false),
            ("bash -e x.sh -c", false),
            ("bash +c", false),
            ("bash", false),
            ("", false),
        ] {
            let line = line.replace(' ', "\0");
            let (_, arguments) = program(line.as_bytes());
            assert_eq!(has_command(arguments), is_command, "{line:?}");
        }
    }

    /// Runs a script that prints the number of a process, and returns that process's host and the script's process.
    #[cfg(target_os = "linux")]
    fn host_in_script(script: &str) -> (String, String) {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.sh");
        std::fs::write(&file, script).unwrap();
        let mut shell = Command::new("sh")
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let inner = Process::of(line.trim().parse().unwrap()).unwrap();
        let found = inner.host(None).identity();
        let own = Process::of(shell.id()).unwrap().identity();
        // The end of its input ends the script.
        drop(shell.stdin.take());
        shell.wait().unwrap();
        (found, own)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn wrappers_and_subshells_of_a_script_are_passed() {
        // It says its number, and waits until its input ends.
        let command = "sh -c 'echo $$; exec cat'";
        for script in [
            format!("{command}\ntrue\n"),
            format!("timeout 60 {command}\ntrue\n"),
            format!("({command}; true)\ntrue\n"),
            format!("(true; (nice timeout 60 {command}; true); true)\ntrue\n"),
            format!(
                "sh -c \"env timeout 60 {}; true\"\ntrue\n",
                command.replace('$', "\\$")
            ),
        ] {
            let (found, own) = host_in_script(&script);
            assert_eq!(found, own, "{script}");
        }
    }
}
