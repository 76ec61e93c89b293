//! Finds entities that are one: the slug or the name of one is that of another, or a system gives both the same id.

use std::ops::ControlFlow;
use std::sync::Arc;

use lored_recognise::{Gazetteer, canonical_key};

use super::command::RecordMerges;
use super::feature::Entities;
use super::view::{self, EntityRow, NameOwner};
use crate::engine::QueuedWrite;
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::entities::{
    EntityEvent, EntityMerge, EntityRef, EntityResolved, Mention, MentionSource, MergeBasis,
};
use crate::events::messages::MessageEvent;
use crate::log::{Actor, Body, codec};
use crate::operation::{Context, blocking};
use crate::sessions::{self, Line};
use crate::state::State;
use crate::store::{Error, Rows};

/// An entity as an object of data describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedEntity {
    entity: EntityRef,
    name: String,
    slug: Option<String>,
    /// Its id, and the resolver that said so.
    id: Option<(String, String)>,
}

/// Returns the entities that an event describes.
pub fn described(meta: Event) -> Vec<DescribedEntity> {
    match meta {
        Event::Message(MessageEvent::Message(said)) => of_mentions(&said.mentions),
        Event::Message(MessageEvent::ToolCall(call)) => of_mentions(&call.mentions),
        Event::Entity(EntityEvent::Extracted(extracted)) => {
            let found = extracted.found.iter();
            found.flat_map(|one| of_mentions(&one.mentions)).collect()
        }
        Event::Entity(EntityEvent::Resolved(resolved)) => of_resolved(resolved),
        Event::Entity(
            EntityEvent::Related(_) | EntityEvent::Merged(_) | EntityEvent::Unmerged(_),
        )
        | Event::Session(_)
        | Event::Step(_)
        | Event::Pack(_)
        | Event::Checkpoint(_)
        | Event::Project(_)
        | Event::Document(_)
        | Event::Capture(_)
        | Event::Trust(_)
        | Event::Forgetting(_) => Vec::new(),
    }
}

/// Returns the mentions that are objects of data. A key within a parent is no name alone.
pub fn of_mentions(mentions: &[Mention]) -> Vec<DescribedEntity> {
    let objects = mentions.iter().filter(|mention| {
        mention.how == MentionSource::Json
            && mention.key == canonical_key(&mention.kind, &mention.name)
    });
    objects
        .map(|mention| DescribedEntity {
            entity: mention.entity(),
            name: mention.name.clone(),
            slug: mention.slug.clone(),
            id: None,
        })
        .collect()
}

fn of_resolved(resolved: EntityResolved) -> Vec<DescribedEntity> {
    let mut found = of_mentions(&resolved.around);
    found.push(DescribedEntity {
        entity: resolved.entity,
        name: resolved.name,
        slug: resolved.slug,
        id: resolved.id.map(|id| (id, resolved.resolver)),
    });
    found
}

/// Merges the described entities of a session with those that they turn out to be.
pub async fn merge(
    cx: &Arc<Context>,
    session: String,
    described: Vec<DescribedEntity>,
) -> Result<(), Refusal> {
    let state = State::live(cx, None).await?;
    let shared = Arc::clone(cx);
    let of = session.clone();
    let merges = blocking(move || candidates(&shared, &state, &of, &described)).await?;
    if merges.is_empty() {
        return Ok(());
    }
    let write = QueuedWrite {
        bytes: merges.len() * 256,
        command: Box::new(RecordMerges {
            session,
            merges,
            body: Body::new(codec::EMPTY.to_vec(), cx.engine.clock().random()),
        }),
        actor: Arc::new(Actor::daemon()),
        key: None,
    };
    match cx.engine.write(write).await {
        Ok(_) => Ok(()),
        // Forgotten meanwhile, merged before, or not the same after all.
        Err(refusal) if matches!(refusal.code, Code::SessionNotFound | Code::Conflict) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

/// Returns the merges that the names of described entities suggest; the writer decides each.
fn candidates(
    cx: &Context,
    state: &State,
    session: &str,
    described: &[DescribedEntity],
) -> Result<Vec<EntityMerge>, Refusal> {
    if sessions::get(state, session)?.is_none() {
        return Ok(Vec::new());
    }
    let lines = sessions::lineage(state, session)?;
    let module = Entities::of(cx)?;
    let mut gazetteers: Vec<Arc<Gazetteer>> = Vec::new();
    for line in &lines {
        let of = NameOwner::Session(line.session.clone());
        gazetteers.push(module.gazetteer(state, of, line.up_to)?);
    }
    let mut found: Vec<EntityMerge> = Vec::new();
    for one in described {
        let kind = &one.entity.kind;
        let slug = one.slug.as_ref().map(|slug| (MergeBasis::Slug, slug));
        for (by, value) in slug.into_iter().chain([(MergeBasis::Name, &one.name)]) {
            let known = gazetteers
                .iter()
                .flat_map(|known| known.lookup_all(kind, value));
            let others = known.filter(|known| *known.key != *one.entity.key);
            let merges = others.map(|known| EntityMerge {
                from: one.entity.clone(),
                into: EntityRef {
                    kind: kind.clone(),
                    key: known.key.to_string(),
                },
                by,
                value: value.clone(),
            });
            for merge in merges {
                let is_known =
                    |known: &EntityMerge| (&known.from, &known.into) == (&merge.from, &merge.into);
                if !found.iter().any(is_known) {
                    found.push(merge);
                }
            }
        }
        if let Some((id, resolver)) = &one.id {
            found.extend(with_id(state, &lines, &one.entity, id, resolver)?);
        }
    }
    Ok(found)
}

/// Returns the merges with entities to which the same system gave the same id.
fn with_id(
    rows: &dyn Rows,
    lines: &[Line],
    entity: &EntityRef,
    id: &str,
    resolver: &str,
) -> Result<Vec<EntityMerge>, Error> {
    let mut found = Vec::new();
    view::walk(rows, lines, Some(&entity.kind), &mut |other, row| {
        let is_of = row.data.is_some_and(|data| data.resolver == resolver);
        if is_of && row.id.as_deref() == Some(id) && other != *entity {
            found.push(EntityMerge {
                from: entity.clone(),
                into: other,
                by: MergeBasis::Id,
                value: id.to_owned(),
            });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Returns whether the rows of two entities agree that they are one.
#[must_use]
pub fn is_one(merge: &EntityMerge, from: &EntityRow, into: &EntityRow) -> bool {
    let differ = |a: &Option<String>, b: &Option<String>| matches!((a, b), (Some(a), Some(b)) if !a.eq_ignore_ascii_case(b));
    if differ(&from.id, &into.id) || differ(&from.slug, &into.slug) {
        return false;
    }
    let key = |name: &String| canonical_key(&merge.from.kind, name);
    let named = |entity: &EntityRef, row: &EntityRow| {
        let mut names: Vec<String> = vec![key(&row.name)];
        names.extend(row.slug.iter().map(key));
        // A key within a parent is no name alone.
        let is_whole = names.contains(&entity.key)
            || row.aliases.iter().map(key).any(|alias| alias == entity.key);
        (is_whole, names)
    };
    let ((is_from_whole, of_from), (is_into_whole, of_into)) =
        (named(&merge.from, from), named(&merge.into, into));
    if merge.by == MergeBasis::Id {
        return from.id.as_ref() == Some(&merge.value) && into.id.as_ref() == Some(&merge.value);
    }
    let value = key(&merge.value);
    let has = |entity: &EntityRef, names: &[String]| entity.key == value || names.contains(&value);
    is_from_whole && is_into_whole && has(&merge.from, &of_from) && has(&merge.into, &of_into)
}
