//! The operation table as MCP tools.

use std::sync::{Arc, LazyLock};

use lore::protocol::ErrorBody;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::argument_rules;
use crate::api::operations::TABLE;
use crate::api::tool_selection::ToolSelection;
use crate::operation::{Access, Operation};

/// Metadata key for the number of result characters that a host should show whole.
const RESULT_CHARS_MAX: &str = "anthropic/maxResultSizeChars";

/// Every operation as a tool, by name.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| TABLE.values().map(tool).collect());

/// The same tools without the common arguments, which are still accepted, and without reply schemas:
/// most hosts need not show them to a model.
static SHORT: LazyLock<Vec<Tool>> = LazyLock::new(|| TOOLS.iter().map(short).collect());

/// Arguments that many operations share or few calls need.
const COMMON: [&str; 15] = [
    "agent",
    "agents",
    "asOf",
    "as_of",
    "atLeast",
    "at_least",
    "explain",
    "expectedCheckpointId",
    "fence",
    "fusion",
    "include_suspect",
    "k",
    "key",
    "next",
    "origins",
];

/// Arguments hidden in one tool because another tool is made for them.
const ELSEWHERE: [(&str, &str); 2] = [("search", "filters"), ("search", "include_content")];

/// Arguments hidden in one tool because they rarely matter there: an append fits any version, and what is remembered is
/// the project's.
const RARE: [(&str, &str); 3] = [
    ("append_context", "expected_version"),
    ("remember", "sender"),
    ("remember", "session"),
];

/// Returns the listed tools, by name.
#[must_use]
pub fn listed(tool_selection: &ToolSelection) -> Vec<Tool> {
    let tools = if tool_selection.is_whole() {
        &TOOLS
    } else {
        &SHORT
    };
    let listed = tools.iter().filter(|tool| tool_selection.has(&tool.name));
    listed.cloned().collect()
}

fn short(tool: &Tool) -> Tool {
    let mut input = (*tool.input_schema).clone();
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.retain(|name, _| {
            let name = name.as_str();
            let own = (tool.name.as_ref(), name);
            !COMMON.contains(&name) && !ELSEWHERE.contains(&own) && !RARE.contains(&own)
        });
    }
    loosen(&mut input);
    let mut short = tool.clone();
    short.input_schema = Arc::new(input);
    short.output_schema = None;
    short.annotations = tool.annotations.as_ref().map(without_defaults);
    short
}

/// Removes `additionalProperties`, because hidden arguments are also accepted, and what a model need not read: the form of
/// ids and natural numbers, which a refusal explains, and what the items of a described list are.
fn loosen(schema: &mut JsonObject) {
    let is_described = schema.get("description").is_some_and(Value::is_string);
    if let Some(Value::Object(items)) = schema.get_mut("items").filter(|_| is_described) {
        items.retain(|name, value| name != "description" || !value.is_string());
    }
    schema.retain(|name, value| match name.as_str() {
        "additionalProperties" => !value.is_boolean(),
        "pattern" => !value.is_string(),
        "maxLength" | "minLength" | "maxItems" | "minItems" | "minProperties" => !value.is_number(),
        "minimum" => value.as_u64().is_none_or(|least| least > 1),
        "maximum" => value.as_u64().is_none_or(|most| most < 1_000_000),
        "dependentSchemas" => !value.is_object(),
        // Numbers and booleans may be sent as text.
        "type" => {
            if let Value::Array(types) = value {
                types.truncate(3);
            }
            true
        }
        _ => true,
    });
    for value in schema.values_mut() {
        match value {
            Value::Object(inner) => loosen(inner),
            Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => {}
        }
    }
}

/// Removes the hints that say what MCP presumes without them.
fn without_defaults(hints: &ToolAnnotations) -> ToolAnnotations {
    let reads = hints.read_only_hint == Some(true);
    let mut hints = hints.clone();
    if reads {
        // They are about writes.
        hints.destructive_hint = None;
        hints.idempotent_hint = None;
    } else {
        hints.read_only_hint = None;
        hints.idempotent_hint = hints.idempotent_hint.filter(|is_idempotent| *is_idempotent);
    }
    hints
}

/// Returns the tool with this name, if any.
#[must_use]
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Builds the tool of an operation.
fn tool(operation: &Operation) -> Tool {
    let reads = operation.access == Access::Read;
    // A repeated write is recorded again.
    let annotations = ToolAnnotations::new()
        .read_only(reads)
        .destructive(operation.is_destructive)
        .idempotent(reads)
        .open_world(false);
    let mut input = unnamed((operation.input)());
    input.entry("properties").or_insert_with(|| json!({}));
    argument_rules::apply(operation.name, &mut input);
    argument_rules::give_types(&mut input, false);
    bound(&mut input);
    let mut tool = Tool::new(operation.name, operation.description, Arc::new(input))
        .with_title(operation.title)
        .with_raw_output_schema(Arc::new(output(operation)))
        .with_annotations(annotations);
    if let Some(chars) = operation.result_chars_max {
        let meta = Map::from_iter([(RESULT_CHARS_MAX.to_owned(), json!(chars))]);
        tool.meta = Some(MetaObject(meta));
    }
    tool
}

/// Returns the schema of the reply or the refusal. Some clients validate structured content even when the
/// result is an error, and would otherwise hide the refusal.
fn output(operation: &Operation) -> JsonObject {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert(
        "anyOf".to_owned(),
        json!([reply(operation), REFUSAL.clone()]),
    );
    schema
}

/// Returns the schema of the reply in structured content: an object.
fn reply(operation: &Operation) -> JsonObject {
    let mut reply = unnamed((operation.output)());
    argument_rules::give_types(&mut reply, true);
    let Some(name) = operation.wrapped_as else {
        return reply;
    };
    let wrapped = [
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), json!({ name: reply })),
        ("required".to_owned(), json!([name])),
    ];
    Map::from_iter(wrapped)
}

static REFUSAL: LazyLock<JsonObject> = LazyLock::new(|| {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema: Schema = SchemaGenerator::new(settings).into_root_schema_for::<ErrorBody>();
    match schema.into() {
        Value::Object(schema) => plain(schema),
        _ => Map::new(),
    }
});

/// The largest integer that every JSON parser keeps.
const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Gives integers without a maximum the largest one.
fn bound(schema: &mut JsonObject) {
    if schema.get("type").is_some_and(|kind| kind == "integer") {
        schema.entry("maximum").or_insert(json!(INTEGER_MAX));
    }
    for value in schema.values_mut() {
        if let Value::Object(inner) = value {
            bound(inner);
        }
    }
}

/// Removes the top-level description, which only repeats the tool's name.
fn unnamed(mut schema: JsonObject) -> JsonObject {
    schema.shift_remove("description");
    plain(schema)
}

/// The only string format in the schemas.
const DATE_TIME: &str = "date-time";

/// Removes Rust's number formats, which validators do not know and warn about.
fn plain(schema: JsonObject) -> JsonObject {
    schema
        .into_iter()
        .filter(|(key, value)| key != "format" || !value.is_string() || value == DATE_TIME)
        .map(|(key, value)| (key, plain_value(value)))
        .collect()
}

fn plain_value(value: Value) -> Value {
    match value {
        Value::Object(schema) => Value::Object(plain(schema)),
        Value::Array(items) => items.into_iter().map(plain_value).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use lore::protocol::Toolset;

    use super::*;
    use crate::tokens::Tokens;

    /// Most tokens of the whole default list as it is sent, in compact JSON.
    const CORE_TOKENS_MAX: usize = 3000;

    /// The default tool list is short.
    #[test]
    fn core_is_small() {
        let core = listed(&ToolSelection::default());
        assert_eq!(core.len(), 15);
        assert!(core.iter().any(|tool| tool.name == "context_pack"));
        let sent = serde_json::to_string(&core).unwrap();
        let tokens = Tokens::default().count(&sent);
        assert!(tokens < CORE_TOKENS_MAX, "{tokens} tokens: {sent}");
        let full = listed(&ToolSelection::of(&[Toolset::Full]));
        assert!(full.iter().all(|tool| tool.output_schema.is_some()));
        for tool in &core {
            assert!(tool.output_schema.is_none());
            let hints = tool.annotations.clone().unwrap();
            let reads = TABLE[tool.name.as_ref()].access == Access::Read;
            assert_eq!(hints.read_only_hint, reads.then_some(true));
            assert_eq!(hints.destructive_hint, (!reads).then_some(false));
            assert_eq!(hints.open_world_hint, Some(false));
            let properties = tool.input_schema.get("properties");
            let properties = properties.and_then(Value::as_object);
            let properties = properties.cloned().unwrap_or_default();
            assert!(!properties.is_empty(), "{}", tool.name);
            for name in COMMON {
                assert!(!properties.contains_key(name), "{}: {name}", tool.name);
            }
        }
    }

    /// Walks a schema and calls `wrong` with each object and whether it is the root.
    fn walk(schema: &Value, is_root: bool, wrong: &mut impl FnMut(&JsonObject, bool)) {
        match schema {
            Value::Object(map) => {
                wrong(map, is_root);
                map.values().for_each(|value| walk(value, false, wrong));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, false, wrong)),
            _ => {}
        }
    }

    /// Schemas avoid what hosts refuse: combinators at the root, lists of types, references, `default: null`.
    #[test]
    fn input_schemas_are_as_every_host_takes_them() {
        for tool in TOOLS.iter() {
            let name = &tool.name;
            let input = Value::Object((*tool.input_schema).clone());
            assert_eq!(input.get("type"), Some(&json!("object")), "{name}");
            assert_eq!(
                input.get("additionalProperties"),
                Some(&json!(false)),
                "{name}"
            );
            walk(&input, true, &mut |map, is_root| {
                for key in ["oneOf", "anyOf", "allOf", "not"] {
                    // In the rules of arguments that stand together.
                    let is_dependent =
                        ["anyOf", "not"].contains(&key) && !map.contains_key("type") && !is_root;
                    assert!(
                        is_dependent || !map.contains_key(key),
                        "{name}: {key} (root: {is_root})"
                    );
                }
                assert!(!map.contains_key("$ref"), "{name}");
                assert!(!map.contains_key("$defs"), "{name}");
                // Only what may be any JSON has several types, and null is none of them.
                let types = map.get("type").and_then(Value::as_array);
                assert!(types.is_none_or(|types| types.len() == 5), "{name}");
                assert!(!map.get("default").is_some_and(Value::is_null), "{name}");
                assert!(!map.get("format").is_some_and(Value::is_string), "{name}");
            });
        }
    }

    /// Every operation is a tool with a short name, a title, a description and correct hints.
    #[test]
    fn tools_say_what_the_table_says() {
        assert_eq!(TOOLS.len(), TABLE.len());
        assert!(TOOLS.is_sorted_by_key(|tool| tool.name.clone()));
        for (tool, operation) in TOOLS.iter().zip(TABLE.values()) {
            let name = &tool.name;
            assert!((1..=40).contains(&name.len()), "{name}");
            assert!(
                name.bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')),
                "{name}"
            );
            assert_eq!(tool.title.as_deref(), Some(operation.title));
            assert_eq!(tool.description.as_deref(), Some(operation.description));
            assert!(!operation.title.is_empty() && !operation.description.is_empty());
            let reads = operation.access == Access::Read;
            let hints = tool.annotations.clone().unwrap_or_default();
            assert_eq!(
                (
                    hints.read_only_hint,
                    hints.destructive_hint,
                    hints.idempotent_hint,
                    hints.open_world_hint
                ),
                (
                    Some(reads),
                    Some(operation.is_destructive),
                    Some(reads),
                    Some(false)
                ),
                "{name}"
            );
            let output = tool.output_schema.clone().unwrap_or_default();
            assert_eq!(output.get("type"), Some(&json!("object")), "{name}");
            walk(&Value::Object((*output).clone()), true, &mut |map, _| {
                assert!(!map.contains_key("$ref"), "{name}");
            });
        }
    }
}
