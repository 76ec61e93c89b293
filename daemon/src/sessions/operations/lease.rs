//! `lease_session` and `release_session`.

use lore::protocol::SessionId;
use lore::protocol::sessions::{
    LeaseSessionArgs, LeaseSessionReply, ReleaseSessionArgs, ReleaseSessionReply,
};

use crate::clock::format_time;
use crate::error::Refusal;
use crate::events::sessions::SessionEvent;
use crate::events::{Event, unexpected};
use crate::hint::{arg, hint};
use crate::log::{Body, codec};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions::command::{AcquireLease, ReleaseLease};
use crate::sessions::select::{PreparedSession, SessionSelector, session_of};

/// Default duration of a lease, in milliseconds.
const MS: u64 = 30_000;
/// Minimum and maximum duration, in milliseconds.
const MS_MIN: u64 = 1000;
const MS_MAX: u64 = 3_600_000;

pub struct LeaseSession;

impl Op for LeaseSession {
    type Args = LeaseSessionArgs;
    type Reply = LeaseSessionReply;
    const NAME: &'static str = "lease_session";
    const TITLE: &'static str = "Lease a session";
    const DESCRIPTION: &'static str = "Takes or renews a named lease of a session for some seconds, for exclusive work. Give its \
        token as `fence` with writes; a write after the lease was lost fails.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<LeaseSessionArgs>) -> Result<LeaseSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let ms = args.ms.unwrap_or(MS);
        if !(MS_MIN..=MS_MAX).contains(&ms) {
            return Err(Refusal::invalid(format!(
                "`ms` is {ms}; a lease holds for {MS_MIN} to {MS_MAX} milliseconds"
            ))
            .hint(hint![
                "Take it for less and renew it with its ",
                arg("token"),
                " while you work."
            ]));
        }
        let name = args.name.unwrap_or_else(|| "session".to_owned());
        // The same characters as in ids: a name is part of a row's key.
        SessionId::new(name.as_str()).map_err(|error| {
            let error = error.to_string().replace("session id", "lease's name");
            Refusal::invalid(error)
        })?;
        let clock = cx.engine.clock();
        let command = AcquireLease {
            // A lease alone makes no session: there would be nothing to guard.
            choice: PreparedSession::existing(SessionSelector::of(&caller, args.session.as_ref())),
            name,
            micros: ms * 1000,
            token: args.token,
            body: Body::new(codec::EMPTY.to_vec(), clock.random()),
        };
        let outcome = cx.write(&caller, claim, 0, command).await?;
        let header = &outcome.event.header;
        let Event::Session(SessionEvent::Leased(leased)) = outcome.meta else {
            return Err(unexpected(&outcome.event, "a lease that was taken").into());
        };
        Ok(LeaseSessionReply {
            session: session_of(header)?,
            token: leased.token(&outcome.event),
            until: format_time(leased.until),
            renewed: leased.token.is_some(),
            name: leased.name,
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

pub struct ReleaseSession;

impl Op for ReleaseSession {
    type Args = ReleaseSessionArgs;
    type Reply = ReleaseSessionReply;
    const NAME: &'static str = "release_session";
    const TITLE: &'static str = "Release a lease";
    const DESCRIPTION: &'static str = "Releases a lease of a session before it ends.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ReleaseSessionArgs>) -> Result<ReleaseSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let clock = cx.engine.clock();
        let selector = SessionSelector::of(&caller, args.session.as_ref());
        let published = cx.read(None).await?;
        let command = ReleaseLease {
            session: selector.find_own(&published.snapshot, &caller.actor, clock.now())?,
            project: caller.project.clone(),
            token: args.token,
            body: Body::new(codec::EMPTY.to_vec(), clock.random()),
        };
        let outcome = cx.write(&caller, claim, 0, command).await?;
        let header = &outcome.event.header;
        let Event::Session(SessionEvent::Released(released)) = outcome.meta else {
            return Err(unexpected(&outcome.event, "a lease that was released").into());
        };
        Ok(ReleaseSessionReply {
            session: session_of(header)?,
            name: released.name,
            position: header.position,
            durable: outcome.durable,
            chosen_by: None,
            project: header.project.clone(),
            warnings: Vec::new(),
        })
    }
}
