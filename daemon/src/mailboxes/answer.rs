//! Carries a request out, for the host session of its mailbox alone.

use std::sync::Arc;

use lore::mailbox::{ANSWER_BYTES_MAX, Direction};
use lore::paths::our_uid;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use serde_json::Value;

use super::open_mailboxes::{BoundSession, Request};
use crate::api::{Dispatch, LoneCall, alone, caller_of};
use crate::error::{Code, Refusal};
use crate::operation::{Caller, Context, Quota, blocking};

/// Arguments that name a session.
const SESSION_ARGUMENTS: [&str; 4] = ["session", "sessionId", "session_id", "sessions"];
/// Writes that act for any session, or remove or stop what any session records.
const OF_ALL_SESSIONS: [&str; 6] = [
    "forget",
    "forget_session",
    "import_log",
    "import_session",
    "pause_capture",
    "resume_capture",
];
/// Bytes of an answer beside the reply.
const AROUND_BYTES: u64 = 64 << 10;
/// Writes of one request: more than any operation makes.
const WRITES_MAX: u32 = 100_000;

/// Carries a request out and leaves the answer.
///
/// # Errors
/// When the answer cannot be left. The request waits, or is carried out again by the next daemon: its name is the key of
/// its writes.
pub async fn answer(cx: &Arc<Context>, request: Request) -> Result<(), Refusal> {
    let Request {
        mailbox,
        name,
        bound,
        read,
    } = request;
    let frames = match read {
        Ok((hello, call)) => carry_out(cx, &bound, name.as_str(), hello, call).await,
        Err(why) => alone::unreadable(&why),
    };
    blocking(move || {
        let file = bound.seal.close(Direction::Answer, &name, &frames);
        let left = mailbox.answer(&name, &file);
        left.map_err(|error| Refusal::new(Code::StorageUnavailable, error.to_string()))
    })
    .await
}

async fn carry_out(
    cx: &Arc<Context>,
    bound: &BoundSession,
    name: &str,
    hello: Hello,
    call: LoneCall,
) -> Vec<u8> {
    let id = call.id;
    let caller = match boxed(cx, bound, name, hello, &call).await {
        Ok(caller) => caller,
        Err(refusal) => return alone::refused(Some(id), &refusal),
    };
    let bytes_max = usize::try_from(ANSWER_BYTES_MAX - AROUND_BYTES).unwrap_or(usize::MAX);
    let dispatch = Dispatch::new(Arc::clone(cx));
    call.answer(&dispatch, caller, bytes_max).await
}

/// Returns the caller of a request: the host session of the mailbox, in its folder, whatever the request says.
async fn boxed(
    cx: &Arc<Context>,
    bound: &BoundSession,
    name: &str,
    hello: Hello,
    call: &LoneCall,
) -> Result<Caller, Refusal> {
    if !call.is_read() {
        check_write(&hello, call)?;
    }
    let session = &bound.session;
    let folder = session.folder.as_ref();
    let hello = Hello {
        cwd: folder.map(|folder| folder.to_string_lossy().into_owned()),
        host_session: Some(session.stated.clone()),
        mcp: false,
        bridge: None,
        tools: None,
        ..hello
    };
    let caller = caller_of(cx, our_uid(), &hello).await?;
    Ok(Caller {
        quota: Some(Arc::new(Quota::new(WRITES_MAX))),
        default_key: Some(format!("mailbox:{}:{name}", bound.seal.mailbox())),
        boxed_as: Some(session.id.clone()),
        ..caller
    })
}

/// Refuses a write for another session than that of the mailbox.
fn check_write(hello: &Hello, call: &LoneCall) -> Result<(), Refusal> {
    let names_session = |value: &Value| {
        let named = |name: &&str| value.get(*name).is_some_and(|value| !value.is_null());
        SESSION_ARGUMENTS.iter().any(named)
    };
    let is_named = match &call.args {
        Args::Value(value) => names_session(value),
        // What is not JSON is refused by the operation.
        Args::Json(json) => serde_json::from_slice(json).is_ok_and(|value| names_session(&value)),
    };
    let is_of_all = OF_ALL_SESSIONS.contains(&call.name.as_str());
    if !is_named && !is_of_all && hello.session.is_none() {
        return Ok(());
    }
    let what = match is_of_all {
        true => format!("`{}` is not possible in a sandbox", call.name),
        false => "a command in a sandbox writes into its own session only".to_owned(),
    };
    Err(Refusal::new(Code::Forbidden, what)
        .hint("Name no session, or run the command outside of the host's sandbox."))
}
