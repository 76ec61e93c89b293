//! The `why` operation: from a pack to the events that it rests on, and from an event to the packs that used it.

use lore::protocol::names::of_word;
use lore::protocol::packs::{
    OmittedEvent, PackRecord, PackSource, PackUse, PackedPart, PackedText, SectionTokens, WhyArgs,
    WhyReply,
};

use super::wire;
use crate::checkpoints;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::CheckpointEvent;
use crate::events::messages::MessageRecorded;
use crate::events::packs::{Item, PackBuilt, PackDependency, PackEvent};
use crate::events::{self, Event};
use crate::hint::{Tool, hint};
use crate::log::{Hash, LoggedEvent, Position};
use crate::messages::MessageEvent;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::packs::place::{item_place, place_of};
use crate::packs::texts::{self, PackText};
use crate::packs::view;
use crate::projects::FileVersion;
use crate::read_context::{Read, ReadContext};
use crate::sessions::operations::session_id;
use crate::sessions::{self, Line};
use crate::state::State;
use crate::steps::{self, StepEvent};

/// Maximum number of listed packs that used an event.
const USES_MAX: usize = 100;

pub struct Why;

impl Op for Why {
    type Args = WhyArgs;
    type Reply = WhyReply;
    const NAME: &'static str = "why";
    const TITLE: &'static str = "Tell what rests on what";
    const DESCRIPTION: &'static str = "Returns the events that a context pack draws on, and so the sources of an answer built from \
        it. For a message, a step or another event it returns the packs that used it.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<WhyArgs>) -> Result<WhyReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let what = (subject(&args)?, args.text.unwrap_or(false));
        let needs_session = matches!(
            what.0,
            WhySubject::Message(_) | WhySubject::Step(..) | WhySubject::Execution(_)
        );
        if needs_session || args.session.is_some() {
            let reading = ReadContext::of(&args);
            let read = reading.open(cx, caller).await?;
            return blocking(move || {
                let Read {
                    cx, state, session, ..
                } = &read;
                explain(cx, state, session, what)
            })
            .await;
        }
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || explain(&cx, &state, "", what)).await
    }
}

enum WhySubject {
    Pack(String),
    Message(String),
    Step(u32, Option<u32>),
    Execution(String),
    Checkpoint(String),
    Position(Position),
}

fn subject(args: &WhyArgs) -> Result<WhySubject, Refusal> {
    let number = |number: u64| {
        u32::try_from(number)
            .map_err(|_| Refusal::invalid(format!("{number} is not a step or attempt")))
    };
    let attempt = args.attempt.map(number).transpose()?;
    let step = args.step.map(number).transpose()?;
    let checkpoint = args.checkpoint.as_ref().map(|id| id.as_str().to_owned());
    let mut all = [
        args.pack.clone().map(WhySubject::Pack),
        args.message.clone().map(WhySubject::Message),
        step.map(|step| WhySubject::Step(step, attempt)),
        args.execution.clone().map(WhySubject::Execution),
        checkpoint.map(WhySubject::Checkpoint),
        args.position.map(WhySubject::Position),
    ]
    .into_iter()
    .flatten();
    match (all.next(), all.next()) {
        (Some(what), None) if attempt.is_none() || step.is_some() => Ok(what),
        (Some(_), None) => Err(Refusal::invalid("`attempt` goes with `step`")),
        _ => Err(Refusal::invalid(
            "exactly one of `pack`, `message`, `step`, `execution`, `checkpoint` and `position` is \
             needed",
        )
        .hint("Give the id of a pack or of a message, as the reply that made it says.")),
    }
}

fn explain(
    cx: &Context,
    state: &State,
    session: &str,
    (what, with_text): (WhySubject, bool),
) -> Result<WhyReply, Refusal> {
    let own = session.to_owned();
    let (session, item) = match what {
        WhySubject::Pack(pack) => return of_pack(cx, state, &pack, with_text),
        WhySubject::Position(position) => {
            let event = state.log().at(position)?;
            let event =
                event.ok_or_else(|| not_found(&format!("no event at position {position}")))?;
            if let Some(PackEvent::Built(built)) = PackEvent::of(&event)? {
                return of_pack(cx, state, &built.id, with_text);
            }
            let item = event_item(&event)?.ok_or_else(|| {
                let kind = &event.header.kind;
                not_found(&format!(
                    "the event at {position} is a {kind}, which no pack rests on by itself"
                ))
            })?;
            let session = event.header.session.filter(|_| item.is_of_session());
            (session.unwrap_or_default(), item)
        }
        WhySubject::Message(id) => (own, Item::Message(id)),
        WhySubject::Execution(id) => (own, Item::Tool(id)),
        WhySubject::Checkpoint(id) => {
            let Some(position) = checkpoints::position_of(state, &id)? else {
                return Err(not_found(&format!("checkpoint `{id}` not found")));
            };
            let event = state.log().at(position)?;
            let session = event.and_then(|event| event.header.session);
            (session.unwrap_or_default(), Item::Checkpoint(id))
        }
        WhySubject::Step(step, Some(attempt)) => (own, Item::Step { step, attempt }),
        WhySubject::Step(step, None) => {
            let lines = sessions::lineage(state, session)?;
            let answer = steps::answering(state, &lines, step)?;
            let attempt = answer.map_or(1, |answer| answer.attempt.attempt);
            (own, Item::Step { step, attempt })
        }
    };
    PieceFilter::new(state, session, item)?.explain(cx, state, with_text)
}

fn not_found(what: &str) -> Refusal {
    Refusal::new(Code::NotFound, what.to_owned())
        .hint(hint!["Use an id of an earlier reply."; Tool::ListMessages, " lists messages."; Tool::ReadEvents, " lists all events."])
}

fn of_pack(cx: &Context, state: &State, pack: &str, with_text: bool) -> Result<WhyReply, Refusal> {
    let reported = pack_record(state, pack, with_text)?;
    let reported =
        reported.ok_or_else(|| not_found(&format!("context pack `{pack}` not found")))?;
    Ok(reply(cx, state, None, Some(reported), Vec::new()))
}

fn reply(
    cx: &Context,
    state: &State,
    of: Option<PackSource>,
    pack: Option<PackRecord>,
    used_by: Vec<PackUse>,
) -> WhyReply {
    WhyReply {
        of,
        pack,
        used_by,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings: Vec::new(),
    }
}

/// A piece of packs that `why` explains.
struct PieceFilter {
    session: String,
    lines: Vec<Line>,
    item: Item,
    event: LoggedEvent,
}

impl PieceFilter {
    fn new(state: &State, session: String, item: Item) -> Result<Self, Refusal> {
        let lines = sessions::lineage(state, &session)?;
        let event = match item_place(state, &lines, &item, Position(u64::MAX))? {
            Some(position) => state.log().at(position)?,
            None => None,
        };
        let event = event.ok_or_else(|| {
            let (kind, id) = (item.kind(), item.id());
            not_found(&format!("the session `{session}` has no {kind} `{id}`"))
        })?;
        Ok(Self {
            session,
            lines,
            item,
            event,
        })
    }

    /// Lists the packs that used the piece; for a message, also the pack that it was built with.
    fn explain(self, cx: &Context, state: &State, with_text: bool) -> Result<WhyReply, Refusal> {
        let mut uses = Vec::new();
        for session in self.lines.iter().map(|line| line.session.as_str()) {
            uses.extend(view::uses(state, session, &self.item, USES_MAX)?);
        }
        uses.sort_by_key(|(_, position)| std::cmp::Reverse(*position));
        uses.truncate(USES_MAX);
        let uses = uses.into_iter();
        let uses = uses.map(|(pack, position)| PackUse { pack, position });
        let pack = match MessageEvent::of(&self.event)? {
            Some(MessageEvent::Message(_)) => events::body::<MessageRecorded>(&self.event)?.pack,
            Some(MessageEvent::ToolCall(_)) | None => None,
        };
        let pack = match pack {
            Some(pack) => pack_record(state, &pack, with_text)?,
            None => None,
        };
        let of = rested_on(&self.session, &self.item, Some(&self.event))?;
        Ok(reply(cx, state, Some(of), pack, uses.collect()))
    }
}

/// Returns the item of an event that packs cite.
fn event_item(event: &LoggedEvent) -> Result<Option<Item>, Refusal> {
    Ok(match Event::of(event)? {
        Some(Event::Message(MessageEvent::Message(said))) => Some(Item::Message(said.id)),
        Some(Event::Message(MessageEvent::ToolCall(call))) => Some(Item::Tool(call.id)),
        Some(Event::Step(StepEvent::Recorded(assigned))) => Some(Item::Step {
            step: assigned.step,
            attempt: assigned.attempt,
        }),
        Some(Event::Project(_)) => FileVersion::made_by(event)?.map(Item::ContextFile),
        Some(Event::Checkpoint(CheckpointEvent::Saved(saved))) => {
            Some(Item::Checkpoint(saved.checkpoint.to_string()))
        }
        Some(
            Event::Session(_)
            | Event::Step(StepEvent::ExtractorRegistered | StepEvent::MappingRegistered)
            | Event::Entity(_)
            | Event::Pack(_)
            | Event::Checkpoint(CheckpointEvent::Deleted(_) | CheckpointEvent::KeyMarked(_))
            | Event::Document(_)
            | Event::Capture(_)
            | Event::Trust(_)
            | Event::Forgetting(_),
        )
        | None => None,
    })
}

/// Decodes a pack from its event; `None` if there is no such pack or its content was forgotten.
fn pack_record(state: &State, pack: &str, with_text: bool) -> Result<Option<PackRecord>, Refusal> {
    let Some(row) = view::get(state, pack)? else {
        return Ok(None);
    };
    let (record, position) = row.place();
    let event = state.log().event(record, position)?;
    if event.payload.is_none() {
        return Ok(None);
    }
    let made: PackBuilt = events::meta(&event)?;
    let rests_on = made.rests_on.iter();
    let rests_on = rests_on.map(|one| found(state, row.session.as_deref(), one, position));
    let wanted: [u8; 32] = made.wanted.try_into().unwrap_or_default();
    let sections = made.sections.iter();
    let sections = sections.filter_map(|(name, tokens)| {
        Some(SectionTokens {
            name: of_word(name)?,
            tokens: *tokens,
        })
    });
    Ok(Some(PackRecord {
        pack: made.id,
        made_for: made.made_for,
        wanted: Hash(wanted).to_string(),
        session: row.session.as_deref().map(session_id).transpose()?,
        position,
        at: format_time(event.header.time),
        agent: event.header.actor.agent,
        tokens: made.tokens,
        max_tokens: made.budget,
        sections: sections.collect(),
        rests_on: rests_on.collect::<Result<_, _>>()?,
        text: match with_text {
            true => texts::get(state, position)?.map(packed_text),
            false => None,
        },
    }))
}

fn packed_text(text: PackText) -> PackedText {
    let parts = text.parts.into_iter();
    let parts = parts.map(|(start, end, source)| PackedPart { start, end, source });
    let left_out = text.left_out.iter().filter_map(|one| {
        let (part, why) = one.words()?;
        Some(OmittedEvent {
            position: Position(one.position),
            part,
            bytes: one.bytes,
            why,
        })
    });
    PackedText {
        left_out: left_out.collect(),
        parts: parts.collect(),
        text: text.text,
    }
}

/// Resolves a dependency of a pack, with its event as of the time of the pack.
fn found(
    state: &State,
    own: Option<&str>,
    one: &PackDependency,
    pack: Position,
) -> Result<PackSource, Refusal> {
    let session = one.session.as_deref().or(own).unwrap_or_default();
    let event = match place_of(state, own.unwrap_or_default(), one, pack)? {
        Some(position) => state.log().at(position)?,
        None => None,
    };
    rested_on(session, &one.item, event.as_ref())
}

fn rested_on(
    session: &str,
    item: &Item,
    event: Option<&LoggedEvent>,
) -> Result<PackSource, Refusal> {
    let header = event.map(|event| &event.header);
    Ok(PackSource {
        kind: wire::kind(item),
        id: item.id(),
        session: match item.is_of_session() {
            true => Some(session_id(session)?),
            false => None,
        },
        file: wire::file(item, None),
        position: header.map(|header| header.position),
        event: header.map(|header| header.kind.to_string()),
        at: header.map(|header| format_time(header.time)),
        agent: header.map(|header| header.actor.agent.clone()),
    })
}
