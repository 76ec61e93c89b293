//! The result of a call: the reply and its metadata.

use lore_wire::wire;

use super::{Position, SessionId};

/// The reply of a call, as received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The reply as JSON.
    pub json: Vec<u8>,
    /// Metadata as JSON: a [`Meta`], or a newer daemon's version of it.
    pub meta: Option<Vec<u8>>,
}

impl Reply {
    /// Combines both into one JSON text: an object gets the metadata as its last member, `_meta`;
    /// any other value is unchanged.
    ///
    /// ```
    /// let meta = Some(br#"{"position":7}"#.to_vec());
    /// let reply = lore::protocol::Reply { json: br#"{"step":1}"#.to_vec(), meta };
    /// assert_eq!(reply.into_one_text(), br#"{"step":1,"_meta":{"position":7}}"#);
    /// ```
    #[must_use]
    pub fn into_one_text(self) -> Vec<u8> {
        let Self { mut json, meta } = self;
        json.truncate(json.trim_ascii_end().len());
        let (Some(meta), Some(b'}')) = (meta, json.last()) else {
            return json;
        };
        json.pop();
        let is_empty = json.trim_ascii() == b"{";
        json.extend(if is_empty { "" } else { "," }.bytes());
        json.extend(br#""_meta":"#);
        json.extend(meta);
        json.push(b'}');
        json
    }
}

/// How the session of a call was chosen.
#[wire]
pub enum ChosenBy {
    /// The call or the connection names it.
    Named,
    /// It is the session of the caller's host session.
    HostSession,
    /// It is the last session of this agent in this project, for callers that state no host session.
    Agent,
    /// This call made it.
    New,
    /// It is the newest session of the project that has what was asked for, and not the caller's own.
    Project,
}

/// Metadata of a reply whose structure its specification fixes: the common fields that other replies contain
/// directly.
#[wire]
#[derive(Eq)]
pub struct Meta {
    /// Log position of the write; for a read that of the snapshot.
    pub position: Position,
    /// Whether the data survives a power failure.
    pub durable: bool,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The session that was used.
    pub session: Option<SessionId>,
    /// How that session was chosen.
    pub chosen_by: Option<ChosenBy>,
    /// Warnings for the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Total number of items, when the reply is a page of a list.
    pub total: Option<u64>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_the_last_member_of_an_object_alone() {
        let one = |json: &str, meta: Option<&str>| {
            let reply = Reply {
                json: json.as_bytes().to_vec(),
                meta: meta.map(|meta| meta.as_bytes().to_vec()),
            };
            String::from_utf8(reply.into_one_text()).unwrap()
        };
        let meta = Some(r#"{"position":7}"#);
        assert_eq!(
            one(r#"{"a":1.10}"#, meta),
            r#"{"a":1.10,"_meta":{"position":7}}"#
        );
        assert_eq!(one(r#"{ } "#, meta), r#"{ "_meta":{"position":7}}"#);
        assert_eq!(one(r#"{"a":1}"#, None), r#"{"a":1}"#);
        assert_eq!(one(r#"[{"a":1}]"#, meta), r#"[{"a":1}]"#);
        assert_eq!(one(r#""}""#, meta), r#""}""#);
    }

    #[test]
    fn meta_says_no_more_than_there_is() {
        let mut meta = Meta {
            position: Position(7),
            durable: true,
            project: None,
            session: None,
            chosen_by: None,
            warnings: Vec::new(),
            total: None,
        };
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(text, r#"{"position":7,"durable":true}"#);
        assert_eq!(serde_json::from_str::<Meta>(&text).unwrap(), meta);
        meta.total = Some(3);
        meta.warnings = vec!["w".to_owned()];
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(serde_json::from_str::<Meta>(&text).unwrap(), meta);
    }
}
