//! Kinds of the session itself.

use lore::protocol::RawObject;

use super::mirror::{Mirror, object};
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::error::Refusal;
use crate::events::body;
use crate::log::{LoggedEvent, codec};
use crate::sessions::operations::{PREFERENCES_BYTES_MAX, check_tags, check_texts};
use crate::sessions::{
    SessionClosed, SessionCreated, SessionEvent, SessionOrigin, SessionUpdated, merged,
};
use crate::store::Error;
use crate::transfer::session::check::Checker;
use crate::transfer::session::export::object;
use crate::transfer::session::markdown::{Section, escaped};

object! {
    #[derive(Default)]
    /// The session began: the first event, and the only one of its kind.
    Created {
        /// Title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// User who owns the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        user: Option<String>,
        /// Topic of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// Tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        /// Preferences, by name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

impl Created {
    /// Exports the event.
    pub fn export(event: &LoggedEvent, origin: &SessionOrigin) -> Result<Self, Error> {
        let created: SessionCreated = body(event)?;
        let preferences = match (&origin.preferences, created.preferences) {
            (None, own) => own,
            (Some(before), own) => merged(Some(before), own.as_deref()),
        };
        Ok(Self {
            title: created.title,
            user: created.user,
            topic: created.topic,
            tags: created.tags,
            preferences: object(event, preferences)?,
        })
    }
}

impl LinePayload for Created {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        texts([
            ("title", self.title.as_ref()),
            ("user", self.user.as_ref()),
            ("topic", self.topic.as_ref()),
        ])?;
        tags(&self.tags)?;
        preferences(self.preferences.as_ref())
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let body = SessionCreated {
            title: self.title,
            user: self.user,
            topic: self.topic,
            tags: self.tags,
            preferences: self.preferences.map(RawObject::into_string),
        };
        let created = SessionEvent::Created(SessionOrigin::default());
        Ok(Some((created.into(), codec::encode(&body))))
    }
}

object! {
    /// Fields of the session were set; absent fields did not change.
    Updated {
        /// Title; empty removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        title: Option<String>,
        /// Topic; empty removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        topic: Option<String>,
        /// The new list of tags.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Vec<String>")]
        tags: Option<Vec<String>>,
        /// Added tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        add_tags: Vec<String>,
        /// Removed tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remove_tags: Vec<String>,
        /// Preferences that were set, by name; null removes one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        preferences: Option<RawObject>,
    }
}

impl Updated {
    /// Exports the event.
    pub fn export(event: &LoggedEvent) -> Result<Self, Error> {
        let updated: SessionUpdated = body(event)?;
        Ok(Self {
            title: updated.title,
            topic: updated.topic,
            tags: updated.tags,
            add_tags: updated.add_tags,
            remove_tags: updated.remove_tags,
            preferences: object(event, updated.preferences)?,
        })
    }
}

impl LinePayload for Updated {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        texts([
            ("title", self.title.as_ref()),
            ("topic", self.topic.as_ref()),
        ])?;
        let all = self.tags.as_deref().unwrap_or_default();
        [all, &self.add_tags, &self.remove_tags]
            .into_iter()
            .try_for_each(tags)?;
        preferences(self.preferences.as_ref())
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let body = SessionUpdated {
            title: self.title,
            topic: self.topic,
            tags: self.tags,
            add_tags: self.add_tags,
            remove_tags: self.remove_tags,
            preferences: self.preferences.map(RawObject::into_string),
        };
        Ok(Some((SessionEvent::Updated.into(), codec::encode(&body))))
    }

    fn render(&self, to: &mut Section<'_>) {
        let mut what = Vec::new();
        for (name, text) in [("title", &self.title), ("topic", &self.topic)] {
            if let Some(text) = text {
                what.push(format!("{name}: {}", escaped(text)));
            }
        }
        let lists = [
            ("tags", self.tags.as_deref()),
            ("added tags", Some(self.add_tags.as_slice())),
            ("removed tags", Some(self.remove_tags.as_slice())),
        ];
        for (name, tags) in lists {
            if let Some(tags) = tags.filter(|tags| !tags.is_empty() || name == "tags") {
                what.push(format!("{name}: {}", escaped(&tags.join(", "))));
            }
        }
        if let Some(preferences) = &self.preferences {
            what.push(format!("preferences: {}", escaped(preferences.as_str())));
        }
        to.note(&what.join("; "));
    }
}

object! {
    /// The session was closed.
    Closed = SessionClosed {
        /// Reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        reason: Option<String>,
    }
}

impl LinePayload for Closed {
    fn check(&self, _: &mut Checker) -> Result<(), String> {
        texts([("reason", self.reason.as_ref())])
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let body: SessionClosed = self.mirror();
        Ok(Some((SessionEvent::Closed.into(), codec::encode(&body))))
    }

    fn render(&self, to: &mut Section<'_>) {
        let reason = self.reason.as_deref().unwrap_or_default();
        let why = if reason.is_empty() { "" } else { ": " };
        to.note(&format!("closed{why}{}", escaped(reason)));
    }
}

/// Checks the lengths of texts, by the name of their field.
pub(super) fn texts<'t>(
    texts: impl IntoIterator<Item = (&'static str, Option<&'t String>)>,
) -> Result<(), String> {
    check_texts(texts).map_err(|refusal| refusal.message)
}

fn tags(tags: &[String]) -> Result<(), String> {
    check_tags(tags).map_err(|refusal| refusal.message)
}

fn preferences(preferences: Option<&RawObject>) -> Result<(), String> {
    let bytes = preferences.map_or(0, |preferences| preferences.as_str().len());
    if bytes > PREFERENCES_BYTES_MAX {
        return Err(format!(
            "`preferences` have {bytes} bytes; at most {PREFERENCES_BYTES_MAX} are kept"
        ));
    }
    Ok(())
}
