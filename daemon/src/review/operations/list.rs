//! The `list_suspects` operation: what gives orders to a model, claims an identity or rewrites facts.

use lore::protocol::review::{ListSuspectsArgs, ListSuspectsReply, Suspect};
use lore::protocol::search::Origin as WireOrigin;
use lore::protocol::{Position as WirePosition, SessionId};
use lored_suspicion::{Origin, scan};

use super::judge::wire;
use crate::clock::format_time;
use crate::documents::{Catalogue, Documents};
use crate::error::Refusal;
use crate::events::capture::{CaptureEvent, ObservationDetails};
use crate::events::trust::Judgement;
use crate::events::{self, Event};
use crate::log::Position;
use crate::operation::cursor::list_limit;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::search::{HitDetails, Reader};
use crate::sessions;
use crate::state::State;
use crate::trust::operations::wire_origin;
use crate::trust::{self, SuspectRow};

/// Default and maximum number of texts.
const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Bytes before and after the suspicious place that an excerpt has.
const AROUND_BYTES: usize = 80;
/// Maximum size of an excerpt, in bytes.
const EXCERPT_BYTES_MAX: usize = 400;

/// The `list_suspects` operation.
pub struct ListSuspects;

impl Op for ListSuspects {
    type Args = ListSuspectsArgs;
    type Reply = ListSuspectsReply;
    const NAME: &'static str = "list_suspects";
    const TITLE: &'static str = "List suspicious texts";
    const DESCRIPTION: &'static str = "Lists recorded texts that give orders to a model, claim an identity or rewrite facts, the newest \
        first. They are left out of packs and of what hooks add, until a person accepts them.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListSuspectsArgs>) -> Result<ListSuspectsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        let project = sessions::named_project(&cx, &state, &caller, args.project)?;
        let is_open_only = args.include_reviewed != Some(true);
        blocking(move || {
            let mut rows: Vec<(Position, SuspectRow)> = Vec::new();
            trust::suspects(&state, &mut |position, row| {
                let is_asked = !is_open_only || row.judgement == Judgement::Open;
                if is_asked && (project.is_none() || row.project == project) {
                    rows.push((position, row));
                }
            })?;
            rows.sort_unstable_by_key(|(position, _)| std::cmp::Reverse(*position));
            let catalogue = Documents::of(&cx)?.catalogue(&state)?;
            let (mut suspects, mut more) = (Vec::new(), 0);
            for (position, row) in rows {
                if suspects.len() >= limit {
                    more += 1;
                } else {
                    suspects.extend(described(&cx, &state, &catalogue, position, row)?);
                }
            }
            Ok(ListSuspectsReply {
                suspects,
                more,
                position: state.position(),
                durable: cx.engine.is_durable(),
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// Returns a suspicious text; `None` if it is not there any more, or is an earlier version of a document or file.
fn described(
    cx: &Context,
    state: &State,
    catalogue: &Catalogue,
    position: Position,
    row: SuspectRow,
) -> Result<Option<Suspect>, Refusal> {
    let reader = Reader::new(cx, state, catalogue);
    let texts = reader.texts_of(position)?;
    let Some(first) = texts.first() else {
        return plan(state, position, row);
    };
    let excerpt = texts
        .iter()
        .find_map(|text| excerpt(&text.text, text.origin))
        .unwrap_or_else(|| beginning(&first.text));
    Ok(Some(suspect(first, excerpt, row)))
}

fn suspect(text: &HitDetails, excerpt: String, row: SuspectRow) -> Suspect {
    let session = text.session.clone();
    Suspect {
        position: WirePosition(text.position.0),
        suspicions: row.kinds,
        judgement: wire(row.judgement),
        origin: wire_origin(text.origin),
        source: match text.step {
            Some(step) => format!("step {step}"),
            None => text.id.clone(),
        },
        session: session.and_then(|session| SessionId::new(session).ok()),
        agent: text.agent.clone(),
        file_path: text.file_path.clone(),
        at: text.modified.clone(),
        excerpt,
    }
}

/// Returns a suspicious plan, which is no searchable text.
fn plan(state: &State, position: Position, row: SuspectRow) -> Result<Option<Suspect>, Refusal> {
    let Some(event) = state.log().at(position)? else {
        return Ok(None);
    };
    let Some(Event::Capture(CaptureEvent::Observed(_))) = Event::of(&event)? else {
        return Ok(None);
    };
    let details: ObservationDetails = events::body(&event)?;
    let items = details.plan.into_iter().map(|item| item.text);
    let texts: Vec<String> = items.chain(details.text).collect();
    let found = texts.iter().find_map(|text| excerpt(text, Origin::Agent));
    let header = &event.header;
    let session = header.session.clone();
    Ok(Some(Suspect {
        position: WirePosition(position.0),
        suspicions: row.kinds,
        judgement: wire(row.judgement),
        origin: WireOrigin::Agent,
        source: "plan".to_owned(),
        session: session.and_then(|session| SessionId::new(session).ok()),
        agent: Some(header.author().to_owned()).filter(|agent| !agent.is_empty()),
        file_path: None,
        at: format_time(header.happened_at()),
        excerpt: found.unwrap_or_default(),
    }))
}

/// Returns the first suspicious place of a text, with what is around it.
fn excerpt(text: &str, origin: Origin) -> Option<String> {
    let found = scan(text, origin).into_iter().next()?;
    let start = text.floor_char_boundary(found.range.start.saturating_sub(AROUND_BYTES));
    let end = found.range.end.saturating_add(AROUND_BYTES);
    let end = text.ceil_char_boundary(end.min(start + EXCERPT_BYTES_MAX).min(text.len()));
    text.get(start..end).map(str::to_owned)
}

fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(EXCERPT_BYTES_MAX);
    text.get(..end).unwrap_or_default().to_owned()
}
