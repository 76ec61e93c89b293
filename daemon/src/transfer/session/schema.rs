//! The JSON Schema of a line, from which the documentation page names its fields.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::kinds::Payload;
use super::lines::{FORMAT, Header, LastLine, Line, VERSION};

/// Builds the JSON Schema (2020-12) of each line of an exported session: the first, the last, or one event of a
/// kind.
#[must_use]
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of an exported session, version 1",
        "anyOf": lines(&mut generator()),
    })
}

/// Returns a schema generator that writes schemas without references.
#[must_use]
pub fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator()
}

/// Returns the schema of every line of an exported session.
#[must_use]
pub fn lines(generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut first = Value::from(generator.subschema_for::<Header>());
    insert(&mut first, "format", json!({"const": FORMAT}));
    insert(&mut first, "version", json!({"const": VERSION}));
    let last = Value::from(generator.subschema_for::<LastLine>());
    let line = Value::from(generator.subschema_for::<Line<Map<String, Value>>>());
    let mut all = vec![first];
    for (kind, payload) in Payload::schemas(generator) {
        let mut line = line.clone();
        insert(&mut line, "kind", json!({ "const": kind }));
        insert(&mut line, "payload", Value::from(payload));
        all.push(line);
    }
    all.push(last);
    all
}

/// Sets the schema of a property; the description remains unless the new schema has one.
pub fn insert(schema: &mut Value, property: &str, mut is: Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let before = properties
        .get(property)
        .and_then(|one| one.get("description"));
    if let (Some(said), Some(is)) = (before.cloned(), is.as_object_mut()) {
        is.entry("description").or_insert(said);
    }
    properties.insert(property.to_owned(), is);
}
