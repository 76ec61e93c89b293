//! The `review` operation: a person accepts or rejects a text.

use std::sync::Arc;

use lore::protocol::Position as WirePosition;
use lore::protocol::review::{Judgement as WireJudgement, ReviewArgs, ReviewReply};

use crate::error::Refusal;
use crate::events::trust::{Judgement, SuspicionReviewed, TrustEvent};
use crate::events::{Event, unexpected};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::review::command::RecordJudgement;

/// The `review` operation.
pub struct Review;

impl Op for Review {
    type Args = ReviewArgs;
    type Reply = ReviewReply;
    const NAME: &'static str = "review";
    const TITLE: &'static str = "Accept or reject a text";
    const DESCRIPTION: &'static str = "Says that the text of an event may be given to models, or to none, whatever the rules find. Only a \
        person may do it.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ReviewArgs>) -> Result<ReviewReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let asking = caller.clone();
        blocking(move || asking.check_person("accept or reject a text")).await?;
        let command = RecordJudgement {
            reviewed: SuspicionReviewed {
                event: args.event.0,
                judgement: stored(&args.judgement),
            },
            salt: cx.engine.clock().random(),
        };
        let outcome = Arc::clone(&cx).write(&caller, None, 0, command).await?;
        let Event::Trust(TrustEvent::Reviewed(reviewed)) = &outcome.meta else {
            return Err(unexpected(&outcome.event, "a judgement").into());
        };
        Ok(ReviewReply {
            event: WirePosition(reviewed.event),
            judgement: wire(reviewed.judgement),
            position: outcome.event.position(),
            durable: outcome.durable,
            warnings: Vec::new(),
        })
    }
}

const fn stored(judgement: &WireJudgement) -> Judgement {
    match judgement {
        WireJudgement::Accepted => Judgement::Accepted,
        WireJudgement::Rejected => Judgement::Rejected,
        WireJudgement::Open => Judgement::Open,
    }
}

/// Returns the wire form of a judgement.
pub(super) const fn wire(judgement: Judgement) -> WireJudgement {
    match judgement {
        Judgement::Accepted => WireJudgement::Accepted,
        Judgement::Rejected => WireJudgement::Rejected,
        Judgement::Open => WireJudgement::Open,
    }
}
