//! One line of the operation table, and what its handler gets.
//!
//! Every capability is an [`Op`]: a name, an argument type, a reply type, a sentence, and whether
//! it reads or writes. From that line come the compact call, the MCP tool, `lore call`, and the
//! generated docs/operations.md.

mod caller;
pub mod cursor;
mod extensions;
mod stale;
mod tenants;
mod wait_permit;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::FutureExt;
use lore::protocol::{Args, AsOf, CommonArgs, CommonReply, Meta, Position};
use lored_redact::Redactor;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tracing::Instrument;

use crate::cache::Cache;
use crate::clock::{Micros, parse_time};
use crate::engine::{
    Command, DataFolder, DecisionContext, Engine, Fold, KeyClaim, Outcome, PublishedState,
    QueuedWrite,
};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::log::index;
use crate::store::Blobs;

pub use caller::{AGENT_BYTES_MAX, Caller, KEY_BYTES_MAX, Quota, check_agent};
pub use extensions::Extensions;
pub use stale::while_stale;
pub use tenants::{TenantAccess, TenantDirectory};
pub use wait_permit::WaitPermit;

/// How long `at_least` waits for a position.
const AT_LEAST_MAX: Duration = Duration::from_secs(10);
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
    /// What rooms keep in memory.
    pub extensions: Extensions,
    /// Takes secrets out of what comes in.
    pub redactor: Redactor,
    /// The files of the data folder.
    pub folder: DataFolder,
    /// Where the daemon listens.
    pub socket: PathBuf,
    /// When it started.
    pub started: Micros,
    /// Connections now.
    pub clients: AtomicU64,
    /// Whether files of its users are read, watched and written here: not in a daemon of all users.
    pub reaches_files: bool,
}

/// A capability.
pub trait Op: 'static {
    /// Arguments on the wire.
    type Args: CommonArgs + DeserializeOwned + Serialize + JsonSchema + Send + 'static;
    /// Reply on the wire.
    type Reply: CommonReply + Serialize + JsonSchema + Send + 'static;
    /// As called.
    const NAME: &'static str;
    /// For people, in lists.
    const TITLE: &'static str;
    /// What it does, for models and the docs.
    const SENTENCE: &'static str;
    /// Whether it can change anything.
    const ACCESS: Access;
    /// Whether it can take away what is there.
    const IS_DESTRUCTIVE: bool = false;
    /// The name under which a reply that is a list stands where only an object may: in MCP's
    /// structured content.
    const WRAPPED_AS: Option<&'static str> = None;
    /// How many characters of its reply an MCP host should show whole; absent: as many as it likes.
    const RESULT_CHARS_MAX: Option<u64> = None;

    /// Whether its arguments hold the bytes of a file: it takes secrets out of them itself, and no door changes
    /// them before.
    const TAKES_BYTES: bool = false;

    /// Whether it may wait for what is to come, as long as its caller's [`WaitPermit`]: such calls do
    /// not count as calls in flight.
    const WAITS: bool = false;

    /// The reply as a text to read, where that says it better than its JSON does.
    fn readable(_reply: &Self::Reply) -> Option<String> {
        None
    }

    /// Does it.
    fn call(call: Call<Self::Args>) -> impl Future<Output = Result<Self::Reply, Refusal>> + Send;
}

/// A call of an operation.
pub struct Call<A> {
    /// What every handler shares.
    pub cx: Arc<Context>,
    /// Who calls, under the agent name that the arguments give.
    pub caller: Caller,
    /// Its arguments.
    pub args: A,
    /// How long the arguments are as text.
    pub bytes: usize,
    /// The operation's name.
    operation: &'static str,
}

impl<A: CommonArgs + Serialize> Call<A> {
    /// A call of the operation `O` by the agent that the arguments name, or else by the connection's.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the agent's name is too long.
    pub fn of<O: Op<Args = A>>(cx: Arc<Context>, caller: Caller, args: A) -> Result<Self, Refusal> {
        Ok(Self {
            cx,
            caller: caller.acting_as(args.agent())?,
            args,
            bytes: 0,
            operation: O::NAME,
        })
    }

    /// Claims the idempotency key of a write: the one given, else the connection's.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the key is empty or too long.
    pub fn claim(&self) -> Result<Option<KeyClaim>, Refusal> {
        self.caller
            .claim(self.operation, &self.args, self.args.key())
    }
}

impl<A> Call<A> {
    /// What handlers share, who calls, and the arguments.
    pub fn into_parts(self) -> (Arc<Context>, Caller, A) {
        (self.cx, self.caller, self.args)
    }

    /// The same call with the arguments of another operation.
    pub fn map<B>(self, args: impl FnOnce(A) -> B) -> Call<B> {
        Call {
            cx: self.cx,
            caller: self.caller,
            args: args(self.args),
            bytes: self.bytes,
            operation: self.operation,
        }
    }
}

/// The reply of a call, for any door.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The reply as JSON.
    pub json: Box<RawValue>,
    /// What is said beside it.
    pub meta: Option<Meta>,
    /// The reply as a text to read, where that says it better than its JSON does.
    pub readable: Option<String>,
}

/// The answer to a call.
pub type Answer = Result<Reply, Refusal>;

type CallHandle = fn(Arc<Context>, Caller, RawCall) -> Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The arguments of a call as its handler gets them.
#[derive(Debug)]
pub struct RawCall {
    /// The arguments as JSON text, without secrets.
    pub args: Vec<u8>,
    /// What the reply says about the secrets that were replaced.
    pub warning: Option<String>,
}

impl From<Args> for RawCall {
    fn from(args: Args) -> Self {
        Self {
            args: args.into_json(),
            warning: None,
        }
    }
}

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
    /// Whether it can take away what is there.
    pub is_destructive: bool,
    /// The name of a reply that is a list, where only an object may stand.
    pub wrapped_as: Option<&'static str>,
    /// How many characters of its reply an MCP host should show whole.
    pub result_chars_max: Option<u64>,
    /// Whether it takes secrets out of its arguments itself.
    pub takes_bytes: bool,
    /// Whether it may wait for what is to come.
    pub waits: bool,
    /// JSON Schema of the arguments: an object without references.
    pub input: fn() -> Map<String, Value>,
    /// JSON Schema of the reply.
    pub output: fn() -> Map<String, Value>,
    handle: CallHandle,
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
            is_destructive: O::IS_DESTRUCTIVE,
            wrapped_as: O::WRAPPED_AS,
            result_chars_max: O::RESULT_CHARS_MAX,
            takes_bytes: O::TAKES_BYTES,
            waits: O::WAITS,
            input: schema_of::<O::Args>,
            output: schema_of::<O::Reply>,
            handle: |cx, caller, raw| {
                Box::pin(async move {
                    let bytes = raw.args.len();
                    let args: O::Args = Args::Json(raw.args).read()?;
                    let call = Call {
                        bytes,
                        ..Call::of::<O>(cx, caller, args)?
                    };
                    let mut reply = O::call(call).await?;
                    if let (Some(warning), Some(warnings)) = (raw.warning, reply.warnings()) {
                        warnings.push(warning);
                    }
                    encode::<O>(&reply)
                })
            },
        }
    }

    /// Calls it. A panic in a handler is an answer, too.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the caller's quota is used up, or what the operation refuses.
    pub async fn call(&self, cx: Arc<Context>, caller: Caller, call: impl Into<RawCall>) -> Answer {
        if let (Access::Write, Some(quota)) = (self.access, &caller.quota) {
            quota.take()?;
        }
        let span = tracing::debug_span!("call", operation = self.name);
        answered(self.name, (self.handle)(cx, caller, call.into()))
            .instrument(span)
            .await
    }
}

fn encode<O: Op>(reply: &O::Reply) -> Answer {
    let json = serde_json::value::to_raw_value(reply).map_err(|error| {
        Refusal::new(
            Code::Internal,
            format!("the reply does not encode: {error}"),
        )
    })?;
    Ok(Reply {
        json,
        meta: reply.meta(),
        readable: O::readable(reply),
    })
}

/// What a handler answers, even when it panics; our own faults are logged.
///
/// # Errors
/// What the handler refuses; `INTERNAL` when it panics.
pub async fn answered<T>(
    name: &str,
    handler: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let answer = AssertUnwindSafe(handler)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            Err(Refusal::new(
                Code::Internal,
                format!("`{name}` failed inside the daemon; nothing else is affected"),
            )
            .hint("The daemon's log says where; please report it."))
        });
    if let Err(refusal) = &answer {
        // Why nothing is written has been said when it began.
        if refusal.is_fault() && refusal.code != Code::StorageUnavailable {
            tracing::error!(operation = name, %refusal);
        } else {
            tracing::debug!(operation = name, %refusal);
        }
    }
    answer
}

fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = settings.with_transform(RecursiveTransform(list_names));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match Value::from(schema) {
        Value::Object(mut map) => {
            map.shift_remove("title");
            map
        }
        _ => Map::new(),
    }
}

/// Makes a closed list of names the `enum` that it is, also where each name has a sentence.
fn list_names(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let names: Option<Vec<Value>> =
        map.get("oneOf")
            .and_then(Value::as_array)
            .and_then(|variants| {
                variants
                    .iter()
                    .map(|one| one.get("const").cloned())
                    .collect()
            });
    if let Some(names) = names {
        map.shift_remove("oneOf");
        map.insert("type".to_owned(), Value::from("string"));
        map.insert("enum".to_owned(), Value::from(names));
    }
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
            .write(QueuedWrite {
                command: Box::new(command),
                actor: Arc::clone(&caller.actor),
                key,
                bytes,
            })
            .await
    }

    /// What the first call under a key came to, if there was one: a repeated call needs no preparing,
    /// and gets its reply whatever has changed since.
    ///
    /// # Errors
    /// `IDEMPOTENCY_CONFLICT` when it was another call, `NOT_FOUND` when its content was forgotten.
    pub async fn repeated(
        &self,
        caller: &Caller,
        key: Option<&KeyClaim>,
    ) -> Result<Option<Outcome>, Refusal> {
        let Some(key) = key else { return Ok(None) };
        let published = self.read(None).await?;
        if index::get_key(&published.snapshot, &key.hash)?.is_none() {
            return Ok(None);
        }
        let outcome = self.write(caller, Some(key.clone()), 0, RepeatedCall).await;
        outcome.map(Some)
    }

    /// Refuses what reads or watches files, where those of the users are none of the daemon's business.
    ///
    /// # Errors
    /// `FORBIDDEN`.
    pub fn check_reaches_files(&self) -> Result<(), Refusal> {
        if self.reaches_files {
            return Ok(());
        }
        let message = "this daemon serves all users of the machine, and reads no files of theirs";
        Err(Refusal::new(Code::Forbidden, message.to_owned())
            .hint(
                "Send the documents: `lore docs add` does it by itself, `put_document` sends one. Or run a \
                 daemon of your own: `lore service install`, or unset LORE_SOCKET.",
            )
            .details(serde_json::json!({"reaches_files": false})))
    }

    /// The state that a read sees, at `at_least` or later.
    ///
    /// # Errors
    /// `TIMEOUT` when that position is not reached.
    pub async fn read(&self, at_least: Option<Position>) -> Result<Arc<PublishedState>, Refusal> {
        match at_least {
            None => self.engine.read().await,
            Some(position) => self.engine.read_at_least(position, AT_LEAST_MAX).await,
        }
    }
}

/// Stands for a call whose key was used: the writer answers from the first one's event.
struct RepeatedCall;

impl Command for RepeatedCall {
    fn decide(&mut self, _on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        Err(Refusal::new(
            Code::Internal,
            "a key that was used is not known to the writer",
        ))
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
                Refusal::invalid(format!("`as_of` is not a valid time: {text:?}"))
                    .hint("Give a position, or a time such as 2026-11-21T10:00:00Z.")
            }),
        }
    }
}
