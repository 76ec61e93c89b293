//! The context of a task from a project: the newest pieces of the last active sessions, and pieces about the
//! entities in the task.

use super::candidates::{self, Topic};
use super::history::{self, History};
use super::{
    PackLimits, RetrievedInputs, SessionSnapshot, entities, passages, search_hits, values,
};
use crate::clock::Micros;
use crate::entities::{self as known, EntityRef, ScoredEntity, relevance};
use crate::error::Refusal;
use crate::events::packs::PackPurpose;
use crate::log::Position;
use crate::operation::Context;
use crate::packs::assembly::{PackEntity, PackInputs, PackMessage};
use crate::rows::until;
use crate::sessions::{self, SessionFilter, SessionRow};
use crate::state::State;
use crate::store::Error;
use std::collections::BTreeMap;

/// Number of newest sessions of the project to read.
const SESSIONS_LOOKED_AT: usize = 50;
/// Number of last active sessions among them to draw from.
const SESSIONS: usize = 8;
/// Maximum number of sessions whose latest checkpoint is included.
const CHECKPOINTS: usize = 3;
/// Number of newest mentions in each session to include for an entity that the task names.
const MENTIONS: usize = 2;

/// The scope of a task's pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskScope {
    /// One session.
    Session(String),
    /// The sessions of a project.
    Project(String),
}

/// Lists the sessions that a task's pack draws from, the last active first.
pub fn sessions_of(state: &State, among: &TaskScope) -> Result<Vec<(String, SessionRow)>, Error> {
    let project = match among {
        TaskScope::Session(session) => {
            let row = sessions::get(state, session)?;
            return Ok(row.map(|row| (session.clone(), row)).into_iter().collect());
        }
        TaskScope::Project(project) => project,
    };
    let mut ids = Vec::new();
    sessions::newest(
        state,
        SessionFilter::Project(project),
        None,
        &mut |session, _| {
            ids.push(session.to_owned());
            Ok(until(ids.len() == SESSIONS_LOOKED_AT))
        },
    )?;
    let mut found = Vec::new();
    for id in ids {
        if let Some(row) = sessions::get(state, &id)? {
            found.push((id, row));
        }
    }
    found.sort_by(|(a_id, a), (b_id, b)| (b.changed, a_id).cmp(&(a.changed, b_id)));
    found.truncate(SESSIONS);
    Ok(found)
}

/// Retrieves the context of a task from these sessions and their project; its other sessions are searched unless
/// the task is for one session.
pub fn task(
    cx: &Context,
    state: &State,
    (sessions, among, project): (&[(String, SessionRow)], &TaskScope, Option<&str>),
    task: &str,
    now: Micros,
    limits: &PackLimits,
) -> Result<RetrievedInputs, Refusal> {
    let of = sessions.iter();
    let of = of.map(|(id, _)| SessionSnapshot::of(cx, state, id));
    let of: Vec<SessionSnapshot<'_>> = of.collect::<Result<_, _>>()?;
    let mut gathering = TaskRetrieval {
        task,
        now,
        mentioning: Vec::new(),
        newest: Vec::new(),
        entities: BTreeMap::new(),
        named: Vec::new(),
    };
    for (at, one) in of.iter().enumerate() {
        gathering.add(one, at, limits.older_max())?;
    }
    let mut warnings = Vec::new();
    let mut values = Vec::new();
    let mut with_checkpoint = 0;
    for one in &of {
        let saved = values::saved(one, task, &mut warnings)?;
        with_checkpoint += usize::from(!saved.is_empty());
        values.extend(saved);
        if with_checkpoint == CHECKPOINTS {
            break;
        }
    }
    let topic = match &of[..] {
        [only] => only.topic()?,
        _ => None,
    };
    let from = (cx, state, project);
    let mut passages = passages::about(from, task, &gathering.named, true, &mut warnings)?;
    passages.extend(search_hits::documents(cx, state, task)?);
    let question = candidates::question(task, &gathering.named, |entity| {
        let names = of.iter().map(|one| one.name_of(entity));
        Ok(names
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .next())
    })?;
    let searched = match among {
        TaskScope::Session(_) => None,
        TaskScope::Project(_) => project,
    };
    let searched = (cx, state, searched);
    let mut found = search_hits::history(&of, searched, (&question, task), limits)?;
    // Messages about what the task names are relevant, whatever their words.
    found.has_relevant |= !gathering.mentioning.is_empty();
    let best = found.pieces.len().min(candidates::FOUND_FIRST);
    let mentioning = std::mem::take(&mut gathering.mentioning);
    drop(found.pieces.splice(best..best, mentioning));
    let newest = gathering.newest.iter().flat_map(|one| &one.messages);
    let topic_of: Vec<PackMessage> = newest.take(super::NEWEST).cloned().collect();
    let (entities, until) = gathering.entities(&of, &Topic::of(&topic_of, &found))?;
    let history = candidates::ranked(gathering.newest, found);
    Ok(RetrievedInputs {
        pack_inputs: PackInputs {
            purpose: PackPurpose::Task,
            message: task.to_owned(),
            is_nothing_relevant: !history.has_relevant && passages.is_empty() && values.is_empty(),
            history: history.pieces,
            entities,
            values,
            passages,
            topic,
        },
        left_out: history.left_out,
        until,
        warnings,
    })
}

struct TaskRetrieval<'g> {
    task: &'g str,
    now: Micros,
    /// Newest messages that mention an entity of the task.
    mentioning: Vec<PackMessage>,
    /// The newest history of each session.
    newest: Vec<History>,
    /// For each entity of all sessions: its score, and the session with its last mention.
    entities: BTreeMap<EntityRef, MergedPassages>,
    /// Entities that the task names, over all sessions.
    named: Vec<EntityRef>,
}

struct MergedPassages {
    session: usize,
    scored: ScoredEntity,
    is_named: bool,
}

impl TaskRetrieval<'_> {
    fn add(&mut self, of: &SessionSnapshot<'_>, at: usize, older: usize) -> Result<(), Refusal> {
        let named = of.named(self.task)?;
        self.newest.push(history::of(of, self.task, older)?);
        let mut mentioned: Vec<Position> = Vec::new();
        for entity in &named {
            let mentions = known::mentions_of(of.state, &of.lines, entity, MENTIONS)?;
            mentioned.extend(mentions.into_iter().map(|(position, _)| position));
        }
        mentioned.sort_unstable();
        mentioned.dedup();
        self.mentioning
            .extend(history::at(of, self.task, mentioned)?);
        for scored in entities::scored(of, &named, self.now)? {
            let is_named = named.contains(&scored.entity);
            let last = Position(scored.row.last);
            if is_named || of.working.has_entity(last, &scored.entity) {
                self.merge(at, scored, is_named);
            }
        }
        self.named.extend(named);
        Ok(())
    }

    fn merge(&mut self, session: usize, scored: ScoredEntity, is_named: bool) {
        match self.entities.get_mut(&scored.entity) {
            None => {
                let merged = MergedPassages {
                    session,
                    is_named,
                    scored,
                };
                self.entities.insert(merged.scored.entity.clone(), merged);
            }
            Some(merged) => {
                // Count mentions that a fork shares only once.
                let shared = scored.row.inherited().max(merged.scored.row.inherited());
                let both = merged.scored.row.mentions + scored.row.mentions;
                let mentions = both.saturating_sub(shared);
                if scored.row.last > merged.scored.row.last {
                    merged.session = session;
                    merged.scored = scored;
                }
                merged.scored.row.mentions = mentions;
                merged.is_named |= is_named;
            }
        }
    }

    /// Returns the most relevant entities of all sessions, and the time until which the result stays the same.
    fn entities(
        &self,
        of: &[SessionSnapshot<'_>],
        topic: &Topic,
    ) -> Result<(Vec<PackEntity>, Micros), Refusal> {
        let now = self.now;
        let mut all: Vec<ScoredEntity> = Vec::new();
        for merged in self.entities.values() {
            let mut scored = merged.scored.clone();
            let row = &scored.row;
            scored.score = relevance::pack_score(row.mentions, row.last_at, merged.is_named, now);
            all.push(scored);
        }
        known::sort(&mut all);
        let is_named = |one: &ScoredEntity| {
            let merged = self.entities.get(&one.entity);
            merged.is_some_and(|merged| merged.is_named)
        };
        let all = entities::by_topic(all, is_named, topic);
        let until = all.iter().map(|one| entities::changes(&one.row, now)).min();
        let mut reported = Vec::new();
        for scored in all {
            let merged = self.entities.get(&scored.entity);
            if let Some(of) = merged.and_then(|merged| of.get(merged.session)) {
                reported.push(entities::known(of, scored, now)?);
            }
        }
        Ok((reported, until.unwrap_or(Micros::MAX)))
    }
}
