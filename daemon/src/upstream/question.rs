//! The question for one kind of entity: a tool, and its arguments with blanks to fill.

use serde_json::{Map, Value, json};

/// What a resolver calls for an entity of some kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// Its arguments; `{name}` and `{kind}` within texts stand for the entity's.
    pub arguments: Map<String, Value>,
}

impl Question {
    /// A tool with the arguments that most tools take: `{"name": "{name}", "limit": 1}`.
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

    /// The arguments for one entity.
    pub(super) fn filled(&self, kind: &str, name: &str) -> Map<String, Value> {
        fill_all(&self.arguments, kind, name)
    }

    /// Whether the server is asked for one object, so that the only one it gives is the one.
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

/// In one pass, so that a name with `{kind}` in it stays as it is.
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

    /// Blanks are filled wherever a text is, once; all else stays.
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
