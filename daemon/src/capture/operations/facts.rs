//! The `list_facts` operation: lasting statements of a project, each with its versions.

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
use crate::log::Position;
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions;
use crate::state::State;

/// Default and maximum number of facts.
const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Characters of a statement: all of one that was remembered.
const TEXT_CHARS: usize = 1024;

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
        let store = cx.engine.store_id();
        let after = match &args.next {
            Some(next) => Some(Cursor::read(next, "next", List::Facts, store, position)?.key),
            None => None,
        };
        let (facts, more, next) = blocking(move || {
            let folder = caller.dir.as_deref().and_then(|dir| dir.to_str());
            let mut entries = keyed(inject::facts_of(&shared, &state, of, folder)?);
            if args.include_replaced != Some(true) {
                let is_served = |state| matches!(state, FactState::Current | FactState::Disputed);
                entries.retain(|(_, one)| is_served(one.state));
            }
            // The oldest evidence first where it is doubtful: it is the least likely to hold still.
            let is_oldest_first = args.doubtful == Some(true);
            if is_oldest_first {
                entries.retain(|(_, one)| is_doubtful(one));
            } else {
                entries.reverse();
            }
            // What the last page ended with may have been replaced since.
            let is_shown = |(key, _): &(Vec<u8>, FactEntry)| match &after {
                Some(after) if is_oldest_first => key <= after,
                Some(after) => key >= after,
                None => false,
            };
            let rest = entries.split_off(entries.partition_point(is_shown));
            let more = rest.len().saturating_sub(limit);
            let last = rest.get(limit.wrapping_sub(1)).filter(|_| more > 0);
            let next =
                last.map(|(key, _)| Cursor::behind_row(key, position).text(List::Facts, store));
            let facts = rest.into_iter().take(limit).map(|(_, one)| fact(one));
            Ok((facts.collect::<Vec<_>>(), more as u64, next))
        })
        .await?;
        Ok(ListFactsReply {
            facts,
            more,
            next,
            position,
            durable: cx.engine.is_durable(),
            project,
            warnings: Vec::new(),
        })
    }
}

/// Returns each fact with what names it in a cursor: its position, and its place among those of the same message.
fn keyed(entries: Vec<FactEntry>) -> Vec<(Vec<u8>, FactEntry)> {
    let (mut before, mut place) = (Position(0), 0_u32);
    let with_key = |entry: FactEntry| {
        let position = entry.known.position;
        place = match position == before {
            true => place + 1,
            false => 0,
        };
        before = position;
        let key = [&position.0.to_be_bytes()[..], &place.to_be_bytes()].concat();
        (key, entry)
    };
    entries.into_iter().map(with_key).collect()
}

/// Whether a person should review it: it is in dispute, or the code that it cites has changed and no person accepted it.
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

/// Returns the beginning of a statement.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}
