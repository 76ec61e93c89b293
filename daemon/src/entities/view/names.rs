//! Names of a session or a project, in the order in which they became known.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{EntityFold, EntityRow, SPACE, keys};
use crate::events::entities::EntityRef;
use crate::log::Position;
use crate::sessions::{self, Line};
use crate::store::{Direction, Error, Rows, RowsMut, after_prefix};

/// Owner of names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NameOwner {
    /// Names of one session.
    Session(String),
    /// Names of all sessions of a project.
    Project(String),
}

impl NameOwner {
    fn prefix(&self) -> Vec<u8> {
        match self {
            Self::Session(session) => keys::prefix(b'w', session),
            Self::Project(project) => keys::prefix(b'n', project),
        }
    }
}

/// Returns the positions at which entities became known to a session, in order; in a fork including the shared
/// ones.
pub fn known_since(rows: &dyn Rows, lines: &[Line]) -> Result<Vec<Position>, Error> {
    let mut found: BTreeMap<EntityRef, Position> = BTreeMap::new();
    for line in lines {
        let prefix = NameOwner::Session(line.session.clone()).prefix();
        let high = after_prefix(&prefix);
        rows.scan(SPACE, &prefix, &high, Direction::Forward, &mut |key, _| {
            let damaged = || Error::corrupt(SPACE.name(), key, "not a name");
            let rest = key.get(prefix.len()..).ok_or_else(damaged)?;
            let position = rest.first_chunk::<8>().ok_or_else(damaged)?;
            let position = Position(u64::from_be_bytes(*position));
            if position <= line.up_to {
                let entity = keys::entity(key, prefix.len() + 8)?;
                let known = found.entry(entity).or_insert(position);
                *known = position.min(*known);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let mut positions: Vec<Position> = found.into_values().collect();
    positions.sort_unstable();
    Ok(positions)
}

/// Adds the names of an entity that becomes known in this session, or that gets another name.
pub(super) fn begin(
    folding: &mut EntityFold<'_>,
    entity: &EntityRef,
    row: &EntityRow,
) -> Result<(), Error> {
    let mut value = row.name.clone().into_bytes();
    for other in row.slug.iter().chain(&row.aliases) {
        value.push(0);
        value.extend(other.as_bytes());
    }
    let project = sessions::get(folding.rows, folding.session)?.and_then(|row| row.project);
    let position = folding.event.position().0.to_be_bytes();
    let mut put = |of: &NameOwner, behind: &[u8]| {
        let mut key = of.prefix();
        key.extend(position);
        keys::push_entity(&mut key, entity);
        key.extend(behind);
        folding.rows.put(SPACE, &key, &value);
    };
    put(&NameOwner::Session(folding.session.to_owned()), &[]);
    if let Some(project) = project {
        let session = [&[0], folding.session.as_bytes()].concat();
        put(&NameOwner::Project(project), &session);
    }
    Ok(())
}

/// Visitor of names: receives kind, key, name and other names.
pub type NameVisitor<'v> = &'v mut dyn FnMut(&str, &str, &str, &[&str]) -> Result<(), Error>;

/// Visits the names that became known after one position, up to another.
pub fn names(
    rows: &dyn Rows,
    of: &NameOwner,
    after: Position,
    up_to: Position,
    visit: NameVisitor<'_>,
) -> Result<(), Error> {
    let prefix = of.prefix();
    let bound = |position: Option<u64>| match position {
        Some(position) => [prefix.as_slice(), &position.to_be_bytes()].concat(),
        None => after_prefix(&prefix),
    };
    let low = bound(after.0.checked_add(1));
    let high = bound(up_to.0.checked_add(1));
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        let [kind, name_key] = keys::texts::<2>(key, prefix.len() + 8)?;
        let entity_key = name_key.split('\0').next().unwrap_or_default();
        let name = std::str::from_utf8(value)
            .map_err(|_| Error::corrupt(SPACE.name(), key, "not a name"))?;
        let mut names = name.split('\0');
        let name = names.next().unwrap_or_default();
        let others: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        visit(kind, entity_key, name, &others)?;
        Ok(ControlFlow::Continue(()))
    })
}

/// Removes a session's names, also from its project. Call it while the session still exists.
pub(super) fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let prefix = NameOwner::Session(session.to_owned()).prefix();
    let project = sessions::get(rows, session)?.and_then(|row| row.project);
    let of_project = project.map(|project| NameOwner::Project(project).prefix());
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let high = after_prefix(&prefix);
    rows.scan(SPACE, &prefix, &high, Direction::Forward, &mut |key, _| {
        if let Some(of_project) = &of_project {
            let rest = key.get(prefix.len()..).unwrap_or_default();
            keys.push([of_project, rest, &[0], session.as_bytes()].concat());
        }
        keys.push(key.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    for key in &keys {
        rows.remove(SPACE, key);
    }
    Ok(())
}
