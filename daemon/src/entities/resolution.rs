//! Resolution of a name: looks it up in the session and its project, then asks the configured resolvers. A
//! failing resolver does not fail the operation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lored_recognise::{
    MatchQuality, NAME_BYTES_MAX, TextSource, canonical_key, match_known, shown_name,
};
use lored_redact::{Redactor, SecretCounts};

use super::command::RecordEntityEvent;
use super::recognition::{MergedMatches, SessionContext};
use super::view::{self, EntityRow, NameOwner};
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::entities::{EntityData, EntityEvent, EntityRef, EntityResolved, Mention};
use crate::log::{Body, Position, codec};
use crate::operation::Context;
use crate::rows::until;
use crate::sessions::{Line, PreparedSession};
use crate::store::{Error, Rows};
use crate::upstream::{Candidate, Resolution, Resolvers};

/// Time for which an answer of a resolver is fresh, in microseconds: an hour.
pub const FRESH_MICROS: Micros = 3600 * 1_000_000;
/// Maximum number of names compared with a differently spelled one.
const COMPARED_MAX: usize = 100_000;

/// How a known name matches the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchBasis {
    /// Identical.
    Exact,
    /// Equal after normalisation.
    Normalised,
    /// One letter differs.
    Near,
    /// Known to another session of the project.
    Project,
}

/// A known entity that matches a name.
pub struct Match {
    /// The matching entity.
    pub entity: EntityRef,
    /// Name of the entity.
    pub name: String,
    /// How the name matches.
    pub how: MatchBasis,
    /// Row of the entity in the session, if the session knows it.
    pub row: Option<EntityRow>,
}

/// Returns the entities that a session knows by a name, a slug or another name, of the given kind or of any; the most
/// mentioned first.
pub fn known_as(
    rows: &dyn Rows,
    lines: &[Line],
    kind: Option<&str>,
    name: &str,
) -> Result<Vec<(EntityRef, EntityRow)>, Error> {
    // No name in the view is longer, and each comparison below goes over the whole name.
    if name.len() > NAME_BYTES_MAX {
        return Ok(Vec::new());
    }
    let kinds = match kind {
        Some(kind) => vec![kind.to_owned()],
        None => view::kinds(rows, lines)?.into_keys().collect(),
    };
    let merges = view::Merges::of(rows, lines)?;
    let mut found = Vec::new();
    for kind in kinds {
        let entity = merges.root(&EntityRef {
            key: canonical_key(&kind, name),
            kind,
        });
        if let Some(row) = view::get(rows, lines, &entity)? {
            found.push((entity, row));
        }
    }
    if found.is_empty() {
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        view::walk(rows, lines, kind, &mut |entity, row| {
            if !keys.contains_key(&entity.kind) {
                keys.insert(entity.kind.clone(), canonical_key(&entity.kind, name));
            }
            let wanted = keys.get(&entity.kind);
            let mut others = row
                .slug
                .iter()
                .chain(&row.aliases)
                .chain(std::iter::once(&row.name));
            if others.any(|other| wanted == Some(&canonical_key(&entity.kind, other))) {
                found.push((entity, row));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    found.sort_by(|(a, of_a), (b, of_b)| {
        (of_b.mentions, of_b.last, a).cmp(&(of_a.mentions, of_a.last, b))
    });
    Ok(found)
}

/// Returns the known entity that a name refers to: equal ignoring case, else equal in letters and digits, else
/// the only one that differs by one letter. Searches the session first, then its project.
pub fn known(
    rows: &dyn Rows,
    lines: &[Line],
    project: Option<&str>,
    kind: Option<&str>,
    name: &str,
) -> Result<Option<Match>, Error> {
    if let Some((entity, row)) = known_as(rows, lines, kind, name)?.into_iter().next() {
        return Ok(Some(Match {
            entity,
            name: row.name.clone(),
            how: MatchBasis::Exact,
            row: Some(row),
        }));
    }
    let mut all: Vec<(EntityRef, String)> = Vec::new();
    view::walk(rows, lines, kind, &mut |entity, row| {
        all.push((entity, row.name));
        Ok(until(all.len() >= COMPARED_MAX))
    })?;
    if let Some((entity, found, closeness)) = matching(name, all) {
        let how = match closeness {
            MatchQuality::Exact => MatchBasis::Exact,
            MatchQuality::Normalised => MatchBasis::Normalised,
            MatchQuality::Near => MatchBasis::Near,
        };
        let row = view::get(rows, lines, &entity)?;
        return Ok(Some(Match {
            entity,
            name: found,
            how,
            row,
        }));
    }
    let Some(project) = project else {
        return Ok(None);
    };
    let mut all: Vec<(EntityRef, String)> = Vec::new();
    let of = NameOwner::Project(project.to_owned());
    let end = Position(u64::MAX);
    view::names(
        rows,
        &of,
        Position(0),
        end,
        &mut |of_kind, key, name, _others| {
            if kind.is_none_or(|kind| kind == of_kind) && all.len() < COMPARED_MAX {
                let entity = EntityRef {
                    kind: of_kind.to_owned(),
                    key: key.to_owned(),
                };
                all.push((entity, name.to_owned()));
            }
            Ok(())
        },
    )?;
    Ok(matching(name, all).map(|(entity, name, _)| Match {
        entity,
        name,
        how: MatchBasis::Project,
        row: None,
    }))
}

fn matching(
    name: &str,
    all: Vec<(EntityRef, String)>,
) -> Option<(EntityRef, String, MatchQuality)> {
    let (at, closeness) = match_known(name, all.iter().map(|(_, name)| name.as_str()))?;
    let (entity, name) = all.into_iter().nth(at)?;
    Some((entity, name, closeness))
}

/// Answer of a resolver.
pub enum Answer {
    /// The name is known: metadata and payload of the event that records it.
    Found(Box<EntityResolved>, EntityData),
    /// The name is unknown, or no resolver was asked; a message if a resolver failed.
    Nothing(Option<String>),
}

/// Asks the configured resolvers.
pub async fn query(
    cx: &Context,
    knowing: &SessionContext,
    kind: &str,
    name: &str,
) -> Result<Answer, Refusal> {
    let Some(resolvers) = cx.extensions.get::<Resolvers>() else {
        return Ok(Answer::Nothing(None));
    };
    match resolvers.resolve(kind, name).await {
        Resolution::NoResolver | Resolution::Nothing => Ok(Answer::Nothing(None)),
        Resolution::Failed(sentence) => Ok(Answer::Nothing(Some(sentence))),
        Resolution::Found {
            candidate,
            resolver,
            cached: _,
        } => {
            let candidate = without_secrets(&cx.redactor, candidate);
            let expires = cx.engine.clock().now().saturating_add(FRESH_MICROS);
            let resolved = resolved(knowing, kind, name, &candidate, resolver, expires);
            let data = EntityData {
                data: candidate.data.clone(),
            };
            Ok(Answer::Found(Box::new(resolved), data))
        }
    }
}

/// Redacts secrets from an answer before it is recorded.
fn without_secrets(redactor: &Redactor, said: Arc<Candidate>) -> Arc<Candidate> {
    let mut found = SecretCounts::default();
    let mut text = |text: &str| redactor.text(text, &mut found).into_owned();
    let (name, id, slug) = (
        text(&said.name),
        said.id.as_deref().map(&mut text),
        said.slug.as_deref().map(&mut text),
    );
    let data = redactor.json(said.data.as_bytes(), &mut found).into_owned();
    let Ok(data) = String::from_utf8(data) else {
        return said;
    };
    if found.is_empty() {
        return said;
    }
    let left_out = said.left_out.clone();
    Arc::new(Candidate {
        name,
        id,
        slug,
        data,
        left_out,
    })
}

fn resolved(
    knowing: &SessionContext,
    kind: &str,
    name: &str,
    candidate: &Arc<Candidate>,
    resolver: String,
    expires: Micros,
) -> EntityResolved {
    let entity = EntityRef {
        kind: kind.to_owned(),
        key: canonical_key(kind, name),
    };
    let mut finds = MergedMatches::default();
    finds.take(
        knowing.recognise(&candidate.data, TextSource::Result),
        false,
    );
    let mentions = finds.into_recognition(Vec::new()).mentions;
    let (own, around): (Vec<Mention>, Vec<Mention>) = mentions
        .into_iter()
        .partition(|mention| mention.kind == kind && !mention.nested);
    let parents = own.into_iter().flat_map(|own| own.parents);
    EntityResolved {
        parents: parents.filter(|parent| *parent != entity).collect(),
        entity,
        name: shown_name(&candidate.name).unwrap_or_else(|| name.to_owned()),
        id: candidate.id.clone(),
        slug: candidate.slug.clone(),
        resolver,
        expires,
        around,
    }
}

/// Creates the command that records an answer.
#[must_use]
pub fn note(
    cx: &Context,
    choice: PreparedSession,
    resolved: EntityResolved,
    data: &EntityData,
) -> RecordEntityEvent {
    RecordEntityEvent {
        choice,
        event: EntityEvent::Resolved(resolved),
        body: Body::new(codec::encode(data), cx.engine.clock().random()),
    }
}
