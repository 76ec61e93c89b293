//! The `brief` operation: returns the text that a session of the project is given at its start.

use std::sync::Arc;

use lore::protocol::hooks::{BriefArgs, BriefReply};

use crate::capture::inject;
use crate::error::Refusal;
use crate::operation::{Access, Call, Caller, MemoryBound, Op, blocking};
use crate::sessions::{self, SessionSelector};
use crate::state::State;

/// Default number of tokens.
const TOKENS: u64 = 2_000;
/// Range of the number of tokens.
const TOKENS_RANGE: std::ops::RangeInclusive<u64> = 100..=16_000;

/// The `brief` operation.
pub struct Brief;

impl Op for Brief {
    type Args = BriefArgs;
    type Reply = BriefReply;
    const NAME: &'static str = "brief";
    const TITLE: &'static str = "Brief on the project";
    const DESCRIPTION: &'static str = "Says what the project's last sessions were asked, did and left open, what is to be \
        remembered, and who is at work.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<BriefArgs>) -> Result<BriefReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let tokens = args.max_tokens.unwrap_or(TOKENS);
        if !TOKENS_RANGE.contains(&tokens) {
            return Err(Refusal::invalid(format!(
                "`max_tokens` is {tokens}; expected {} to {}",
                TOKENS_RANGE.start(),
                TOKENS_RANGE.end()
            )));
        }
        let state = State::live(&cx, args.at_least).await?;
        let named = sessions::named_project(&cx, &state, &caller, args.project)?;
        let project = named.or_else(|| caller.project.clone());
        let own = own_session(&state, &caller, cx.engine.clock().now());
        let position = state.position();
        let (shared, of) = (Arc::clone(&cx), project.clone());
        let budget = usize::try_from(tokens).unwrap_or(usize::MAX);
        let (text, tokens) = blocking(move || {
            let folder = caller.dir.as_deref().and_then(|dir| dir.to_str());
            inject::brief_of(&shared, &state, (of, own), folder, budget)
        })
        .await?;
        Ok(BriefReply {
            text,
            tokens,
            position,
            durable: cx.engine.is_durable(),
            project,
            warnings: Vec::new(),
        })
    }

    fn readable(reply: &BriefReply) -> Option<String> {
        Some(match reply.text.is_empty() {
            true => "Nothing is known of this project yet.".to_owned(),
            false => reply.text.clone(),
        })
    }
}

/// Returns the session of an agent, which knows what it did itself. A person at a terminal does not.
fn own_session(state: &State, caller: &Caller, now: u64) -> String {
    let own = SessionSelector::of(caller, None).find_own(state, &caller.actor, now);
    match caller.is_at_terminal() {
        true => String::new(),
        false => own.unwrap_or_default(),
    }
}
