//! An entry of the operation table, and the inputs of its handler.
//!
//! Every capability is an [`Op`]: a name, an argument type, a reply type, a description, and whether
//! it reads or writes. The compact call, the MCP tool, `lore call` and docs/operations.md are derived from it.

mod arguments;
mod caller;
mod context;
pub mod cursor;
mod encoding;
mod extensions;
mod session_use;
mod stale;
mod tenants;
mod wait_permit;

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use lore::protocol::{Args, AsOf, CommonArgs, CommonReply, Meta, Position};
use lored_redact::Rules;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tracing::Instrument;

use crate::budget::{self, CallBudget};
use crate::clock::{Micros, parse_time};
use crate::engine::KeyClaim;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};

pub use caller::{AGENT_BYTES_MAX, Caller, CallerProcess, KEY_BYTES_MAX, Quota, check_agent};
pub use context::Context;
pub use encoding::reply_too_large;
pub use extensions::Extensions;
pub use session_use::SessionUse;
pub use stale::while_stale;
pub use tenants::{TenantAccess, TenantDirectory};
pub use wait_permit::WaitPermit;

/// Whether an operation can change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The operation changes nothing.
    Read,
    /// The operation records events or works on the store.
    Write,
}

/// The memory that one call of an operation takes at most: what it reads, holds and returns. The settings may allow less.
///
/// It is reserved step by step, before a text is read or a value is built; beyond it the call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryBound {
    /// Rows and short texts: 8 MiB.
    Rows,
    /// A page of a list, or texts that are cut: 64 MiB.
    Page,
    /// Content of any size: as much as the settings allow for a call.
    Content,
}

impl MemoryBound {
    /// Returns the bound in bytes.
    #[must_use]
    pub const fn bytes_max(self) -> usize {
        match self {
            Self::Rows => 8 << 20,
            Self::Page => 64 << 20,
            Self::Content => usize::MAX,
        }
    }
}

/// An operation.
pub trait Op: 'static {
    /// Arguments on the wire.
    type Args: CommonArgs + DeserializeOwned + Serialize + JsonSchema + Send + 'static;
    /// Reply on the wire.
    type Reply: CommonReply + Serialize + JsonSchema + Send + 'static;
    /// Name in calls.
    const NAME: &'static str;
    /// Title in lists for people.
    const TITLE: &'static str;
    /// Description for models and the docs.
    const DESCRIPTION: &'static str;
    /// Whether it can change anything.
    const ACCESS: Access;
    /// The memory that a call takes at most.
    const MEMORY: MemoryBound;
    /// Whether it can remove existing data.
    const IS_DESTRUCTIVE: bool = false;
    /// Property name that wraps a list reply where only an object is allowed: in MCP's structured content.
    const WRAPPED_AS: Option<&'static str> = None;
    /// Number of characters of the reply that an MCP host should show whole; `None` leaves it to the host.
    const RESULT_CHARS_MAX: Option<u64> = None;

    /// Whether the arguments contain the bytes of a file. The operation then redacts secrets itself, and no transport
    /// changes the arguments before.
    const TAKES_BYTES: bool = false;

    /// Memory that is taken for each key and item of large arguments, in bytes. Trees of JSON take more than texts.
    const ARGUMENT_ITEM_BYTES: usize = 64;

    /// Whether it may wait for what is to come, as long as its caller's [`WaitPermit`]: such calls do
    /// not count as calls in flight.
    const WAITS: bool = false;

    /// Reads arguments that are mostly those of an earlier call, before they are redacted.
    const REREADS: Option<Rereads> = None;

    /// Renders the reply as text, where that is clearer than its JSON.
    fn readable(_reply: &Self::Reply) -> Option<String> {
        None
    }

    /// Executes the call.
    fn call(call: Call<Self::Args>) -> impl Future<Output = Result<Self::Reply, Refusal>> + Send;
}

/// A call of an operation.
pub struct Call<A> {
    /// The shared context.
    pub cx: Arc<Context>,
    /// The caller, with the agent name of the arguments.
    pub caller: Caller,
    /// The arguments.
    pub args: A,
    /// Length of the arguments as text, in bytes.
    pub bytes: usize,
    /// What was read of the arguments before they were redacted, if anything.
    pub known: Option<Box<dyn Any + Send>>,
    /// The rules of redaction, if nothing in the arguments was redacted under them.
    pub clean_under: Option<Arc<Rules>>,
    operation: &'static str,
}

impl<A: CommonArgs + Serialize> Call<A> {
    /// Creates a call of the operation `O`. The agent comes from the arguments, otherwise from the connection.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the agent's name is too long.
    pub fn of<O: Op<Args = A>>(cx: Arc<Context>, caller: Caller, args: A) -> Result<Self, Refusal> {
        let caller = Caller {
            session_use: SessionUse::default(),
            ..caller.with_agent(args.agent())?
        };
        Ok(Self {
            cx,
            caller,
            args,
            bytes: 0,
            known: None,
            clean_under: None,
            operation: O::NAME,
        })
    }

    /// Claims the idempotency key of a write: the argument, otherwise the connection's key.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the key is empty or too long.
    pub fn claim(&self) -> Result<Option<KeyClaim>, Refusal> {
        self.caller
            .claim(self.operation, &self.args, self.args.key())
    }
}

impl<A> Call<A> {
    /// Returns the shared context, the caller and the arguments.
    pub fn into_parts(self) -> (Arc<Context>, Caller, A) {
        (self.cx, self.caller, self.args)
    }

    /// Converts the arguments to those of another operation.
    pub fn map<B>(self, args: impl FnOnce(A) -> B) -> Call<B> {
        Call {
            cx: self.cx,
            caller: self.caller,
            args: args(self.args),
            bytes: self.bytes,
            known: self.known,
            clean_under: self.clean_under,
            operation: self.operation,
        }
    }
}

/// The reply of a call, for any transport.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The reply as JSON.
    pub json: Box<RawValue>,
    /// Metadata of the reply.
    pub meta: Option<Meta>,
    /// The reply as readable text, where that is clearer than its JSON, for callers that read it.
    pub readable: Option<String>,
    /// Warnings that this text does not show, because they are in the metadata or in the JSON alone.
    pub unshown_warnings: Vec<String>,
    /// The memory of the call, reserved until the reply is written.
    pub memory: Option<CallBudget>,
}

/// The result of a call.
pub type Answer = Result<Reply, Refusal>;

type CallHandle = fn(Arc<Context>, Caller, RawCall) -> Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The arguments of a call as its handler gets them.
#[derive(Debug)]
pub struct RawCall {
    /// The arguments as JSON text, with secrets redacted.
    pub args: Vec<u8>,
    /// Warning for the reply about redacted secrets.
    pub warning: Option<String>,
    /// What was read of the arguments before they were redacted, if anything.
    pub known: Option<Box<dyn Any + Send>>,
    /// The rules of redaction, if nothing in the arguments was redacted under them.
    pub clean_under: Option<Arc<Rules>>,
}

/// Reads arguments that are mostly those of an earlier call, before they are redacted; returns them if they have to be read
/// whole. It redacts what is new in them, and leaves arguments in which anything was redacted to the usual way.
pub type Rereads = fn(&Context, &Caller, Vec<u8>) -> Result<RawCall, Vec<u8>>;

impl From<Args> for RawCall {
    fn from(args: Args) -> Self {
        Self {
            args: args.into_json(),
            warning: None,
            known: None,
            clean_under: None,
        }
    }
}

/// An entry of the operation table.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Name in calls.
    pub name: &'static str,
    /// Title in lists for people.
    pub title: &'static str,
    /// Description.
    pub description: &'static str,
    /// Whether it can change anything.
    pub access: Access,
    /// The memory that a call takes at most.
    pub memory: MemoryBound,
    /// Whether it can remove existing data.
    pub is_destructive: bool,
    /// Property name that wraps a list reply where only an object is allowed.
    pub wrapped_as: Option<&'static str>,
    /// Number of characters of the reply that an MCP host should show whole.
    pub result_chars_max: Option<u64>,
    /// Whether the operation redacts its arguments itself.
    pub takes_bytes: bool,
    /// Whether it may wait for new events.
    pub waits: bool,
    /// Reads arguments that are mostly those of an earlier call.
    pub rereads: Option<Rereads>,
    /// JSON Schema of the arguments: an object without references.
    pub input: fn() -> Map<String, Value>,
    /// JSON Schema of the reply.
    pub output: fn() -> Map<String, Value>,
    handle: CallHandle,
}

impl Operation {
    /// Builds the table entry of an operation.
    #[must_use]
    pub const fn of<O: Op>() -> Self {
        Self {
            name: O::NAME,
            title: O::TITLE,
            description: O::DESCRIPTION,
            access: O::ACCESS,
            memory: O::MEMORY,
            is_destructive: O::IS_DESTRUCTIVE,
            wrapped_as: O::WRAPPED_AS,
            result_chars_max: O::RESULT_CHARS_MAX,
            takes_bytes: O::TAKES_BYTES,
            waits: O::WAITS,
            rereads: O::REREADS,
            input: schema_of::<O::Args>,
            output: schema_of::<O::Reply>,
            handle: |cx, caller, raw| {
                Box::pin(async move {
                    let bytes = raw.args.len();
                    arguments::reserve::<O>(&raw.args)?;
                    let args: O::Args = Args::Json(raw.args).read()?;
                    let shared = Arc::clone(&cx);
                    let call = Call {
                        bytes,
                        known: raw.known,
                        clean_under: raw.clean_under,
                        ..Call::of::<O>(cx, caller, args)?
                    };
                    let session_use = call.caller.session_use.clone();
                    let reads_text = call.caller.reads_text;
                    let reply = O::call(call).await;
                    shared.settle_blobs(reply.is_err()).await;
                    let health = shared.engine.health();
                    if let Err(refusal) = &reply
                        && refusal.code == Code::Corrupt
                    {
                        health.note_damage(Some(&refusal.message));
                    }
                    let mut reply = reply.map_err(or_shortage)?;
                    if let (Some(warning), Some(warnings)) =
                        (shared.engine.warning(), reply.warnings())
                    {
                        warnings.push(warning);
                    }
                    session_use.tell(&mut reply);
                    if let (Some(warning), Some(warnings)) = (raw.warning, reply.warnings()) {
                        warnings.push(warning);
                    }
                    let warnings = reply.warnings().filter(|_| reads_text);
                    let warnings = warnings.map(|warnings| warnings.clone());
                    encoding::encode::<O>(&reply, warnings.unwrap_or_default(), reads_text)
                })
            },
        }
    }

    /// Calls the operation. A panic in its handler becomes an error answer.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the caller's quota is used up, or the operation's refusal.
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

/// Returns the reason why the call could not go on, if its budget has one, instead of the refusal that followed from it.
fn or_shortage(refusal: Refusal) -> Refusal {
    let shortage = budget::current().and_then(|budget| budget.shortage());
    shortage.map_or(refusal, Refusal::from)
}

/// Runs a handler and converts a panic to an error; internal faults are logged.
///
/// # Errors
/// The handler's refusal; `INTERNAL` when it panics.
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
        // The reason for failed writes was logged when they began to fail.
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

/// Converts a closed list of names to an `enum` in the schema, also where each name has a description.
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

/// Runs slow work off the event loop, within the budget of the current call.
///
/// # Errors
/// The refusal of the work; `STORAGE_UNAVAILABLE` when the daemon stops before it begins.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let within = budget::current();
    let work = move || match within {
        Some(budget) => budget.run_blocking(work),
        None => work(),
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_cancelled() => Err(Refusal::new(
            Code::StorageUnavailable,
            "the daemon is stopping",
        )
        .hint(hint!["Repeat the call; the next daemon answers it."; "Repeat a write with the same ", arg("key"), "."])),
        Err(_) => Err(Refusal::new(
            Code::Internal,
            "the work failed inside the daemon; nothing else is affected",
        )),
    }
}

/// A past moment of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Up to and including this position.
    Position(Position),
    /// Up to and including events of this time.
    Time(Micros),
}

impl Moment {
    /// Parses the argument `as_of`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an invalid time.
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
