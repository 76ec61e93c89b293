//! `get_entity`.

use lore::protocol::entities::{
    EntityMention, EntityName, EntityRelation, GetEntityArgs, GetEntityReply, MergedEntity,
};

use super::{check_word, entity, named};
use crate::clock::format_time;
use crate::entities;
use crate::entities::relevance::pack_score;
use crate::entities::resolution::known_as;
use crate::entities::snippet;
use crate::entities::top_entities::ScoredEntity;
use crate::entities::view::{self, DataRow, Merges};
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::entities::{EntityData, EntityRef, MergeBasis, Source};
use crate::hint::{Tool, hint};
use crate::log::{Position, RecordKey};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::read_context::{Read, ReadContext};
use crate::rows::until;
use crate::sessions::Line;

/// Maximum number of mentions returned.
const MENTIONS_MAX: usize = 20;
/// Maximum number of relations returned.
const RELATIONS_MAX: usize = 200;

/// Maximum number of names compared to suggest similar ones.
const NEAR_AMONG: usize = 5000;

/// `get_entity`.
pub struct GetEntity;

impl Op for GetEntity {
    type Args = GetEntityArgs;
    type Reply = GetEntityReply;
    const NAME: &'static str = "get_entity";
    const TITLE: &'static str = "Show an entity";
    const DESCRIPTION: &'static str = "Returns what a session knows of an entity: mentions with the surrounding text, parents, \
        relations, data of other systems.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<GetEntityArgs>) -> Result<GetEntityReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        if let Some(kind) = &args.kind {
            check_word("kind", kind)?;
        }
        super::caught_up(&cx, args.at_least).await?;
        let read = ReadContext::of(&args)
            .wanting(entities::content())
            .open(cx, caller)
            .await?;
        blocking(move || show(&read, &args)).await
    }
}

fn show(read: &Read, args: &GetEntityArgs) -> Result<GetEntityReply, Refusal> {
    let lines = read.lines()?;
    let mut known = known_as(&read.state, &lines, args.kind.as_deref(), &args.name)?.into_iter();
    let Some((found, row)) = known.next() else {
        return Err(not_found(read, &lines, args)?);
    };
    let others: Vec<String> = known.map(|(other, _)| other.kind).collect();
    let warnings = (!others.is_empty()).then(|| {
        format!(
            "the name is also known as: {}; name a `kind` to see those",
            others.join(", ")
        )
    });
    let now = read.cx.engine.clock().now();
    let data = row.data.clone().filter(|data| data.expires > now);
    let mut children = Vec::new();
    let mut relations = Vec::new();
    for related in view::related(&read.state, &lines, &found, RELATIONS_MAX)? {
        let EntityName { kind, name } = named(&read.state, &lines, &related.to)?;
        if related.relation == "child" {
            children.push(EntityName {
                kind: kind.clone(),
                name: name.clone(),
            });
        }
        relations.push(EntityRelation {
            relation: related.relation,
            key: related.to.key,
            kind,
            name,
            count: related.count,
        });
    }
    let scored = ScoredEntity {
        score: pack_score(row.mentions, row.last_at, false, now),
        entity: found.clone(),
        row,
    };
    Ok(GetEntityReply {
        session: read.session_id()?,
        children,
        relations,
        mentions: mentions(read, &lines, &found, &scored.row.name)?,
        merged: merged(read, &lines, &found)?,
        data: data.as_ref().map(|data| value_of(read, data)).transpose()?,
        data_from: data.as_ref().map(|data| data.resolver.clone()),
        data_expires: data.as_ref().map(|data| format_time(data.expires)),
        entity: entity(&read.state, &lines, scored, now)?,
        position: read.state.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: warnings.into_iter().collect(),
    })
}

fn merged(read: &Read, lines: &[Line], found: &EntityRef) -> Result<Vec<MergedEntity>, Refusal> {
    let merges = Merges::of(&read.state, lines)?.that_join(found);
    let merged = merges.into_iter().map(|merge| MergedEntity {
        key: merge.from.key,
        by: match merge.by {
            MergeBasis::Slug => "slug",
            MergeBasis::Name => "name",
            MergeBasis::Id => "id",
        }
        .to_owned(),
        value: merge.value,
    });
    Ok(merged.collect())
}

fn value_of(read: &Read, data: &DataRow) -> Result<serde_json::Value, Refusal> {
    let record = RecordKey(Position(data.record));
    let event = read.state.log().event(record, Position(data.position))?;
    Ok(serde_json::from_str(&events::body::<EntityData>(&event)?.data).unwrap_or_default())
}

fn mentions(
    read: &Read,
    lines: &[Line],
    found: &EntityRef,
    name: &str,
) -> Result<Vec<EntityMention>, Refusal> {
    let rows = view::mentions_of(&read.state, lines, found, MENTIONS_MAX)?;
    rows.into_iter()
        .map(|(position, row)| {
            let snippet =
                snippet::around(&read.state, &read.cx.blobs, lines, position, &row, name)?;
            let mut mention = EntityMention {
                position,
                at: format_time(row.at),
                message: None,
                step: None,
                attempt: None,
                execution: None,
                snippet,
            };
            match row.source {
                Source::Message(id) => mention.message = Some(id),
                Source::Tool(id) => mention.execution = Some(id),
                Source::Step { step, attempt } => {
                    mention.step = Some(step.into());
                    mention.attempt = Some(attempt.into());
                }
            }
            Ok(mention)
        })
        .collect()
}

/// Returns the error for an unknown name, with similar names as suggestions.
fn not_found(read: &Read, lines: &[Line], args: &GetEntityArgs) -> Result<Refusal, Refusal> {
    let mut names = Vec::new();
    view::walk(&read.state, lines, None, &mut |_, row| {
        names.push(row.name);
        Ok(until(names.len() >= NEAR_AMONG))
    })?;
    let near = lore::protocol::several_nearest(&args.name, names.iter().map(String::as_str), 5);
    let shown: String = args.name.chars().take(100).collect();
    let refusal = Refusal::new(
        Code::NotFound,
        format!("the session `{}` knows no entity {shown:?}", read.session),
    );
    Ok(refusal.hint(if near.is_empty() {
        hint![Tool::ListEntities, " shows those that it knows."]
    } else {
        format!("Near to it: {}.", near.join(", ")).into()
    }))
}
