//! `forget_session`.

use std::sync::Arc;

use lore::protocol::sessions::{ForgetSessionArgs, ForgetSessionReply};

use crate::engine::Outcome;
use crate::error::Refusal;
use crate::events::sessions::SessionEvent;
use crate::events::{Event, unexpected};
use crate::forgetting::command::{ForgetSession as Forget, SessionCounts, check};
use crate::forgetting::erasure::finish;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::session_of;

/// The `forget_session` operation.
pub struct ForgetSession;

impl Op for ForgetSession {
    type Args = ForgetSessionArgs;
    type Reply = ForgetSessionReply;
    const NAME: &'static str = "forget_session";
    const TITLE: &'static str = "Forget a session";
    const DESCRIPTION: &'static str = "Forgets everything in a session for good: its bytes are gone from disk before the reply. The \
        log still verifies, and other sessions do not change.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<ForgetSessionArgs>) -> Result<ForgetSessionReply, Refusal> {
        let key = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if args.dry_run == Some(true) {
            return foresee(&cx, args).await;
        }
        let outcome = match cx.repeated(&caller, key.as_ref()).await? {
            Some(outcome) => outcome,
            None => {
                let session = args.session.as_str();
                let counted = count(&cx, session).await?;
                let command = Forget::new(session, counted, cx.engine.clock().random());
                cx.write(&caller, key, 0, command).await?
            }
        };
        let warnings = match finish(&cx).await {
            Ok(warnings) => warnings,
            // It is forgotten nevertheless; only its bytes are still on disk.
            Err(refusal) => vec![format!("it is erased from the disk later: {refusal}")],
        };
        reply(&outcome, warnings)
    }
}

/// Counts the current contents of a session.
async fn count(cx: &Arc<Context>, session: &str) -> Result<SessionCounts, Refusal> {
    let published = cx.read(None).await?;
    let (cx, session) = (Arc::clone(cx), session.to_owned());
    blocking(move || {
        check(&published.snapshot, &session)?;
        Ok(SessionCounts::of(&published.snapshot, &cx.blobs, &session)?)
    })
    .await
}

/// Reports what would be forgotten, without a change.
async fn foresee(
    cx: &Arc<Context>,
    args: ForgetSessionArgs,
) -> Result<ForgetSessionReply, Refusal> {
    let counted = count(cx, args.session.as_str()).await?;
    Ok(ForgetSessionReply {
        session: args.session,
        events: counted.events,
        bytes: counted.all_bytes(),
        position: cx.engine.position(),
        durable: cx.engine.is_durable(),
        warnings: vec!["a dry run: nothing was forgotten".to_owned()],
    })
}

/// Builds the reply from the tombstone.
fn reply(outcome: &Outcome, warnings: Vec<String>) -> Result<ForgetSessionReply, Refusal> {
    let event = &outcome.event;
    let Event::Session(SessionEvent::Forgotten(reported)) = outcome.meta else {
        return Err(unexpected(event, "a session that was forgotten").into());
    };
    Ok(ForgetSessionReply {
        session: session_of(&event.header)?,
        events: reported.events,
        bytes: reported.bytes,
        position: event.position(),
        durable: outcome.durable,
        warnings,
    })
}
