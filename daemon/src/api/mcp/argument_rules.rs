//! What the program accepts beyond the types of its arguments: lengths, forms, ranges, and which arguments exclude each
//! other. One table, `argument_rules.json`, adds it to the input schemas of the tools.
//!
//! The rules of an argument are JSON Schema, or the name of a kind. Hosts refuse a tool with a combinator at the root, so
//! `dependentSchemas` says which arguments exclude or need each other.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

/// The table.
#[derive(Default, Deserialize)]
struct Rules {
    /// Schemas that several arguments share, by name.
    kinds: BTreeMap<String, Value>,
    /// Rules of arguments that have one meaning in all operations.
    everywhere: BTreeMap<String, Value>,
    /// Rules of the arguments of one operation.
    operations: BTreeMap<String, BTreeMap<String, Value>>,
    /// Rules of the arguments of an operation together.
    together: BTreeMap<String, Together>,
}

/// Which arguments of a call can stand together.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Together {
    /// One of these is there.
    at_least_one: Vec<String>,
    /// At most one of each list is there.
    exclude: Vec<Vec<String>>,
    /// An argument, and the one that must be there then.
    needs: BTreeMap<String, String>,
}

static RULES: LazyLock<Rules> =
    LazyLock::new(|| serde_json::from_str(include_str!("argument_rules.json")).unwrap_or_default());

/// Types of a value that may be any JSON; hosts drop a schema without a type.
const ANY: [&str; 5] = ["string", "object", "array", "number", "boolean"];

/// Adds the rules of an operation to the schema of its arguments.
pub fn apply(operation: &str, schema: &mut JsonObject) {
    let own = RULES.operations.get(operation);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let rules = [
                RULES.everywhere.get(name),
                own.and_then(|own| own.get(name)),
            ];
            for rule in rules.into_iter().flatten() {
                merge(property, rule);
            }
        }
    }
    if let Some(together) = RULES.together.get(operation) {
        together.apply(schema);
    }
}

impl Together {
    fn apply(&self, schema: &mut JsonObject) {
        let mut dependent = BTreeMap::<String, JsonObject>::new();
        for list in &self.exclude {
            for name in list {
                let others = list.iter().filter(|other| *other != name);
                let rule = dependent.entry(name.clone()).or_default();
                let properties = rule.entry("properties").or_insert_with(|| json!({}));
                if let Value::Object(properties) = properties {
                    properties.extend(others.map(|other| (other.clone(), json!({"not": {}}))));
                }
            }
        }
        for (name, needed) in &self.needs {
            let rule = dependent.entry(name.clone()).or_default();
            rule.insert("required".to_owned(), json!([needed]));
        }
        if !self.at_least_one.is_empty() {
            // Any argument is one of these, or needs one of them.
            let one: Vec<Value> = self
                .at_least_one
                .iter()
                .map(|name| json!({"required": [name]}))
                .collect();
            let names = schema.get("properties").and_then(Value::as_object);
            for name in names.into_iter().flat_map(JsonObject::keys) {
                if !self.at_least_one.contains(name) {
                    let rule = dependent.entry(name.clone()).or_default();
                    rule.insert("anyOf".to_owned(), json!(one));
                }
            }
            let required = schema.get("required").and_then(Value::as_array);
            let least = required.map_or(0, Vec::len) + 1;
            schema.insert("minProperties".to_owned(), json!(least));
        }
        schema.insert("dependentSchemas".to_owned(), json!(dependent));
    }
}

/// Merges a rule, or the kind that it names, into a schema.
fn merge(schema: &mut Value, rule: &Value) {
    let rule = rule
        .as_str()
        .map_or(Some(rule), |kind| RULES.kinds.get(kind));
    if let Some(Value::Object(rule)) = rule {
        if !schema.is_object() {
            *schema = json!({});
        }
        for (key, value) in rule {
            merge_key(schema, key, value);
        }
    }
}

fn merge_key(schema: &mut Value, key: &str, value: &Value) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    let inner = schema.entry(key).or_insert(Value::Null);
    match (key, value) {
        ("items" | "additionalProperties", Value::Object(_) | Value::String(_)) => {
            merge(inner, value);
        }
        ("properties", Value::Object(properties)) => {
            for (name, rule) in properties {
                if let Some(property) = inner.get_mut(name) {
                    merge(property, rule);
                }
            }
        }
        _ => *inner = value.clone(),
    }
}

/// Gives every property and every item a type. A value that has none may be any JSON; in a reply also null.
pub fn give_types(schema: &mut JsonObject, is_reply: bool) {
    for (key, value) in schema.iter_mut() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                for property in properties.values_mut() {
                    give_type(property, is_reply);
                }
            }
            ("items", items) => give_type(items, is_reply),
            ("additionalProperties", Value::Object(values)) => give_types(values, is_reply),
            ("anyOf" | "oneOf", Value::Array(variants)) => {
                for variant in variants.iter_mut().filter_map(Value::as_object_mut) {
                    give_types(variant, is_reply);
                }
            }
            _ => {}
        }
    }
}

fn give_type(schema: &mut Value, is_reply: bool) {
    if *schema == json!(true) {
        *schema = json!({});
    }
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    let has_type = ["type", "enum", "const", "anyOf", "oneOf", "allOf"];
    if has_type.iter().any(|key| schema.contains_key(*key)) {
        give_types(schema, is_reply);
        return;
    }
    if is_reply {
        let types = ANY.into_iter().chain(["null"]);
        let one: Vec<Value> = types.map(|kind| json!({"type": kind})).collect();
        schema.insert("anyOf".to_owned(), json!(one));
    } else {
        // Hosts take a list of types, but not every one takes alternatives.
        schema.insert("type".to_owned(), json!(ANY));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::super::tools::TOOLS;
    use super::*;
    use crate::api::operations::TABLE;

    /// Every rule is about an argument that exists, and every kind is used and known.
    #[test]
    fn rules_are_about_arguments_that_exist() {
        let arguments = |operation: &str| {
            let schema = (TABLE[operation].input)();
            schema.get("properties").cloned().unwrap_or_default()
        };
        for (operation, rules) in &RULES.operations {
            let known = arguments(operation);
            for name in rules.keys() {
                assert!(known.get(name).is_some(), "{operation}: {name}");
            }
        }
        for (operation, together) in &RULES.together {
            let known = arguments(operation);
            let excluded = together.exclude.iter().flatten();
            let needed = together.needs.iter().flat_map(|(one, other)| [one, other]);
            for name in together.at_least_one.iter().chain(excluded).chain(needed) {
                assert!(known.get(name).is_some(), "{operation}: {name}");
            }
        }
        for name in RULES.everywhere.keys() {
            let is_known = |operation: &&str| arguments(operation).get(name).is_some();
            assert!(TABLE.keys().any(is_known), "{name}");
        }
        let text = include_str!("argument_rules.json");
        for kind in RULES.kinds.keys() {
            assert!(text.matches(&format!(": \"{kind}\"")).count() > 0, "{kind}");
        }
        assert!(RULES.kinds.len() > 5);
    }

    /// Calls `wrong` with each schema of a property or an item, and its path.
    fn each(schema: &Value, path: &str, wrong: &mut impl FnMut(&Value, &str)) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                wrong(property, &format!("{path}/{name}"));
                each(property, &format!("{path}/{name}"), wrong);
            }
        }
        if let Some(items) = schema.get("items") {
            wrong(items, &format!("{path}[]"));
            each(items, &format!("{path}[]"), wrong);
        }
        for variant in schema
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            each(variant, path, wrong);
        }
    }

    /// Every property and item has a type, integers of arguments have a minimum, and their patterns are regular expressions.
    #[test]
    fn every_field_has_a_type() {
        for tool in TOOLS.iter() {
            let name = tool.name.as_ref();
            let output = tool.output_schema.clone().unwrap_or_default();
            for (schema, is_input) in [(&tool.input_schema, true), (&output, false)] {
                let schema = Value::Object((**schema).clone());
                each(&schema, name, &mut |field, path| {
                    let has_type = ["type", "enum", "const", "anyOf"];
                    let is_typed = has_type.iter().any(|key| field.get(key).is_some());
                    assert!(is_typed, "{path}: {field}");
                    if is_input && field["type"] == "integer" {
                        assert!(field["minimum"].is_i64(), "{path}: {field}");
                        assert!(field["maximum"].is_i64(), "{path}: {field}");
                    }
                    if let Some(pattern) = field.get("pattern").and_then(Value::as_str) {
                        regex::Regex::new(pattern).unwrap();
                    }
                });
            }
            assert!(tool.input_schema["properties"].is_object(), "{name}");
        }
    }
}
