//! Who calls: actor, defaults, quota, and the idempotency key of a write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use lore::protocol::AGENT_BYTES_MAX;
use serde::Serialize;
use serde_json::Value;

use super::WaitPermit;
use crate::engine::KeyClaim;
use crate::error::{Code, Refusal};
use crate::log::{Actor, Hash};

/// The longest idempotency key, in bytes.
pub const KEY_BYTES_MAX: usize = 256;

/// Who calls, as the connection knows it.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Uid from the socket; agent and program as they named themselves.
    pub actor: Arc<Actor>,
    /// Its working directory, as it says.
    pub dir: Option<PathBuf>,
    /// The project of that directory.
    pub project: Option<String>,
    /// The session named when it connected.
    pub session: Option<String>,
    /// How much this connection may write; without one, as much as it likes.
    pub quota: Option<Arc<Quota>>,
    /// The idempotency key of a write that names none: the bridge's, so that a line sent again
    /// after a reconnect is not recorded twice.
    pub default_key: Option<String>,
    /// How long a call may wait for what is to come.
    pub wait_permit: WaitPermit,
}

impl Caller {
    /// This caller under the agent name that a call gives.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the name is too long.
    pub fn acting_as(mut self, agent: Option<&str>) -> Result<Self, Refusal> {
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

    /// Claims the idempotency key of a write: the one given, else the connection's.
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

    /// The same for arguments of which some are large: those are taken out of `args` before, and
    /// given by their names and the hashes of their canonical forms, which the caller has anyway. A
    /// tree of megabytes is not built just to be hashed.
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
            .hint("Use for example a UUID, or leave `key` out."));
        }
        let body = canonical_hash(operation, args, large)?;
        Ok(Some(KeyClaim::new(key, &self.actor, body)))
    }
}

/// How many writes a connection may make in any second.
#[derive(Debug)]
pub struct Quota {
    per_second_max: u32,
    /// When the current second began, and the writes in it.
    second: Mutex<(Instant, u32)>,
}

impl Quota {
    /// A quota of so many writes a second.
    #[must_use]
    pub fn new(per_second_max: u32) -> Self {
        Self {
            per_second_max,
            second: Mutex::new((Instant::now(), 0)),
        }
    }

    /// Takes one write from it.
    ///
    /// # Errors
    /// `RATE_LIMITED` when this second's are used up.
    pub fn take(&self) -> Result<(), Refusal> {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Refuses agent names that are too long or hold control characters.
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

/// SHA-256 of the operation's name and its arguments as canonical JSON (keys sorted), without
/// `key`, `agent` and `explain`: equal through every door. Each large argument follows on a line of
/// its own, as name and hash.
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

    /// Keys are kept for good, so the bytes that are hashed never change.
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

    /// What stands beside the arguments counts as they do.
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
