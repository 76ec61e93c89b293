//! The caller: actor, defaults, quota, and the idempotency key of a write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use lore::protocol::AGENT_BYTES_MAX;
use serde::Serialize;
use serde_json::Value;

use super::{SessionUse, WaitPermit};
use crate::engine::KeyClaim;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::locks::lock_unpoisoned;
use crate::log::{Actor, Hash};

/// Maximum length of an idempotency key, in bytes.
pub const KEY_BYTES_MAX: usize = 256;

/// The caller, as known from the connection.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The uid from the socket; the agent and the program by their own names.
    pub actor: Arc<Actor>,
    /// Its working directory, as it reports.
    pub dir: Option<PathBuf>,
    /// The project of that directory.
    pub project: Option<String>,
    /// The session named in the Hello.
    pub session: Option<String>,
    /// The host session that it states.
    pub host_session: Option<String>,
    /// Which session the call uses.
    pub session_use: SessionUse,
    /// The connection's write quota; `None` means unlimited.
    pub quota: Option<Arc<Quota>>,
    /// The idempotency key of a write without a key. The bridge sets it, so that a line repeated
    /// after a reconnect is not recorded twice.
    pub default_key: Option<String>,
    /// The host's id of the session for which it may speak alone, as `KIND:ID`, if it calls through a mailbox.
    pub boxed_as: Option<String>,
    /// Whether it reads replies as text, too: a model over MCP.
    pub reads_text: bool,
    /// The permit to wait for new events.
    pub wait_permit: WaitPermit,
    /// The process that calls over the socket of this machine.
    pub process: CallerProcess,
}

/// The process that calls, as the system reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallerProcess {
    /// None that the system reports: a call over TCP, over MCP, through a mailbox or from the spool.
    #[default]
    Unknown,
    /// The process with this id.
    Id(u32),
    /// A person, in tests.
    #[cfg(test)]
    Person,
}

impl Caller {
    /// Whether the call comes from a person's shell, as the client states: agents belong to the session of their host.
    #[must_use]
    pub fn is_at_terminal(&self) -> bool {
        let host_session = self.host_session.as_deref();
        host_session.is_some_and(|stated| stated.starts_with("terminal:"))
    }

    /// Refuses what only a person may do, unless the call comes from a command that a person typed into a terminal, as
    /// far as the system shows. See docs/decisions/0015-only-a-person.md.
    ///
    /// Reads the file system; do not call it on the event loop.
    ///
    /// # Errors
    /// `FORBIDDEN` with the reason.
    pub fn check_person(&self, what: &str) -> Result<(), Refusal> {
        let reason = match self.process {
            CallerProcess::Unknown => {
                "the call does not come from a command on this machine".to_owned()
            }
            CallerProcess::Id(process) => match lore::host_session::why_no_person(process) {
                None => return Ok(()),
                Some(reason) => reason,
            },
            #[cfg(test)]
            CallerProcess::Person => return Ok(()),
        };
        Err(Refusal::new(
            Code::Forbidden,
            format!("only a person may {what}, and here {reason}"),
        )
        .hint("A person does it in a terminal of their own, with `lore`."))
    }

    /// Returns this caller with the agent name of a call.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the name is too long.
    pub fn with_agent(mut self, agent: Option<&str>) -> Result<Self, Refusal> {
        if let Some(agent) = agent {
            check_agent(agent)?;
            let actor = Actor {
                agent: agent.to_owned(),
                ..(*self.actor).clone()
            };
            self.actor = Arc::new(actor);
        }
        Ok(self)
    }

    /// Claims the idempotency key of a write: the argument, otherwise the connection's key.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the key is empty or too long.
    pub fn claim<A: Serialize>(
        &self,
        operation: &str,
        args: &A,
        key: Option<&str>,
    ) -> Result<Option<KeyClaim>, Refusal> {
        self.claim_beside(operation, args, &[], key)
    }

    /// Claims the idempotency key of a write with large arguments. The caller takes these out of `args` and passes
    /// their names and the hashes of their canonical forms, which it has anyway. So no tree of megabytes is built
    /// for hashing.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the key is empty or too long.
    pub fn claim_beside<A: Serialize>(
        &self,
        operation: &str,
        args: &A,
        large: &[(&str, Hash)],
        key: Option<&str>,
    ) -> Result<Option<KeyClaim>, Refusal> {
        let Some(key) = key.or(self.default_key.as_deref()) else {
            return Ok(None);
        };
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "an idempotency key has 1 to {KEY_BYTES_MAX} bytes; this one has {}",
                key.len()
            ))
            .hint(hint![
                "Use for example a UUID, or leave ",
                arg("key"),
                " out."
            ]));
        }
        let body = canonical_hash(operation, args, large)?;
        Ok(Some(KeyClaim::new(key, &self.actor, body)))
    }
}

/// Write quota of a connection, per second.
#[derive(Debug)]
pub struct Quota {
    per_second_max: u32,
    /// Start of the current second, and the number of writes in it.
    second: Mutex<(Instant, u32)>,
}

impl Quota {
    /// Creates a quota of writes per second.
    #[must_use]
    pub fn new(per_second_max: u32) -> Self {
        Self {
            per_second_max,
            second: Mutex::new((Instant::now(), 0)),
        }
    }

    /// Counts one write.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the quota of this second is used up.
    pub fn take(&self) -> Result<(), Refusal> {
        let mut second = lock_unpoisoned(&self.second);
        if second.0.elapsed() >= Duration::from_secs(1) {
            *second = (Instant::now(), 0);
        }
        if second.1 == self.per_second_max {
            let max = self.per_second_max;
            return Err(Refusal::new(
                Code::RateLimited,
                format!("a connection may write {max} times a second"),
            )
            .hint("Wait a second; nothing was recorded."));
        }
        second.1 += 1;
        Ok(())
    }
}

/// Refuses agent names that are too long or contain control characters.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn check_agent(agent: &str) -> Result<(), Refusal> {
    if agent.len() > AGENT_BYTES_MAX || agent.chars().any(char::is_control) {
        return Err(Refusal::invalid(format!(
            "an agent's name has at most {AGENT_BYTES_MAX} bytes and no control characters"
        )));
    }
    Ok(())
}

/// SHA-256 of the operation's name and its arguments as canonical JSON (sorted keys), without
/// `key`, `agent` and `explain`: equal for every transport. Each large argument follows on a separate
/// line, as name and hash.
fn canonical_hash<A: Serialize>(
    operation: &str,
    args: &A,
    large: &[(&str, Hash)],
) -> Result<Hash, Refusal> {
    let mut value = serde_json::to_value(args).map_err(|error| {
        Refusal::new(
            Code::Internal,
            format!("the arguments do not encode: {error}"),
        )
    })?;
    if let Value::Object(map) = &mut value {
        for without in ["key", "agent", "explain"] {
            map.shift_remove(without);
        }
    }
    value.sort_all_objects();
    let mut text = format!("{operation}\n{value}");
    for (name, hash) in large {
        text.push_str(&format!("\n{name} {hash}"));
    }
    Ok(Hash::of(text.as_bytes()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(args: &Value, large: &[(&str, Hash)]) -> Hash {
        canonical_hash("record_step", args, large).unwrap()
    }

    /// Keys are stored permanently, so the hashed bytes must never change.
    #[test]
    fn a_claim_hashes_the_bytes_it_always_has() {
        let text = r#"{"tool":"t","result":"r","parameters":{"b":1.10,"a":[2,{"d":1,"c":1e5}]},
            "key":"k","agent":"a","explain":true}"#;
        let args: Value = serde_json::from_str(text).unwrap();
        let bytes = "record_step\n{\"parameters\":{\"a\":[2,{\"c\":1e+5,\"d\":1}],\"b\":1.10},\
                     \"result\":\"r\",\"tool\":\"t\"}";
        assert_eq!(hash(&args, &[]), Hash::of(bytes.as_bytes()));
        assert_eq!(
            hash(&json!({}), &[("context", Hash([0xab; 32]))]),
            Hash::of(format!("record_step\n{{}}\ncontext {}", "ab".repeat(32)).as_bytes())
        );
    }

    /// Separately hashed arguments count like the others.
    #[test]
    fn large_arguments_are_part_of_a_claim() {
        let args = json!({"session": "s"});
        let (one, other) = (Hash([1; 32]), Hash([2; 32]));
        let with_one = hash(&args, &[("context", one)]);
        assert_eq!(with_one, hash(&args, &[("context", one)]));
        assert_ne!(with_one, hash(&args, &[("context", other)]));
        assert_ne!(with_one, hash(&args, &[("metadata", one)]));
        assert_ne!(with_one, hash(&args, &[]));
        assert_ne!(with_one, hash(&json!({}), &[("context", one)]));
    }
}
