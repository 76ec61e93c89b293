//! One line of the operation table, and what its handler gets.
//!
//! Every capability is an [`Op`]: a name, an argument type, a reply type, a sentence, and whether
//! it reads or writes. From that line come the compact call, the MCP tool, `lore call`, and the
//! generated docs/operations.md.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use lore::protocol::{Args, AsOf, Position};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::cache::Cache;
use crate::clock::{Micros, parse_time};
use crate::engine::{Command, DataFolder, Engine, Fold, KeyClaim, Outcome, Published, Write};
use crate::error::{Code, Refusal};
use crate::log::{Actor, Hash};
use crate::store::Blobs;

/// How long `at_least` waits for a position.
const AT_LEAST_MAX: Duration = Duration::from_secs(10);
/// The longest idempotency key, in bytes.
pub const KEY_BYTES_MAX: usize = 256;
/// The longest agent name, in bytes.
pub const AGENT_BYTES_MAX: usize = 128;

/// Whether an operation can change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It changes nothing.
    Read,
    /// It records events, or works on the store.
    Write,
}

/// What every handler shares.
pub struct Context {
    /// The write side and the last durable state.
    pub engine: Engine,
    /// Large bodies.
    pub blobs: Blobs,
    /// The sum of all folds.
    pub fold: Arc<dyn Fold>,
    /// What was derived from events and can be derived again.
    pub cache: Cache,
    /// The files of the data folder.
    pub folder: DataFolder,
    /// Where the daemon listens.
    pub socket: PathBuf,
    /// When it started.
    pub started: Micros,
    /// Connections now.
    pub clients: AtomicU64,
}

/// Who calls, as the connection knows it.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Uid from the socket; agent and program as they named themselves.
    pub actor: Arc<Actor>,
    /// The project of its working directory.
    pub project: Option<String>,
    /// The session named when it connected.
    pub session: Option<String>,
    /// How much this connection may write; without one, as much as it likes.
    pub quota: Option<Arc<Quota>>,
    /// The idempotency key of a write that names none: the bridge's, so that a line sent again
    /// after a reconnect is not recorded twice.
    pub default_key: Option<String>,
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

/// A capability.
pub trait Op: 'static {
    /// Arguments on the wire.
    type Args: DeserializeOwned + Serialize + JsonSchema + Send + 'static;
    /// Reply on the wire.
    type Reply: Serialize + JsonSchema + Send + 'static;
    /// As called.
    const NAME: &'static str;
    /// For people, in lists.
    const TITLE: &'static str;
    /// What it does, for models and the docs.
    const SENTENCE: &'static str;
    /// Whether it can change anything.
    const ACCESS: Access;

    /// Does it.
    fn call(
        cx: Arc<Context>,
        caller: Caller,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Reply, Refusal>> + Send;
}

/// The answer to a call: the reply as JSON.
pub type Answer = Result<Vec<u8>, Refusal>;

type Handle = fn(Arc<Context>, Caller, Args) -> Pin<Box<dyn Future<Output = Answer> + Send>>;

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Operation {
    /// As called.
    pub name: &'static str,
    /// For people, in lists.
    pub title: &'static str,
    /// What it does.
    pub sentence: &'static str,
    /// Whether it can change anything.
    pub access: Access,
    /// JSON Schema of the arguments: an object without references.
    pub input: fn() -> Map<String, Value>,
    /// JSON Schema of the reply.
    pub output: fn() -> Map<String, Value>,
    handle: Handle,
}

impl Operation {
    /// The line of a capability.
    #[must_use]
    pub const fn of<O: Op>() -> Self {
        Self {
            name: O::NAME,
            title: O::TITLE,
            sentence: O::SENTENCE,
            access: O::ACCESS,
            input: schema_of::<O::Args>,
            output: schema_of::<O::Reply>,
            handle: |cx, caller, args| {
                Box::pin(async move {
                    let args: O::Args = args.read()?;
                    let reply = O::call(cx, caller, args).await?;
                    serde_json::to_vec(&reply).map_err(|error| {
                        Refusal::new(
                            Code::Internal,
                            format!("the reply does not encode: {error}"),
                        )
                    })
                })
            },
        }
    }

    /// Calls it. A panic in a handler is an answer, too.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the caller's quota is used up, or what the operation refuses.
    pub async fn call(&self, cx: Arc<Context>, caller: Caller, args: Args) -> Answer {
        if let (Access::Write, Some(quota)) = (self.access, &caller.quota) {
            quota.take()?;
        }
        let answer = AssertUnwindSafe((self.handle)(cx, caller, args))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                Err(Refusal::new(
                    Code::Internal,
                    format!(
                        "`{}` failed inside the daemon; nothing else is affected",
                        self.name
                    ),
                )
                .hint("The daemon's log says where; please report it."))
            });
        if let Err(refusal) = &answer {
            // Why nothing is written has been said when it began.
            if refusal.is_fault() && refusal.code != Code::StorageUnavailable {
                tracing::error!(operation = self.name, %refusal);
            } else {
                tracing::debug!(operation = self.name, %refusal);
            }
        }
        answer
    }
}

fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match Value::from(schema) {
        Value::Object(mut map) => {
            map.shift_remove("title");
            map
        }
        _ => Map::new(),
    }
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
        let body = canonical_hash(operation, args)?;
        Ok(Some(KeyClaim::new(key, &self.actor, body)))
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
/// `key`, `agent` and `explain`: equal through every door.
fn canonical_hash<A: Serialize>(operation: &str, args: &A) -> Result<Hash, Refusal> {
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
    let text = format!("{operation}\n{value}");
    Ok(Hash::of(text.as_bytes()))
}

impl Context {
    /// Submits a write for a caller.
    ///
    /// # Errors
    /// What [`Engine::write`] refuses.
    pub async fn write(
        &self,
        caller: &Caller,
        key: Option<KeyClaim>,
        bytes: usize,
        command: impl Command + 'static,
    ) -> Result<Outcome, Refusal> {
        self.engine
            .write(Write {
                command: Box::new(command),
                actor: Arc::clone(&caller.actor),
                key,
                bytes,
            })
            .await
    }

    /// The state that a read sees, at `at_least` or later.
    ///
    /// # Errors
    /// `TIMEOUT` when that position is not reached.
    pub async fn read(&self, at_least: Option<Position>) -> Result<Arc<Published>, Refusal> {
        match at_least {
            None => self.engine.read().await,
            Some(position) => self.engine.read_at_least(position, AT_LEAST_MAX).await,
        }
    }
}

/// Runs what takes long off the event loop.
///
/// # Errors
/// What the work refuses; `STORAGE_UNAVAILABLE` when the daemon stops before it has begun.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_cancelled() => Err(Refusal::new(
            Code::StorageUnavailable,
            "the daemon is stopping",
        )
        .hint("Repeat the call, a write with the same `key`; the next daemon answers it.")),
        Err(_) => Err(Refusal::new(
            Code::Internal,
            "the work failed inside the daemon; nothing else is affected",
        )),
    }
}

/// A moment to look back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Up to and with this position.
    Position(Position),
    /// Up to and with events of this time.
    Time(Micros),
}

impl Moment {
    /// Reads the argument `as_of`.
    ///
    /// # Errors
    /// `INVALID_INPUT` when it is no time.
    pub fn of(as_of: &AsOf) -> Result<Self, Refusal> {
        match as_of {
            AsOf::Position(position) => Ok(Self::Position(*position)),
            AsOf::Time(text) => parse_time(text).map(Self::Time).ok_or_else(|| {
                Refusal::invalid(format!("`as_of` is no time: {text:?}"))
                    .hint("Give a position, or a time such as 2026-11-21T10:00:00Z.")
            }),
        }
    }
}
