//! `list_entities`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::entities::{Entity, ListEntitiesArgs, ListEntitiesReply, Sort};

use super::{check_word, entity};
use crate::clock::Micros;
use crate::entities;
use crate::entities::relevance::pack_score;
use crate::entities::top_entities::{ScoredEntity, most_relevant, sort};
use crate::entities::view::{self, EntityRow};
use crate::error::Refusal;
use crate::events::entities::EntityRef;
use crate::hint::{arg, hint};
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::read_context::ReadContext;
use crate::sessions::{self, Line, SessionFilter};
use crate::state::State;
use crate::store::{Error, Rows};

const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;

/// `list_entities`.
pub struct ListEntities;

impl Op for ListEntities {
    type Args = ListEntitiesArgs;
    type Reply = ListEntitiesReply;
    const NAME: &'static str = "list_entities";
    const TITLE: &'static str = "List entities";
    const DESCRIPTION: &'static str = "Lists the entities of a session, a project or all sessions, such as devices, files and \
        issues. The most relevant come first, with counts per kind.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListEntitiesArgs>) -> Result<ListEntitiesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        if let Some(kind) = &args.kind {
            check_word("kind", kind)?;
        }
        super::caught_up(&cx, args.at_least).await?;
        let (state, among) = among(&cx, caller, &args).await?;
        blocking(move || page(&cx, &state, &among, &args, limit)).await
    }
}

/// Scope of a list.
enum EntityScope {
    /// Entities of one session.
    Session(Vec<Line>),
    /// Entities of a project's sessions, or of all sessions.
    Projects(Option<String>),
}

async fn among(
    cx: &Arc<Context>,
    caller: Caller,
    args: &ListEntitiesArgs,
) -> Result<(State, EntityScope), Refusal> {
    let is_all = args.all == Some(true);
    let given = [args.session.is_some(), args.project.is_some(), is_all];
    if given.iter().filter(|given| **given).count() > 1 {
        return Err(Refusal::invalid(
            "`session`, `project` and `all` exclude each other: give one of them",
        ));
    }
    if is_all || args.project.is_some() {
        if args.as_of.is_some() {
            return Err(
                Refusal::invalid("`as_of` looks back in one session alone").hint(hint![
                    "Name a ",
                    arg("session"),
                    ", or leave ",
                    arg("as_of"),
                    " out."
                ]),
            );
        }
        let state = State::live(cx, args.at_least).await?;
        let project = sessions::named_project(cx, &state, &caller, args.project.clone())?;
        return Ok((state, EntityScope::Projects(project)));
    }
    let read = ReadContext::of(args)
        .wanting(entities::content())
        .open(Arc::clone(cx), caller)
        .await?;
    let lines = read.lines()?;
    Ok((read.state, EntityScope::Session(lines)))
}

fn page(
    cx: &Context,
    state: &State,
    among: &EntityScope,
    args: &ListEntitiesArgs,
    limit: usize,
) -> Result<ListEntitiesReply, Refusal> {
    let now = cx.engine.clock().now();
    let sorted_by = args.sort.unwrap_or(Sort::Relevance);
    let (mut all, kinds, sessions) = match among {
        EntityScope::Session(lines) => {
            let is_quick = sorted_by == Sort::Relevance && args.kind.is_none();
            let all = if is_quick && args.next.is_none() {
                most_relevant(state, lines, &[], limit + 1, now)?
            } else {
                of_session(state, lines, args.kind.as_deref(), now)?
            };
            (all, view::kinds(state, lines)?, HashMap::new())
        }
        EntityScope::Projects(project) => {
            let mut all = merged(state, project.as_deref(), now)?;
            let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
            for one in all.keys() {
                *kinds.entry(one.kind.clone()).or_default() += 1;
            }
            all.retain(|entity, _| args.kind.as_ref().is_none_or(|kind| *kind == entity.kind));
            let sessions: HashMap<EntityRef, u64> = all
                .iter()
                .map(|(entity, (_, sessions))| (entity.clone(), *sessions))
                .collect();
            (
                all.into_values().map(|(one, _)| one).collect(),
                kinds,
                sessions,
            )
        }
    };
    sort_by(&mut all, sorted_by);
    let store = cx.engine.store_id();
    let from = match &args.next {
        None => 0,
        Some(next) => {
            let cursor = Cursor::read(next, "next", List::Entities, store, state.position())?;
            let is_last = |one: &ScoredEntity| row_key(&one.entity) == cursor.key;
            all.iter().position(is_last).map_or(all.len(), |at| at + 1)
        }
    };
    let is_more = all.len() > from + limit;
    let page: Vec<ScoredEntity> = all.into_iter().skip(from).take(limit).collect();
    let next = page.last().filter(|_| is_more).map(|last| {
        Cursor::behind_row(&row_key(&last.entity), state.position()).text(List::Entities, store)
    });
    let lines = match among {
        EntityScope::Session(lines) => lines.as_slice(),
        EntityScope::Projects(_) => &[],
    };
    let wire = |one: ScoredEntity| -> Result<Entity, Error> {
        let sessions = sessions.get(&one.entity).copied();
        Ok(Entity {
            sessions,
            ..entity(state, lines, one, now)?
        })
    };
    Ok(ListEntitiesReply {
        entities: page.into_iter().map(wire).collect::<Result<_, _>>()?,
        kinds,
        next,
        position: state.position(),
        durable: cx.engine.is_durable(),
        session: None,
        chosen_by: None,
        warnings: Vec::new(),
    })
}

fn row_key(entity: &EntityRef) -> Vec<u8> {
    format!("{}\0{}", entity.kind, entity.key).into_bytes()
}

fn sort_by(all: &mut [ScoredEntity], by: Sort) {
    let then = |a: &ScoredEntity, b: &ScoredEntity| -> Ordering {
        (b.row.last, &a.entity).cmp(&(a.row.last, &b.entity))
    };
    match by {
        Sort::Relevance => sort(all),
        Sort::Mentions => {
            all.sort_by(|a, b| b.row.mentions.cmp(&a.row.mentions).then(then(a, b)));
        }
        Sort::Recency => all.sort_by(then),
    }
}

fn scored(entity: EntityRef, row: EntityRow, now: Micros) -> ScoredEntity {
    ScoredEntity {
        score: pack_score(row.mentions, row.last_at, false, now),
        entity,
        row,
    }
}

fn of_session(
    rows: &dyn Rows,
    lines: &[Line],
    kind: Option<&str>,
    now: Micros,
) -> Result<Vec<ScoredEntity>, Error> {
    let mut found = Vec::new();
    view::walk(rows, lines, kind, &mut |entity, row| {
        found.push(scored(entity, row, now));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Merges the entities of several sessions, each with the number of sessions that know it. Mentions add up;
/// names and ids come from the session that mentioned the entity last.
fn merged(
    rows: &dyn Rows,
    project: Option<&str>,
    now: Micros,
) -> Result<HashMap<EntityRef, (ScoredEntity, u64)>, Error> {
    let mut names: Vec<String> = Vec::new();
    let within = project.map_or(SessionFilter::All, SessionFilter::Project);
    sessions::newest(rows, within, None, &mut |session, _| {
        names.push(session.to_owned());
        Ok(ControlFlow::Continue(()))
    })?;
    let mut found: HashMap<EntityRef, (ScoredEntity, u64)> = HashMap::new();
    for session in names {
        let lines = sessions::lineage(rows, &session)?;
        // Mentions that a fork shares are counted in the session that recorded them.
        let own = lines.get(..1).unwrap_or_default();
        view::walk(rows, own, None, &mut |entity, mut row| {
            row.mentions = row.mentions.saturating_sub(row.inherited());
            match found.get_mut(&entity) {
                None => {
                    found.insert(entity.clone(), (scored(entity, row, now), 1));
                }
                Some((known, sessions)) => {
                    *sessions += 1;
                    known.row = joined(&known.row, row);
                    let row = &known.row;
                    known.score = pack_score(row.mentions, row.last_at, false, now);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

fn joined(a: &EntityRow, b: EntityRow) -> EntityRow {
    let (old, new) = if a.last <= b.last {
        (a.clone(), b)
    } else {
        (b, a.clone())
    };
    EntityRow {
        mentions: old.mentions + new.mentions,
        relations: old.relations.max(new.relations),
        first: old.first.min(new.first),
        first_at: old.first_at.min(new.first_at),
        id: new.id.or(old.id),
        slug: new.slug.or(old.slug),
        parent: new.parent.or(old.parent),
        data: new.data.or(old.data),
        ..new
    }
}
