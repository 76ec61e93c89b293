//! Which host session a caller belongs to: one conversation of the program that runs the agent.
//!
//! Calls that name no session are about the session of their host session. A client states it in its Hello, as `KIND:ID`:
//!
//! | kind | the host session is |
//! | --- | --- |
//! | `session` | the value of `LORE_SESSION`, which wins over all others |
//! | `claude`, `codex` … | a conversation, by the id that the host itself sets in the environment |
//! | `process` | a process of a host that sets no id: the one that started the bridge or the command |
//! | `terminal` | a terminal, for a person's shell |
//! | `program` | a program with this library |
//!
//! A process is named by its id and its start time, because the system uses ids again.

mod person;
mod process;

use std::path::Path;

pub use person::why_no_person;
use process::Process;

/// Longest text of a host session, in bytes.
pub const HOST_SESSION_BYTES_MAX: usize = 256;

/// Variables in which hosts tell the id of a conversation, each with its kind. The shell tools of Codex and Claude Code
/// both set theirs; a host that was started by another one inherits the other's, so no order is right for all.
const ID_VARIABLES: [(&str, &str); 6] = [
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SESSION_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("QWEN_CODE_SESSION_ID", "qwen"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
];

/// Variables that a host sets for the programs that it starts, but not for itself.
const MARKS: [&str; 9] = [
    "GEMINI_CLI",
    "OPENCODE",
    "CLINE_ACTIVE",
    "QWEN_CODE",
    "CURSOR_AGENT",
    "AUGMENT_AGENT",
    "ANTIGRAVITY_AGENT",
    "CODEX_SANDBOX",
    "CLAUDECODE",
];

/// The environment and the processes around a client; tests replace them.
pub struct Surroundings<'s> {
    /// Reads an environment variable.
    pub variable: &'s dyn Fn(&str) -> Option<String>,
    /// Name that the caller gives itself; it distinguishes the callers of one terminal.
    pub agent: Option<&'s str>,
}

impl<'s> Surroundings<'s> {
    /// Returns those of this process.
    #[must_use]
    pub fn of_this_process(agent: Option<&'s str>) -> Self {
        Self {
            variable: &|name| std::env::var(name).ok(),
            agent,
        }
    }

    /// Returns the host session of a command: that of the environment, else of the host's process, else of the terminal.
    #[must_use]
    pub fn of_command(&self) -> Option<String> {
        self.named().or_else(|| {
            let own = Process::this()?;
            // Hosts run commands without a terminal; a terminal alone does not tell: a host may have one, too.
            match self.mark() {
                None if own.has_terminal() => self.key("terminal", &own.session_leader()?),
                mark => self.key("process", &own.host(mark)),
            }
        })
    }

    /// Returns the host session of a bridge: that of the environment, else of the process that started it.
    #[must_use]
    pub fn of_bridge(&self) -> Option<String> {
        self.named().or_else(|| self.process_of_host())
    }

    /// Returns the host session of the process that started a bridge or a hook, whatever the environment names.
    #[must_use]
    pub fn process_of_host(&self) -> Option<String> {
        self.key("process", &Process::this()?.host(self.mark()))
    }

    /// Returns the host session of a program that uses this library: that of the environment, else of the program.
    #[must_use]
    pub fn of_program(&self) -> Option<String> {
        self.named()
            .or_else(|| self.key("program", &Process::this()?))
    }

    /// Returns the host session that the environment names.
    #[must_use]
    pub fn named(&self) -> Option<String> {
        let set = |name: &str| (self.variable)(name).filter(|value| !value.is_empty());
        if let Some(session) = set("LORE_SESSION") {
            return checked(format!("session:{session}"));
        }
        self.of_host()
    }

    /// Returns the host session by the id that the host itself has put into the environment.
    #[must_use]
    pub fn of_host(&self) -> Option<String> {
        let set = |name: &str| (self.variable)(name).filter(|value| !value.is_empty());
        let mut ids = ID_VARIABLES.iter();
        ids.find_map(|(name, kind)| checked(format!("{kind}:{}", set(name)?)))
    }

    fn mark(&self) -> Option<&'static str> {
        let mut marks = MARKS.into_iter();
        marks.find(|name| (self.variable)(name).is_some_and(|value| !value.is_empty()))
    }

    fn key(&self, kind: &str, of: &Process) -> Option<String> {
        let mut key = format!("{kind}:{}", of.identity());
        if let Some(agent) = self.agent.filter(|agent| !agent.is_empty()) {
            key.push_str(":as:");
            key.push_str(agent);
        }
        checked(key)
    }
}

/// Returns a host session that the daemon accepts: printable and not too long.
fn checked(key: String) -> Option<String> {
    is_host_session(&key).then_some(key)
}

/// Returns whether a text has the form of a host session: `KIND:ID`, printable, at most
/// [`HOST_SESSION_BYTES_MAX`] bytes.
///
/// ```
/// use lore::host_session::is_host_session;
///
/// assert!(is_host_session("claude:6f9619ff-8b86-d011-b42d-00cf4fc964ff"));
/// assert!(!is_host_session("claude"));
/// ```
#[must_use]
pub fn is_host_session(text: &str) -> bool {
    let has_parts = text.split_once(':').is_some_and(|(kind, id)| {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        !id.is_empty() && !kind.is_empty() && kind.bytes().all(letter)
    });
    has_parts && text.len() <= HOST_SESSION_BYTES_MAX && !text.chars().any(char::is_control)
}

/// Whether the process of a host session `process:PID:START` has ended. A process that the system does not show, because it
/// runs in another namespace, counts as ended. Of a host session of another kind nothing is known, and on other systems
/// than Linux.
#[must_use]
pub fn has_ended(host_session: &str) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    let mut parts = host_session.split(':');
    let (Some("process"), Some(Ok(id)), Some(started)) =
        (parts.next(), parts.next().map(str::parse), parts.next())
    else {
        return false;
    };
    Process::with_id(id).is_none_or(|process| process.identity() != format!("{id}:{started}"))
}

/// A claim of a bridge on the host session of its host's process; it lasts until it is dropped or the process ends.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Bound, never read from: the system frees the name with the last process that has it.
    #[cfg(target_os = "linux")]
    _name: std::sync::Arc<std::os::unix::net::UnixDatagram>,
}

impl Claim {
    /// Claims a host session for a bridge to the daemon at this socket. Returns `None` if another bridge has it: one
    /// process of a host can have several windows, each with a bridge.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn take(socket: &Path, host_session: &str) -> Option<Self> {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::net::{SocketAddr, UnixDatagram};

        use sha2::{Digest, Sha256};

        let digest = Sha256::new()
            .chain_update(socket.as_os_str().as_bytes())
            .chain_update([0])
            .chain_update(host_session)
            .finalize();
        // A name without a file: nothing stays behind when the bridge is killed.
        let mut name = format!("lore-{}-", crate::paths::our_uid()).into_bytes();
        name.extend(digest.iter().take(16));
        let address = SocketAddr::from_abstract_name(name).ok()?;
        let name = UnixDatagram::bind_addr(&address).ok()?;
        Some(Self {
            _name: std::sync::Arc::new(name),
        })
    }

    /// Always succeeds: this system has no names without files, so the bridges of one process share its host session.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn take(_socket: &Path, _host_session: &str) -> Option<Self> {
        Some(Self {})
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn with<'s>(
        variable: &'s dyn Fn(&str) -> Option<String>,
        agent: Option<&'s str>,
    ) -> Surroundings<'s> {
        Surroundings { variable, agent }
    }

    fn set(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| {
            let mut pairs = pairs.iter();
            let found = pairs.find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        }
    }

    #[test]
    fn the_variable_of_lore_wins_over_those_of_hosts() {
        let both = set(&[
            ("LORE_SESSION", "release-42"),
            ("CLAUDE_CODE_SESSION_ID", "c1"),
        ]);
        for stated in [
            with(&both, None).of_command(),
            with(&both, Some("a")).of_bridge(),
            with(&both, None).of_program(),
        ] {
            assert_eq!(stated.as_deref(), Some("session:release-42"));
        }
    }

    #[test]
    fn every_host_that_tells_its_id_is_known() {
        for (name, kind) in ID_VARIABLES {
            let one = |asked: &str| (asked == name).then(|| "id-1".to_owned());
            let wanted = format!("{kind}:id-1");
            assert_eq!(with(&one, None).of_command(), Some(wanted.clone()));
            // The agent's name makes no difference: a bridge and a command of one conversation may give others.
            assert_eq!(with(&one, Some("a")).of_bridge(), Some(wanted));
        }
        let empty = set(&[("CLAUDE_CODE_SESSION_ID", "")]);
        let stated = with(&empty, None).of_bridge().unwrap();
        assert!(stated.starts_with("process:"), "{stated}");
    }

    /// A bridge and a command that one process starts have the same host session when the host has marked them.
    #[test]
    fn a_bridge_and_a_command_of_one_host_agree() {
        let marked = set(&[("GEMINI_CLI", "1")]);
        let of_bridge = with(&marked, None).of_bridge().unwrap();
        assert_eq!(with(&marked, None).of_command().unwrap(), of_bridge);
        assert!(of_bridge.starts_with("process:"), "{of_bridge}");
        let named = with(&marked, Some("b")).of_command().unwrap();
        assert_eq!(named, format!("{of_bridge}:as:b"));
    }

    #[test]
    fn only_texts_of_the_right_form_are_stated() {
        for wrong in ["", "claude", "claude:", ":x", "Claude:x", "claude:a\nb"] {
            assert!(!is_host_session(wrong), "{wrong:?}");
        }
        let long = format!("claude:{}", "x".repeat(HOST_SESSION_BYTES_MAX));
        assert!(!is_host_session(&long));
        // An id that cannot be stated is passed over.
        let odd = set(&[("CLAUDE_CODE_SESSION_ID", "a\u{7}b")]);
        let stated = with(&odd, None).of_bridge().unwrap();
        assert!(stated.starts_with("process:"), "{stated}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_is_known() {
        let own = Process::this().unwrap();
        let id = std::process::id();
        assert!(!has_ended(&format!("process:{}", own.identity())));
        assert!(!has_ended(&format!("process:{}:as:me", own.identity())));
        assert!(has_ended(&format!("process:{id}:1")));
        assert!(has_ended("process:4194304000:1"));
        for other in ["claude:1", "process:x:1", "process:1", ""] {
            assert!(!has_ended(other), "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn one_bridge_at_a_time_has_the_host_session_of_a_process() {
        let socket = Path::new("/tests/of/claims");
        let key = format!("process:{}:1", std::process::id());
        let first = Claim::take(socket, &key).unwrap();
        assert!(Claim::take(socket, &key).is_none());
        assert!(Claim::take(Path::new("/another"), &key).is_some());
        drop(first);
        assert!(Claim::take(socket, &key).is_some());
    }
}
