//! `resolve_entity`.

use std::sync::Arc;

use lore::protocol::entities::{ResolveEntityArgs, ResolveEntityReply, Resolved};

use lored_recognise::TextSource;

use super::{check_word, entity, name_of};
use crate::engine::KeyClaim;
use crate::entities;
use crate::entities::recognition::SessionContext;
use crate::entities::relevance::pack_score;
use crate::entities::resolution::{Answer, Match, MatchBasis, known, note, query};
use crate::entities::top_entities::ScoredEntity;
use crate::entities::view;
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::entities::{EntityData, EntityEvent, EntityRef};
use crate::hint::{arg, hint};
use crate::log::{Position, RecordKey};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::sessions::{self, Line, PreparedSession, SessionSelector, session_of};
use crate::state::State;

/// `resolve_entity`.
pub struct ResolveEntity;

impl Op for ResolveEntity {
    type Args = ResolveEntityArgs;
    type Reply = ResolveEntityReply;
    const NAME: &'static str = "resolve_entity";
    const TITLE: &'static str = "Resolve an entity";
    const DESCRIPTION: &'static str = "Resolves a name to an entity: one that the session or its project knows, otherwise one of a \
        configured system, whose data is cached for an hour.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ResolveEntityArgs>) -> Result<ResolveEntityReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(kind) = &args.kind {
            check_word("kind", kind)?;
        }
        name_of("name", &args.name)?;
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return describe(&cx, &outcome.event, outcome.durable, Vec::new()).await;
        }
        let asking = ResolveRequest::of(&cx, &caller, &args).await?;
        asking.answer(cx, caller, args, claim).await
    }
}

/// Known data of a name before a resolver is asked.
struct ResolveRequest {
    state: State,
    session: Option<String>,
    selector: SessionSelector,
    lines: Vec<Line>,
    found: Option<Match>,
    knowing: SessionContext,
}

impl ResolveRequest {
    async fn of(
        cx: &Arc<Context>,
        caller: &Caller,
        args: &ResolveEntityArgs,
    ) -> Result<Self, Refusal> {
        let selector = SessionSelector::of(caller, args.session.as_ref()).fenced(args.fence);
        let state = State::live(cx, None).await?;
        let now = cx.engine.clock().now();
        let session = match selector.find(&state, &caller.actor, now, &entities::content()) {
            Ok(session) => Some(session),
            // A named session that does not exist is an error; without a name, a session is created with the answer.
            Err(refusal) if selector.session.is_some() => return Err(refusal),
            Err(_) => None,
        };
        let (cx, name, kind) = (Arc::clone(cx), args.name.clone(), args.kind.clone());
        blocking(move || {
            let (mut lines, mut project) = (Vec::new(), selector.project.clone());
            if let Some(session) = &session {
                lines = sessions::lineage(&state, session)?;
                project = sessions::get(&state, session)?.and_then(|row| row.project);
            }
            let project = project.as_deref();
            Ok(Self {
                found: known(&state, &lines, project, kind.as_deref(), &name)?,
                knowing: SessionContext::of(&cx, &state, &lines, project)?,
                state,
                session,
                selector,
                lines,
            })
        })
        .await
    }

    async fn answer(
        self,
        cx: Arc<Context>,
        caller: Caller,
        args: ResolveEntityArgs,
        claim: Option<KeyClaim>,
    ) -> Result<ResolveEntityReply, Refusal> {
        let now = cx.engine.clock().now();
        let data = self
            .found
            .as_ref()
            .and_then(|found| found.row.as_ref()?.data.as_ref());
        let is_fresh = data.is_some_and(|data| data.expires > now);
        if is_fresh && args.refresh != Some(true) {
            return self.into_known(&cx, Vec::new());
        }
        // The known name is the one that other systems know too.
        let (kind, name) = match (&self.found, &args.kind) {
            (Some(found), _) => (Some(found.entity.kind.clone()), found.name.clone()),
            (None, Some(kind)) => (Some(kind.clone()), args.name.clone()),
            (None, None) => (self.kind_by_form(&args.name), args.name.clone()),
        };
        let Some(kind) = kind else {
            let unknown = "nothing of this name is known, and its form does not determine a kind: give a `kind`";
            return self.into_known(&cx, vec![unknown.to_owned()]);
        };
        // An answer may take long, and a state keeps the store open.
        drop(self.state);
        match query(&cx, &self.knowing, &kind, &name).await? {
            Answer::Nothing(failed) => {
                let now_known = Self::of(&cx, &caller, &args).await?;
                now_known.into_known(&cx, failed.into_iter().collect())
            }
            Answer::Found(resolved, data) => {
                let choice = PreparedSession::prepare(self.selector.clone(), cx.engine.clock());
                let bytes = data.data.len();
                let command = note(&cx, choice, *resolved, &data);
                let outcome = cx.write(&caller, claim, bytes, command).await?;
                describe(&cx, &outcome.event, outcome.durable, Vec::new()).await
            }
        }
    }

    /// Returns the kind that the form of a name implies.
    fn kind_by_form(&self, name: &str) -> Option<String> {
        let matches = self.knowing.recognise(name, TextSource::Result).matches;
        matches.first().map(|hit| hit.kind.to_string())
    }

    /// Returns the result that needs no event: the known entity, or that none is known.
    fn into_known(
        self,
        cx: &Context,
        warnings: Vec<String>,
    ) -> Result<ResolveEntityReply, Refusal> {
        let now = cx.engine.clock().now();
        let session = match &self.session {
            Some(session) => sessions::operations::session_id(session)?,
            None => {
                return Err(Refusal::new(
                    Code::SessionNotFound,
                    "the name is unknown, and this caller has no session to record it in",
                )
                .hint(hint!["Record something first."; "Or name a ", arg("session"), "."]));
            }
        };
        let mut reply = ResolveEntityReply {
            session,
            resolved: self.found.is_some(),
            how: Resolved::Unresolved,
            entity: None,
            data: None,
            resolver: None,
            position: self.state.position(),
            durable: cx.engine.is_durable(),
            chosen_by: None,
            project: self.selector.project.clone(),
            warnings,
        };
        let Some(found) = self.found else {
            return Ok(reply);
        };
        reply.how = match found.how {
            MatchBasis::Exact => Resolved::Exact,
            MatchBasis::Normalised => Resolved::Normalised,
            MatchBasis::Near => Resolved::Near,
            MatchBasis::Project => Resolved::Project,
        };
        if let Some(row) = found.row {
            let fresh = row.data.clone().filter(|data| data.expires > now);
            if let Some(data) = fresh {
                let record = RecordKey(Position(data.record));
                let event = self.state.log().event(record, Position(data.position))?;
                reply.data = serde_json::from_str(&events::body::<EntityData>(&event)?.data).ok();
                reply.resolver = Some(data.resolver);
            }
            let scored = ScoredEntity {
                score: pack_score(row.mentions, row.last_at, false, now),
                entity: found.entity,
                row,
            };
            reply.entity = Some(entity(&self.state, &self.lines, scored, now)?);
        } else {
            reply.warnings.push(format!(
                "another session of the project knows it as {} `{}`",
                found.entity.kind, found.name
            ));
        }
        Ok(reply)
    }
}

/// Creates the result of a recorded answer from its event.
async fn describe(
    cx: &Arc<Context>,
    event: &crate::log::LoggedEvent,
    durable: bool,
    warnings: Vec<String>,
) -> Result<ResolveEntityReply, Refusal> {
    let Some(EntityEvent::Resolved(resolved)) = EntityEvent::of(event)? else {
        return Err(Refusal::new(Code::Corrupt, "the event resolves no entity"));
    };
    let session = session_of(&event.header)?;
    let state = State::live(cx, Some(event.position())).await?;
    let lines = sessions::lineage(&state, session.as_str())?;
    let now = cx.engine.clock().now();
    let EntityRef { kind, key } = resolved.entity;
    let found = EntityRef { kind, key };
    let row = view::get(&state, &lines, &found)?;
    let known = row.map(|row| {
        let scored = ScoredEntity {
            score: pack_score(row.mentions, row.last_at, false, now),
            entity: found,
            row,
        };
        entity(&state, &lines, scored, now)
    });
    Ok(ResolveEntityReply {
        session,
        resolved: true,
        how: Resolved::Upstream,
        entity: known.transpose()?,
        data: serde_json::from_str(&events::body::<EntityData>(event)?.data).ok(),
        resolver: Some(resolved.resolver),
        position: event.position(),
        durable,
        chosen_by: None,
        project: event.header.project.clone(),
        warnings,
    })
}
