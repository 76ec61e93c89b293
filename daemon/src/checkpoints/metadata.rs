//! Metadata of checkpoints: checked, stored, and in replies.

use serde_json::{Map, Value};

use super::limits::Limits;
use crate::error::Refusal;
use crate::events;
use crate::events::checkpoints::CheckpointDescribed;
use crate::log::{Hash, LoggedEvent};
use crate::store::Error;

/// Checked metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Name of the checkpoint.
    pub name: Option<String>,
    /// Tags of the checkpoint.
    pub tags: Vec<String>,
    /// All metadata, as JSON.
    pub map: Map<String, Value>,
}

impl Metadata {
    /// Checks a caller's metadata. A single tag stands for a list of one.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the field, its value and the expected one.
    pub fn of(map: Option<Map<String, Value>>) -> Result<Self, Refusal> {
        let mut map = map.unwrap_or_default();
        map.retain(|_, value| !value.is_null());
        if let Some(Value::String(tag)) = map.get("tags") {
            let one = Value::Array(vec![Value::String(tag.clone())]);
            map.insert("tags".to_owned(), one);
        }
        let bytes = serde_json::to_string(&map).map_or(0, |text| text.len());
        if bytes > Limits::METADATA_BYTES_MAX {
            let max = Limits::METADATA_BYTES_MAX;
            return Err(Refusal::invalid(format!(
                "`metadata` has {bytes} bytes as JSON; at most {max} are kept"
            ))
            .hint("Put what is large into the context."));
        }
        Ok(Self {
            name: map.get("name").map(name).transpose()?,
            tags: map.get("tags").map(tags).transpose()?.unwrap_or_default(),
            map,
        })
    }

    /// Reads stored metadata.
    #[must_use]
    pub fn stored(described: &CheckpointDescribed) -> Self {
        let text = described.metadata.as_deref().unwrap_or("{}");
        // It was checked when it was saved; anything invalid is ignored.
        let map = serde_json::from_str(text).unwrap_or_default();
        Self::of(Some(map)).unwrap_or_default()
    }

    /// Reads the metadata of a saved checkpoint.
    pub fn of_event(event: &LoggedEvent) -> Result<Self, Error> {
        Ok(Self::stored(&events::body(event)?))
    }

    /// Returns the stored form.
    #[must_use]
    pub fn described(&self) -> CheckpointDescribed {
        let is_said = !self.map.is_empty();
        CheckpointDescribed {
            metadata: is_said.then(|| Value::from(self.map.clone()).to_string()),
        }
    }

    /// Returns whether the checkpoint is exempt from automatic deletion.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.name.is_some() || !self.tags.is_empty()
    }

    /// Returns whether the metadata contains every word, ignoring case.
    #[must_use]
    pub fn has_words(&self, words: &[String]) -> bool {
        let text = Value::from(self.map.clone()).to_string().to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    /// Returns the metadata for replies, with the agent, and the hash and size of the context.
    #[must_use]
    pub fn published(
        &self,
        event: &LoggedEvent,
        hash: &Hash,
        stored_bytes: u64,
    ) -> Map<String, Value> {
        let mut shown = self.map.clone();
        let agent = event.header.author();
        if !agent.is_empty() && !shown.contains_key("agentId") {
            shown.insert("agentId".to_owned(), Value::from(agent));
        }
        shown.insert("contextHash".to_owned(), Value::from(hash.to_string()));
        shown.insert("contextSizeBytes".to_owned(), Value::from(stored_bytes));
        shown
    }
}

fn name(value: &Value) -> Result<String, Refusal> {
    let has = |kind: &str| format!("`metadata.name` is {kind}; a name is a text");
    text(
        value,
        "`metadata.name`",
        "a name",
        Limits::NAME_BYTES_MAX,
        has,
    )
}

fn tags(value: &Value) -> Result<Vec<String>, Refusal> {
    let most = Limits::TAGS_MAX;
    let Value::Array(items) = value else {
        return Err(Refusal::invalid(format!(
            "`metadata.tags` is {}; it is a list of texts",
            kind(value)
        )));
    };
    if items.len() > most {
        return Err(Refusal::invalid(format!(
            "`metadata.tags` has {} tags; at most {most} are kept",
            items.len()
        )));
    }
    let has = |kind: &str| format!("`metadata.tags` holds {kind}; a tag is a text");
    let (subject, max) = ("a tag in `metadata.tags`", Limits::TAG_BYTES_MAX);
    let tag = |item| text(item, subject, "a tag", max, has);
    items.iter().map(tag).collect()
}

/// Checks a text of 1 to `max` bytes; `has_kind` is the message for a value of another kind.
fn text(
    value: &Value,
    subject: &str,
    what: &str,
    max: usize,
    has_kind: impl Fn(&str) -> String,
) -> Result<String, Refusal> {
    let Value::String(text) = value else {
        return Err(Refusal::invalid(has_kind(kind(value))));
    };
    if !(1..=max).contains(&text.len()) {
        let bytes = text.len();
        let message = format!("{subject} has {bytes} bytes; {what} has 1 to {max}");
        return Err(Refusal::invalid(message));
    }
    Ok(text.clone())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Result<Metadata, Refusal> {
        Metadata::of(value.as_object().cloned())
    }

    /// What is wrong is named, with what would be right.
    #[test]
    fn wrong_metadata_is_refused() {
        for (value, wanted) in [
            (
                json!({"name": 1}),
                "`metadata.name` is a number; a name is a text",
            ),
            (json!({"name": ""}), "a name has 1 to 256"),
            (json!({"name": "x".repeat(1 << 20)}), "at most 65536"),
            (json!({"name": "x".repeat(257)}), "has 257 bytes"),
            (json!({"tags": {"a": 1}}), "`metadata.tags` is an object"),
            (json!({"tags": [1]}), "`metadata.tags` holds a number"),
            (json!({"tags": [""]}), "a tag has 1 to 128"),
            (json!({"tags": vec!["t"; 65]}), "has 65 tags"),
            (json!({"notes": "x".repeat(1 << 20)}), "at most 65536"),
        ] {
            let refused = of(value).unwrap_err();
            assert!(refused.message.contains(wanted), "{refused}");
        }
    }

    /// Good metadata reads back as stored, one tag is a list of one, a null says nothing.
    #[test]
    fn metadata_reads_back() {
        let metadata = of(json!({"name": "n", "tags": "t", "x": null, "y": {"z": 1.10}})).unwrap();
        assert_eq!(
            (metadata.name.as_deref(), metadata.tags.as_slice()),
            (Some("n"), &["t".to_owned()][..])
        );
        assert_eq!(Metadata::stored(&metadata.described()), metadata);
        assert!(metadata.is_kept() && !Metadata::default().is_kept());
        assert_eq!(
            Metadata::default().described(),
            CheckpointDescribed::default()
        );
        assert!(metadata.has_words(&["n".to_owned(), "1.1".to_owned()]));
        assert!(!metadata.has_words(&["absent".to_owned()]));
    }
}
