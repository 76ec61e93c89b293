//! The query for one kind of entity: a tool, and its arguments with placeholders.

use serde_json::{Map, Value, json};

/// The tool call of a resolver for one kind of entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Tool name.
    pub tool: String,
    /// Tool arguments; `{name}` and `{kind}` within texts are replaced by the entity's.
    pub arguments: Map<String, Value>,
}

impl Question {
    /// Creates a call with the arguments that most tools take: `{"name": "{name}", "limit": 1}`.
    #[must_use]
    pub fn new(tool: &str) -> Self {
        let mut arguments = Map::new();
        arguments.insert("name".to_owned(), json!("{name}"));
        arguments.insert("limit".to_owned(), json!(1));
        Self {
            tool: tool.to_owned(),
            arguments,
        }
    }

    /// Fills in the arguments for one entity.
    pub(super) fn filled(&self, kind: &str, name: &str) -> Map<String, Value> {
        fill_all(&self.arguments, kind, name)
    }

    /// Returns whether the server is asked for exactly one object, so that a single result is the match.
    pub(super) fn wants_one(&self) -> bool {
        self.arguments.get("limit").and_then(Value::as_u64) == Some(1)
    }
}

fn fill_all(arguments: &Map<String, Value>, kind: &str, name: &str) -> Map<String, Value> {
    let filled = |(key, value): (&String, &Value)| (key.clone(), fill(value, kind, name));
    arguments.iter().map(filled).collect()
}

fn fill(value: &Value, kind: &str, name: &str) -> Value {
    match value {
        Value::String(text) => Value::String(fill_text(text, kind, name)),
        Value::Array(values) => values.iter().map(|value| fill(value, kind, name)).collect(),
        Value::Object(map) => Value::Object(fill_all(map, kind, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Replaces in one pass, so that a name that contains `{kind}` stays unchanged.
fn fill_text(mut text: &str, kind: &str, name: &str) -> String {
    let mut filled = String::new();
    while let Some((before, rest)) = text.split_once('{') {
        filled.push_str(before);
        text = if let Some(rest) = rest.strip_prefix("name}") {
            filled.push_str(name);
            rest
        } else if let Some(rest) = rest.strip_prefix("kind}") {
            filled.push_str(kind);
            rest
        } else {
            filled.push('{');
            rest
        };
    }
    filled + text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Placeholders are replaced once in every text; everything else stays.
    #[test]
    fn blanks_are_filled() {
        let mut question = Question::new("get");
        assert!(question.wants_one());
        assert_eq!(
            Value::Object(question.filled("device", "ams1")),
            json!({"name": "ams1", "limit": 1})
        );
        question.arguments = json!({
            "type": "dcim.{kind}", "{name}": [true, null, 7, {"q": "{name}-{name} {} {nam"}],
        })
        .as_object()
        .cloned()
        .unwrap_or_default();
        assert!(!question.wants_one());
        assert_eq!(
            Value::Object(question.filled("device", "{kind}")),
            json!({
                "type": "dcim.device", "{name}": [true, null, 7, {"q": "{kind}-{kind} {} {nam"}],
            })
        );
    }
}
