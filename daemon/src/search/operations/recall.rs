//! The `recall` operation: what is known about a question, in the words of its sources.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use lore::protocol::SessionId;
use lore::protocol::search::{
    Kind as WireKind, Origin, RecallArgs, RecallReply, RecalledItem, RecalledVersion, SearchReply,
    SearchResult,
};
use lored_moments::{Speaker, Versions};
use lored_retrieval::text::Kind;

use super::documents::K;
use super::result_page::{Page, answer};
use crate::documents::operations::page_size;
use crate::error::Refusal;
use crate::log::Position;
use crate::messages;
use crate::operation::cursor::List;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::search::dates;
use crate::search::request::{Mode, SearchRequest};
use crate::sessions;
use crate::state::State;

/// Default number of sources.
const SOURCES: u64 = 5;
/// Maximum number of sources.
const SOURCES_MAX: u64 = 20;
/// Results that are looked at for each source: questions and repeated texts are passed over.
const RESULTS_PER_SOURCE: usize = 3;
/// Length up to which the beginning of a source is returned instead of its best sentences, in bytes.
const WHOLE_BYTES_MAX: usize = 240;
/// What a reply says when no source is near enough to the question.
const NOTHING_KNOWN: &str = "nothing is known about this";

/// The `recall` operation.
pub struct Recall;

impl Op for Recall {
    type Args = RecallArgs;
    type Reply = RecallReply;
    const NAME: &'static str = "recall";
    const TITLE: &'static str = "Recall what is known";
    const DESCRIPTION: &'static str = "Answers what is known about a question: what was remembered, said, done and noted, with its \
        sources, your project first.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<RecallArgs>) -> Result<RecallReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        if args.question.trim().is_empty() {
            return Err(
                Refusal::invalid("`question` is empty").hint("Ask in words, or name a topic.")
            );
        }
        let wanted = page_size("limit", args.limit, SOURCES, SOURCES_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        let project = sessions::named_project(&cx, &state, &caller, args.project)?;
        let now = cx.engine.clock().now() / 1_000_000;
        let request = SearchRequest {
            named_days: dates::named_in(&args.question, now),
            first: caller.project.clone().filter(|_| project.is_none()),
            folder: caller.dir.clone(),
            query: args.question,
            mode: Mode::Semantic,
            kinds: Kind::ALL.to_vec(),
            is_likely_only: true,
            project,
            most: wanted * RESULTS_PER_SOURCE,
            k: K as f64,
            ..SearchRequest::default()
        };
        let page = Page {
            next: None,
            list: List::Everything,
        };
        let found = answer(Arc::clone(&cx), state, request, page).await?;
        let state = State::live(&cx, Some(found.position)).await?;
        recalled(&state, found, wanted)
    }

    fn readable(reply: &RecallReply) -> Option<String> {
        Some(readable(reply))
    }
}

fn recalled(state: &State, found: SearchReply, wanted: usize) -> Result<RecallReply, Refusal> {
    let mut known: Vec<RecalledItem> = Vec::new();
    let mut said = BTreeSet::new();
    for result in found.results {
        let text = words(&result);
        // A question that was asked before does not answer this one. Text that gives orders is for people who search.
        let is_question = result.kind == WireKind::Message && text.ends_with(['?', '？']);
        let is_suspect = result.suspect == Some(true);
        if is_suspect || text.is_empty() || is_question || !said.insert(text.to_lowercase()) {
            continue;
        }
        known.push(item(state, result, text)?);
    }
    settle(&mut known);
    known.truncate(wanted);
    let reason = known.is_empty().then(|| match found.reason {
        // That a part could not be searched is said, too.
        Some(reason) if reason != super::result_page::NOTHING_KNOWN => reason,
        _ => NOTHING_KNOWN.to_owned(),
    });
    let warnings = found.warnings.into_iter().chain(found.partial);
    let warnings = warnings.filter(|said| said != super::result_page::NOTHING_KNOWN);
    Ok(RecallReply {
        known,
        reason,
        position: found.position,
        durable: found.durable,
        warnings: warnings.collect(),
    })
}

/// Leaves out what a later statement among these replaced or repeats, and notes with each what it replaced and what
/// disputes it. Only what people and agents said is compared, if it is short enough to be a statement.
fn settle(known: &mut Vec<RecalledItem>) {
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.retain(|at| known.get(*at).is_some_and(is_statement));
    order.sort_by_key(|at| known.get(*at).map(|one| one.position));
    let mut versions = Versions::default();
    for at in &order {
        if let Some(one) = known.get(*at) {
            let speaker = match one.origin {
                Some(Origin::User) => Speaker::User,
                _ => Speaker::Agent,
            };
            let author = one.agent.as_deref().unwrap_or_default();
            versions.add(&one.text, speaker, author, &[]);
        }
    }
    let others = |places: &[usize]| -> Vec<RecalledVersion> {
        let items = places
            .iter()
            .filter_map(|place| known.get(*order.get(*place)?));
        items.map(other_version).collect()
    };
    let mut noted: Vec<(usize, Vec<RecalledVersion>, Vec<RecalledVersion>)> = Vec::new();
    let mut gone = BTreeSet::new();
    for (place, at) in order.iter().enumerate() {
        match versions.is_current(place) {
            true => {
                let replaced = others(versions.replaced_by(place));
                noted.push((*at, replaced, others(versions.disputes(place))));
            }
            false => {
                gone.insert(*at);
            }
        }
    }
    for (at, replaces, disputed_with) in noted {
        if let Some(one) = known.get_mut(at) {
            one.replaces = replaces;
            one.disputed_with = disputed_with;
        }
    }
    let mut at = 0;
    known.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
}

fn is_statement(item: &RecalledItem) -> bool {
    item.kind == WireKind::Message && item.text.len() <= WHOLE_BYTES_MAX
}

fn other_version(item: &RecalledItem) -> RecalledVersion {
    RecalledVersion {
        text: item.text.clone(),
        agent: item.agent.clone(),
        at: item.at.clone(),
        position: item.position,
    }
}

fn item(state: &State, result: SearchResult, text: String) -> Result<RecalledItem, Refusal> {
    let session = result.session.filter(|_| result.kind != WireKind::Context);
    let remembered = match (&session, result.kind) {
        (Some(session), WireKind::Message) => {
            messages::remembered_at(state, session, Position(result.position.0))?
        }
        _ => None,
    };
    Ok(RecalledItem {
        text,
        kind: result.kind,
        remembered: remembered.map(Into::into),
        source: match result.step {
            Some(step) => format!("step {step}"),
            None => result.id,
        },
        file_path: result.file_path,
        session: session.and_then(|session| SessionId::new(session).ok()),
        agent: result.agent.filter(|agent| !agent.is_empty()),
        at: result.modified,
        score: result.score,
        elsewhere: result.elsewhere,
        origin: Some(result.origin),
        replaces: Vec::new(),
        disputed_with: Vec::new(),
        position: result.position,
    })
}

/// Returns what a result says, in one line: all of it if it is short, otherwise its best sentences.
fn words(result: &SearchResult) -> String {
    let whole = result.preview.as_deref().unwrap_or_default();
    let caption = result.caption.as_ref().map(|caption| caption.text.as_str());
    let words = match caption {
        Some(caption) if whole.len() > WHOLE_BYTES_MAX => caption,
        _ => whole,
    };
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Renders the reply as text.
fn readable(reply: &RecallReply) -> String {
    let mut text = String::new();
    for item in &reply.known {
        let place = match (&item.file_path, item.elsewhere) {
            (Some(path), _) => path.as_str(),
            (None, Some(true)) => "another project",
            (None, _) => "this project",
        };
        let by = item.agent.as_deref().map(|agent| format!("{agent}, "));
        let _ = writeln!(
            text,
            "- {} ({}{}, {}, {place})",
            item.text,
            by.unwrap_or_default(),
            item.at.get(..10).unwrap_or_default(),
            item.source
        );
        let others = item.replaces.iter().map(|one| ("replaces", one));
        let others = others.chain(item.disputed_with.iter().map(|one| ("not settled", one)));
        for (what, other) in others {
            let day = other.at.get(..10).unwrap_or_default();
            let by = other.agent.as_deref().unwrap_or("someone");
            let _ = writeln!(text, "  {what}: {} ({by}, {day})", other.text);
        }
    }
    for said in reply.reason.iter().chain(&reply.warnings) {
        let _ = writeln!(text, "Note: {said}");
    }
    text
}
