//! Details of a session: fields, agents and forks; and the preferences of users.

use serde::{Deserialize, Serialize};

use super::{ListPlace, SPACE, list};
use crate::events::sessions::{Parent, SessionCreated, SessionOrigin, SessionUpdated, merged};
use crate::log::{Header, Position, codec};
use crate::rows::{self, key, key_in};
use crate::store::{Error, Rows, RowsMut};

/// The fields of a session. The whole row is absent until a field is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// User on whose behalf it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Position of the event that set the topic; 0 without one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub topic_at: u64,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Preferences: a JSON object, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
    /// Parent session whose past it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Position at which its preferences were last set; 0 when never.
    #[serde(default)]
    pub preferred: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Details {
    /// Sets the given fields.
    pub fn set(&mut self, updated: &SessionUpdated) {
        let set = |field: &mut Option<String>, to: &Option<String>| {
            if let Some(text) = to {
                *field = Some(text.clone()).filter(|text| !text.is_empty());
            }
        };
        set(&mut self.title, &updated.title);
        set(&mut self.topic, &updated.topic);
        if let Some(tags) = &updated.tags {
            self.tags.clone_from(tags);
        }
        self.tags.retain(|tag| !updated.remove_tags.contains(tag));
        for tag in &updated.add_tags {
            if !self.tags.contains(tag) {
                self.tags.push(tag.clone());
            }
        }
        if let Some(preferences) = &updated.preferences {
            self.preferences = merged(self.preferences.as_deref(), Some(preferences));
        }
    }
}

/// Folds the creation of a session with these fields.
pub(super) fn create(
    rows: &mut dyn RowsMut,
    header: &Header,
    session: &str,
    begun: SessionOrigin,
    created: SessionCreated,
) -> Result<(), Error> {
    let mut details = Details {
        title: created.title,
        topic_at: created.topic.as_ref().map_or(0, |_| header.position.0),
        topic: created.topic,
        tags: created.tags,
        preferences: merged(begun.preferences.as_deref(), created.preferences.as_deref()),
        user: created.user,
        parent: begun.parent,
        preferred: 0,
    };
    if let Some(user) = &details.user {
        list::begin_for(rows, user, header, session);
    }
    if let Some(parent) = &details.parent {
        let key = key_in(b'k', &parent.session, session);
        rows.put(SPACE, &key, &parent.position.to_be_bytes());
    }
    if details.preferences.is_some() {
        prefer(rows, header, session, &mut details);
    }
    put(rows, session, &details);
    Ok(())
}

/// Folds an update of fields.
pub(super) fn update(
    rows: &mut dyn RowsMut,
    header: &Header,
    session: &str,
    updated: SessionUpdated,
) -> Result<(), Error> {
    let mut details = details(rows, session)?;
    details.set(&updated);
    if updated.topic.is_some() {
        details.topic_at = details.topic.as_ref().map_or(0, |_| header.position.0);
    }
    if updated.preferences.is_some() {
        prefer(rows, header, session, &mut details);
    }
    put(rows, session, &details);
    Ok(())
}

fn put(rows: &mut dyn RowsMut, session: &str, details: &Details) {
    let key = key(b'd', session);
    if *details != Details::default() {
        rows.put(SPACE, &key, &codec::encode(details));
    } else {
        rows.remove(SPACE, &key);
    }
}

fn preferred_key(user: &str, position: u64) -> Vec<u8> {
    // Inverted, so that the newest is found first.
    key_in(b'v', user, (!position).to_be_bytes())
}

/// Makes the preferences of a session its user's latest ones.
fn prefer(rows: &mut dyn RowsMut, header: &Header, session: &str, details: &mut Details) {
    // Imported preferences are older than the user's latest ones.
    if header.origin.is_some() {
        return;
    }
    let Some(user) = &details.user else { return };
    rows.remove(SPACE, &preferred_key(user, details.preferred));
    let position = header.position;
    details.preferred = position.0;
    let mut value = session.as_bytes().to_vec();
    value.push(0);
    value.extend(details.preferences.as_deref().unwrap_or("{}").as_bytes());
    rows.put(SPACE, &preferred_key(user, position.0), &value);
}

/// Removes the fields of a session and the rows derived from them.
pub(super) fn forget(
    rows: &mut dyn RowsMut,
    session: &str,
    created: ListPlace,
) -> Result<(), Error> {
    let details = details(rows, session)?;
    if let Some(user) = &details.user {
        rows.remove(SPACE, &preferred_key(user, details.preferred));
        list::forget_for(rows, user, created);
    }
    if let Some(parent) = &details.parent {
        let key = key_in(b'k', &parent.session, session);
        rows.remove(SPACE, &key);
    }
    rows.remove(SPACE, &key(b'd', session));
    Ok(())
}

/// Returns the fields of a session.
pub fn details(rows: &dyn Rows, session: &str) -> Result<Details, Error> {
    Ok(rows::read_cbor(rows, SPACE, &key(b'd', session))?.unwrap_or_default())
}

/// Returns a user's latest preferences in any session: a JSON object as text.
pub fn preferences_of(rows: &dyn Rows, user: &str) -> Result<Option<String>, Error> {
    let newest = rows::list(rows, SPACE, &key_in(b'v', user, ""), 1, |_, value| {
        let (_, preferences) = std::str::from_utf8(value).ok()?.split_once('\0')?;
        Some(preferences.to_owned())
    })?;
    Ok(newest.into_iter().next())
}

/// Records a participating agent.
pub(super) fn note_agent(
    rows: &mut dyn RowsMut,
    session: &str,
    header: &Header,
) -> Result<(), Error> {
    if header.author().is_empty() {
        return Ok(());
    }
    let key = key_in(b'g', session, header.author());
    if rows.get(SPACE, &key)?.is_none() {
        rows.put(SPACE, &key, &header.position.0.to_be_bytes());
    }
    Ok(())
}

/// Returns the agents of a session, ordered by name, at most `limit`.
pub fn agents(rows: &dyn Rows, session: &str, limit: usize) -> Result<Vec<String>, Error> {
    let prefix = key_in(b'g', session, "");
    rows::list(rows, SPACE, &prefix, limit, |agent, _| rows::text(agent))
}

/// Returns the forks of a session with their fork positions, at most `limit`.
pub fn forks_of(
    rows: &dyn Rows,
    session: &str,
    limit: usize,
) -> Result<Vec<(String, Position)>, Error> {
    let prefix = key_in(b'k', session, "");
    rows::list(rows, SPACE, &prefix, limit, |fork, value| {
        Some((rows::text(fork)?, rows::position(value)?))
    })
}
