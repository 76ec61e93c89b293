//! The `handoff` and `continue_session` operations: another agent, of any vendor, goes on with the work of a session.

use std::ops::RangeInclusive;
use std::sync::Arc;

use lore::protocol::coordination::{
    ContinueSessionArgs, ContinueSessionReply, HandoffArgs, HandoffReply,
};
use lored_hosts::{Host, OWN_MARKS};

use crate::capture::command::{RecordObservation, RecordedAs};
use crate::capture::inject;
use crate::engine::{Command, DecisionContext, Outcome};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::capture::{ContinuedSession, Observation, ObservationDetails};
use crate::hint::{Tool, hint};
use crate::log::{Body, Position, codec};
use crate::messages;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking, while_stale};
use crate::packs::{self, AddedText};
use crate::read_context::ReadContext;
use crate::sessions::{self, PreparedSession, SessionSelector, operations::session_id};
use crate::state::State;

/// Default number of tokens, and its range.
const TOKENS: u64 = 2_000;
const TOKENS_RANGE: RangeInclusive<u64> = 1..=16_000;
/// What an observation of a handoff is called, as `lored_hosts::Observed::kind` calls it.
const HANDOFF: &str = "handoff";

/// The `handoff` operation.
pub struct HandOff;

impl Op for HandOff {
    type Args = HandoffArgs;
    type Reply = HandoffReply;
    const NAME: &'static str = "handoff";
    const TITLE: &'static str = "Hand work over";
    const DESCRIPTION: &'static str = "Writes what another agent, of any vendor, needs to continue a session: what was asked, the \
        plan, decisions, files, commands and the last failure. Give it as the first prompt of the other agent.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<HandoffArgs>) -> Result<HandoffReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let budget = budget(args.max_tokens)?;
        if let Some(to) = &args.to
            && Host::from_name(to) == Host::Other
        {
            return Err(unknown_host(to));
        }
        let read = ReadContext::of(&args)
            .wanting(messages::content())
            .open(Arc::clone(&cx), caller.clone())
            .await?;
        let session = read.session;
        let made = while_stale(|| recorded(&cx, &caller, &session, budget)).await?;
        let text = OWN_MARKS.wrap(&made.text);
        Ok(HandoffReply {
            session: Some(session_id(&session)?),
            text,
            tokens: made.tokens,
            pack: made.pack,
            position: made.read_at,
            durable: made.durable,
            chosen_by: None,
            project: made.project,
            warnings: Vec::new(),
        })
    }

    fn readable(reply: &HandoffReply) -> Option<String> {
        Some(reply.text.clone())
    }
}

/// The `continue_session` operation.
pub struct ContinueSession;

impl Op for ContinueSession {
    type Args = ContinueSessionArgs;
    type Reply = ContinueSessionReply;
    const NAME: &'static str = "continue_session";
    const TITLE: &'static str = "Continue another session's work";
    const DESCRIPTION: &'static str = "Links your session to another one, whose work you continue, and returns what was asked, \
        decided and done there, and what is left open.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ContinueSessionArgs>) -> Result<ContinueSessionReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let budget = budget(args.max_tokens)?;
        let state = State::live(&cx, None).await?;
        let from = sessions::find(&state, args.from.as_str())?;
        drop(state);
        let made = while_stale(|| recorded(&cx, &caller, &from, budget)).await?;
        let outcome = match cx.repeated(&caller, claim.as_ref()).await? {
            Some(outcome) => outcome,
            None => {
                let command = link(&cx, &caller, &from, made.read_at);
                Arc::clone(&cx).write(&caller, claim, 0, command).await?
            }
        };
        reply(&outcome, args, made)
    }

    fn readable(reply: &ContinueSessionReply) -> Option<String> {
        Some(reply.text.clone())
    }
}

fn reply(
    outcome: &Outcome,
    args: ContinueSessionArgs,
    made: RecordedHandoff,
) -> Result<ContinueSessionReply, Refusal> {
    Ok(ContinueSessionReply {
        session: Some(sessions::session_of(&outcome.event.header)?),
        from: args.from,
        text: made.text,
        tokens: made.tokens,
        pack: made.pack,
        position: outcome.event.position(),
        durable: outcome.durable && made.durable,
        chosen_by: None,
        project: outcome.event.header.project.clone(),
        warnings: Vec::new(),
    })
}

fn budget(tokens: Option<u64>) -> Result<usize, Refusal> {
    let tokens = tokens.unwrap_or(TOKENS);
    if !TOKENS_RANGE.contains(&tokens) {
        return Err(Refusal::invalid(format!(
            "`max_tokens` is {tokens}; expected {} to {}",
            TOKENS_RANGE.start(),
            TOKENS_RANGE.end()
        )));
    }
    Ok(usize::try_from(tokens).unwrap_or(usize::MAX))
}

fn unknown_host(name: &str) -> Refusal {
    let known: Vec<&str> = Host::ALL.into_iter().map(Host::name).collect();
    let shown: String = name.chars().take(64).collect();
    Refusal::invalid(format!("`to` is {shown:?}, which is not a known host"))
        .hint(format!("There are {}.", known.join(", ")))
}

/// A handoff whose pack was recorded.
struct RecordedHandoff {
    text: String,
    tokens: u64,
    pack: String,
    project: Option<String>,
    read_at: Position,
    durable: bool,
}

/// Writes the handoff of a session, and records it as a pack of that session.
async fn recorded(
    cx: &Arc<Context>,
    caller: &Caller,
    session: &str,
    budget: usize,
) -> Result<RecordedHandoff, Refusal> {
    let state = State::live(cx, None).await?;
    let read_at = state.position();
    let (shared, of) = (Arc::clone(cx), session.to_owned());
    let added: Option<AddedText> =
        blocking(move || inject::handoff_of(&shared, &state, &of, budget)).await?;
    let Some(added) = added else {
        return Err(Refusal::new(
            Code::NotFound,
            format!(
                "nothing was said or done in the session `{session}` that could be handed over"
            ),
        )
        .hint(hint![
            "",
            Tool::ListSessions,
            " lists sessions with their first messages."
        ]));
    };
    let receipt = packs::receipt(cx, session, read_at, &added);
    let pack = receipt.made.id.clone();
    let outcome = cx.write(caller, None, 0, receipt).await?;
    Ok(RecordedHandoff {
        text: added.text,
        tokens: added.tokens,
        pack,
        project: outcome.event.header.project.clone(),
        read_at,
        durable: outcome.durable,
    })
}

/// Returns the command that links the caller's session to one that it continues.
fn link(cx: &Context, caller: &Caller, from: &str, position: Position) -> LinkSession {
    let clock = cx.engine.clock();
    let host = caller.actor.agent.split('/').next().unwrap_or_default();
    let details = ObservationDetails {
        text: Some(from.to_owned()),
        ..ObservationDetails::default()
    };
    let choice = PreparedSession::prepare(SessionSelector::of(caller, None), clock);
    LinkSession(RecordObservation {
        observed: Observation {
            host: Host::from_name(host).name().to_owned(),
            what: HANDOFF.to_owned(),
            following: None,
            joined: None,
            suspect: Vec::new(),
            mark: None,
            continues: Some(ContinuedSession {
                session: from.to_owned(),
                position: position.0,
            }),
        },
        body: Body::new(codec::encode(&details), clock.random()),
        recorded: RecordedAs::Alone(choice),
        sought: None,
        past: None,
        salt: clock.random(),
    })
}

/// Records that a session continues another one.
struct LinkSession(RecordObservation);

impl Command for LinkSession {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let from = self.0.observed.continues.as_ref();
        let from = from.map(|one| one.session.clone()).unwrap_or_default();
        sessions::find(on.rows, &from)?;
        let events = self.0.decide(on)?;
        let is_itself = |event: &NewEvent| event.session.as_ref() == Some(&from);
        if events.iter().any(is_itself) {
            return Err(Refusal::invalid(format!(
                "`{from}` is your own session; expected another one"
            ))
            .hint("Name the session of another agent or of an earlier conversation."));
        }
        Ok(events)
    }
}
