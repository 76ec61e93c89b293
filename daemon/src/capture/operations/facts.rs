//! The `list_facts` operation: what was said in a project that lasts, each with its versions.

use std::sync::Arc;

use lore::protocol::SessionId;
use lore::protocol::facts::{
    CitedCode, Fact, FactState, FactVersion, ListFactsArgs, ListFactsReply,
};
use lored_moments::{Freshness, Speaker};

use crate::capture::inject::{self, FactEntry};
use crate::capture::memory::KnownSentence;
use crate::clock::format_time;
use crate::error::Refusal;
use crate::operation::cursor::list_limit;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions;
use crate::state::State;

/// Default and maximum number of facts.
const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Characters of a statement.
const TEXT_CHARS: usize = 600;

/// The `list_facts` operation.
pub struct ListFacts;

impl Op for ListFacts {
    type Args = ListFactsArgs;
    type Reply = ListFactsReply;
    const NAME: &'static str = "list_facts";
    const TITLE: &'static str = "List facts with their versions";
    const DESCRIPTION: &'static str = "Lists what was said in a project that lasts: facts, decisions, rules and preferences, with what \
        each replaced, what contradicts it, and whether the code that it cites is as it was.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListFactsArgs>) -> Result<ListFactsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        let named = sessions::named_project(&cx, &state, &caller, args.project.clone())?;
        let project = named.or_else(|| caller.project.clone());
        let (shared, of) = (Arc::clone(&cx), project.clone());
        let position = state.position();
        let (facts, more) = blocking(move || {
            let folder = caller.dir.as_deref().and_then(|dir| dir.to_str());
            let mut entries = inject::facts_of(&shared, &state, of, folder)?;
            if args.include_replaced != Some(true) {
                entries.retain(|one| matches!(one.state, FactState::Current | FactState::Disputed));
            }
            match args.doubtful {
                // The oldest evidence first: it is the least likely to hold still.
                Some(true) => entries.retain(is_doubtful),
                _ => entries.reverse(),
            }
            let more = entries.len().saturating_sub(limit) as u64;
            let facts = entries.into_iter().take(limit).map(fact);
            Ok((facts.collect::<Vec<_>>(), more))
        })
        .await?;
        Ok(ListFactsReply {
            facts,
            more,
            position,
            durable: cx.engine.is_durable(),
            project,
            warnings: Vec::new(),
        })
    }
}

/// Whether a person should look at it: it is in dispute, or what it cites is no longer there. What a person accepted since is
/// not doubtful.
fn is_doubtful(entry: &FactEntry) -> bool {
    let is_stale = matches!(
        entry.freshness,
        Some(Freshness::Changed(_) | Freshness::Gone)
    );
    entry.state == FactState::Disputed || (is_stale && !entry.known.is_accepted)
}

fn fact(entry: FactEntry) -> Fact {
    let known = &entry.known;
    Fact {
        position: known.position,
        session: SessionId::new(entry.session).ok(),
        message: known.message.clone(),
        text: shortened(&known.sentence.text),
        kind: known.sentence.kind.name().to_owned(),
        agent: Some(known.agent.clone()).filter(|agent| !agent.is_empty()),
        by_user: known.speaker == Speaker::User,
        remembered: known.is_remembered,
        at: format_time(known.at),
        state: entry.state,
        cited_code: entry.freshness.map(|freshness| match freshness {
            Freshness::Fresh => CitedCode::Fresh,
            Freshness::Changed(_) => CitedCode::Changed,
            Freshness::Gone => CitedCode::Gone,
        }),
        replaces: entry.replaces.iter().rev().map(version).collect(),
        disputed_with: entry.disputed_with.iter().map(version).collect(),
    }
}

/// Returns the wire form of another statement.
pub(super) fn version((known, session): &(KnownSentence, String)) -> FactVersion {
    FactVersion {
        position: known.position,
        session: SessionId::new(session.clone()).ok(),
        message: known.message.clone(),
        text: shortened(&known.sentence.text),
        agent: Some(known.agent.clone()).filter(|agent| !agent.is_empty()),
        by_user: known.speaker == Speaker::User,
        at: format_time(known.at),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}
