//! What a call gives back: the reply, and what is said about it.

use lore_wire::wire;

use super::Position;

/// The reply of a call, as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The reply as JSON.
    pub json: Vec<u8>,
    /// What is said beside it, as JSON: a [`Meta`], or what a newer daemon makes of it.
    pub meta: Option<Vec<u8>>,
}

impl Reply {
    /// One JSON text for both: an object gets what was said beside it as its last member, `_meta`;
    /// anything else stands as it is.
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

/// What a reply says beside itself, when the shape of the reply is fixed by the source it comes
/// from: the fields that other replies have among their own.
#[wire]
#[derive(Eq)]
pub struct Meta {
    /// Of what was written; for a read, of the state it saw.
    pub position: Position,
    /// Whether it survives a loss of power from now on.
    pub durable: bool,
    /// The project that it belongs to.
    pub project: Option<String>,
    /// What the caller should know, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How many there are in all, when the reply is a page of a list.
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
