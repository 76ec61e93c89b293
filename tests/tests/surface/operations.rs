//! Every operation: description, arguments, reply.
//!
//! A schema is written as one line per field: its path, its description, and all its other keywords as JSON.

use serde_json::{Map, Value, json};
use tests::{McpHost, McpRevision};

use crate::assert_snapshot;

/// Keywords that contain schemas, which are written as separate lines.
const NESTED: [&str; 4] = ["properties", "items", "additionalProperties", "anyOf"];

/// Writes the lines of a schema.
fn write_schema(path: &str, schema: &Value, is_required: bool, text: &mut String) {
    let Some(keywords) = schema.as_object() else {
        *text += &format!("{path}: {schema}\n");
        return;
    };
    let mut own = Map::new();
    for (name, value) in keywords {
        let is_nested = NESTED.contains(&name.as_str()) && (value.is_object() || value.is_array());
        if !is_nested && name != "description" && name != "required" {
            own.insert(name.clone(), value.clone());
        }
    }
    let required = names(keywords.get("required"));
    let optional = if is_required { "" } else { "?" };
    *text += &format!("{path}{optional}: {}\n", Value::Object(own));
    if let Some(description) = keywords.get("description") {
        let description = description.as_str().unwrap();
        for line in description.lines() {
            *text += &format!("    {line}\n");
        }
    }
    for name in NESTED {
        match (name, keywords.get(name)) {
            ("properties", Some(Value::Object(fields))) => {
                for (field, schema) in fields {
                    let is_required = required.contains(&field.as_str());
                    write_schema(&format!("{path}.{field}"), schema, is_required, text);
                }
                let unknown = required.iter().find(|name| !fields.contains_key(**name));
                assert_eq!(unknown, None, "{path} requires what it does not describe");
            }
            ("items", Some(items @ Value::Object(_))) => {
                write_schema(&format!("{path}[]"), items, true, text);
            }
            ("additionalProperties", Some(others @ Value::Object(_))) => {
                write_schema(&format!("{path}.*"), others, true, text);
            }
            ("anyOf", Some(Value::Array(choices))) => {
                for (number, choice) in (1..).zip(choices) {
                    write_schema(&format!("{path}|{number}"), choice, true, text);
                }
            }
            _ => {}
        }
    }
}

fn names(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice);
    list.unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// Returns the tools of a list such as `core` or `full`.
fn tools(lines: &mut McpHost, list: &str) -> Vec<Value> {
    let mut answer = lines.request("tools/list", json!({"_meta": {"lore/tools": list}}));
    assert!(answer["result"]["nextCursor"].is_null(), "one page");
    let Value::Array(tools) = answer["result"]["tools"].take() else {
        panic!("{answer}")
    };
    tools
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

/// MCP's tool list of every operation.
#[test]
fn every_operation() {
    let (_home, daemon) = crate::serve("");
    let mut lines = McpHost::connect(&daemon, McpRevision::Newest);
    let mut text = String::new();
    let all = tools(&mut lines, "full,legacy");
    let served: Vec<&str> = all.iter().map(name).collect();
    let known: Vec<&str> = lored::api::TABLE.keys().copied().collect();
    assert_eq!(served, known);
    let refusal = all[0]["outputSchema"]["anyOf"][1].clone();
    text += "# Refusal of any operation\n\n";
    write_schema("refusal", &refusal, true, &mut text);
    for mut tool in all {
        let output = tool["outputSchema"].take();
        assert_eq!(output["anyOf"][1], refusal);
        let input = tool["inputSchema"].take();
        let fields = tool.as_object_mut().unwrap();
        fields.retain(|_, value| !value.is_null());
        let name = fields.shift_remove("name").unwrap();
        let description = fields.shift_remove("description").unwrap();
        let (name, description) = (name.as_str().unwrap(), description.as_str().unwrap());
        text += &format!("\n# {name}\n\n{description}\n\n{tool}\n\n");
        write_schema("arguments", &input, true, &mut text);
        text += "\n";
        write_schema("reply", &output["anyOf"][0], true, &mut text);
    }
    assert_snapshot("operations", &text);
}

/// Other texts for MCP hosts and models: instructions, tool selections, prompts, resources.
#[test]
fn mcp() {
    let (_home, daemon) = crate::serve("");
    let mut lines = McpHost::connect(&daemon, McpRevision::Newest);
    let mut text = String::new();
    let discovered = lines.request("server/discover", json!({}));
    let instructions = discovered["result"]["instructions"].as_str();
    text += &format!("# Instructions\n\n{}\n", instructions.unwrap());
    for set in lore::protocol::Toolset::ALL {
        let list = tools(&mut lines, set.name());
        let names: Vec<&str> = list.iter().map(name).collect();
        text += &format!("\n# Tools of `{}`\n\n{}\n", set.name(), names.join("\n"));
    }
    text += "\n# Arguments that `core` shows\n\n";
    for tool in tools(&mut lines, "core") {
        let arguments = tool["inputSchema"]["properties"].as_object();
        let arguments: Vec<&str> = arguments.unwrap().keys().map(String::as_str).collect();
        text += &format!("{}: {}\n", name(&tool), arguments.join(", "));
    }
    for (title, method, field) in [
        ("Prompts", "prompts/list", "prompts"),
        (
            "Templates of resources",
            "resources/templates/list",
            "resourceTemplates",
        ),
    ] {
        let answer = lines.request(method, json!({}));
        text += &format!("\n# {title}\n\n{:#}\n", answer["result"][field]);
    }
    assert_snapshot("mcp", &text);
}
