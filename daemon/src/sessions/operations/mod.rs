//! Session entries of the operation table.

mod create;
mod lease;
mod list;
mod update;

use lore::protocol::SessionId;
use lore::protocol::sessions::SessionParent;
use serde_json::{Map, Value};

pub(crate) use super::command::PREFERENCES_BYTES_MAX;
use super::command::TAGS_MAX;
use crate::error::{Code, Refusal};
use crate::events::sessions::Parent;
use crate::operation::Operation;

/// The entries.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<create::CreateSession>(),
    Operation::of::<update::UpdateSession>(),
    Operation::of::<update::CloseSession>(),
    Operation::of::<list::ListSessions>(),
    Operation::of::<lease::LeaseSession>(),
    Operation::of::<lease::ReleaseSession>(),
];

/// Limit on title, topic, user, project and reason each, in bytes.
const TEXT_BYTES_MAX: usize = 1024;

/// Refuses texts that are too long or contain characters that would corrupt a list.
pub(crate) fn check_texts<'t>(
    texts: impl IntoIterator<Item = (&'static str, Option<&'t String>)>,
) -> Result<(), Refusal> {
    for (name, text) in texts {
        let Some(text) = text else { continue };
        if text.len() > TEXT_BYTES_MAX || text.chars().any(char::is_control) {
            return Err(Refusal::invalid(format!(
                "`{name}` has at most {TEXT_BYTES_MAX} bytes and no control characters"
            )));
        }
    }
    Ok(())
}

pub(crate) fn check_tags(tags: &[String]) -> Result<(), Refusal> {
    if tags.len() > TAGS_MAX {
        return Err(Refusal::invalid(format!(
            "a session has at most {TAGS_MAX} tags; {} were given",
            tags.len()
        )));
    }
    match tags.iter().find(|tag| tag.is_empty()) {
        Some(_) => Err(Refusal::invalid("a tag is empty")),
        None => check_texts(tags.iter().map(|tag| ("tags", Some(tag)))),
    }
}

/// Encodes preferences for storage: the JSON object as text.
fn preferences_text(given: Option<Map<String, Value>>) -> Result<Option<String>, Refusal> {
    let text = given.map(|map| Value::from(map).to_string());
    if text
        .as_ref()
        .is_some_and(|text| text.len() > PREFERENCES_BYTES_MAX)
    {
        return Err(Refusal::invalid(format!(
            "`preferences` have at most {PREFERENCES_BYTES_MAX} bytes as JSON"
        )));
    }
    Ok(text)
}

/// Converts a session's id to its wire format.
pub fn session_id(session: &str) -> Result<SessionId, Refusal> {
    SessionId::new(session).map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
}

/// Converts a session's parent to its wire format.
pub fn parent(parent: Option<&Parent>) -> Result<Option<SessionParent>, Refusal> {
    parent
        .map(|parent| {
            Ok(SessionParent {
                session: session_id(&parent.session)?,
                position: parent.position.into(),
            })
        })
        .transpose()
}
