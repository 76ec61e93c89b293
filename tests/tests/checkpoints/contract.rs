//! Names, shapes and statuses of the tools' specification, on every transport.

use lore::paths::FileSystem;
use serde_json::{Value, json};
use tests::{McpHost, McpRevision, has_words, serve, transports};

fn tools(lines: &mut McpHost) -> Vec<Value> {
    let mut answer = lines.request("tools/list", json!({"_meta": {"lore/tools": "full"}}));
    answer["result"]["tools"]
        .as_array_mut()
        .map(std::mem::take)
        .unwrap()
}

/// Checks that a schema contains the wanted parts unchanged; additional parts are allowed.
fn has(schema: &Value, wanted: &Value, path: &str) {
    match wanted {
        Value::Object(wanted) => {
            for (name, inner) in wanted {
                has(&schema[name], inner, &format!("{path}/{name}"));
            }
        }
        // An integer is a number.
        Value::String(kind) if kind == "number" => {
            assert!(
                schema == "number" || schema == "integer",
                "{path}: {schema}"
            );
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            assert_eq!(schema, wanted, "{path}");
        }
    }
}

/// The four tools exist in both eras with the properties, types, enums and defaults of their specification.
/// Only `context` is required of a save. Alternatives of a load are checked by its errors, because hosts refuse
/// combinators.
#[test]
fn schemas_are_those_of_the_source() {
    let (_home, daemon) = serve!();
    let text = json!({"type": "string"});
    let wanted = [
        (
            "workflow_checkpoint_save",
            json!({
                "type": "object", "required": ["context"],
                "properties": {
                    "sessionId": text, "context": {"type": "object"},
                    "metadata": {
                        "type": "object",
                        "properties": {"name": text, "tags": {"type": "array", "items": text}},
                    },
                    "force": {"type": "boolean", "default": false},
                },
            }),
            json!({
                "checkpointId": text, "sessionId": text, "sizeBytes": {"type": "number"},
                "status": {"type": "string", "enum": ["SAVED", "SKIPPED_UNCHANGED"]},
            }),
            &["checkpointId", "sessionId", "status"][..],
        ),
        (
            "workflow_checkpoint_load",
            json!({"properties": {"checkpointId": text, "sessionId": text}}),
            json!({
                "checkpointId": text, "sessionId": text, "context": {"type": "object"},
                "metadata": {"type": "object"},
            }),
            &["checkpointId", "sessionId", "context", "metadata"],
        ),
        (
            "workflow_checkpoint_list",
            json!({
                "properties": {
                    "sessionId": text, "limit": {"type": "number", "default": 20},
                    "offset": {"type": "number", "default": 0},
                },
            }),
            json!({"checkpoints": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "checkpointId": text, "sessionId": text, "sizeBytes": {"type": "number"},
                    "createdAt": {"type": "string", "format": "date-time"},
                    "metadata": {"type": "object"},
                },
            }}}),
            &["checkpoints"],
        ),
        (
            "workflow_mark_critical",
            json!({"required": ["contextKey"], "properties": {"contextKey": text}}),
            json!({
                "status": {"type": "string", "enum": ["SUCCESS", "KEY_NOT_FOUND"]},
                "message": text,
            }),
            &["status"],
        ),
    ];
    for era in [McpRevision::Older, McpRevision::Newest] {
        let tools = tools(&mut McpHost::connect(&daemon, era));
        for (name, input, output, required) in &wanted {
            let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
            has(&tool["inputSchema"], input, name);
            let reply = &tool["outputSchema"]["anyOf"][0];
            has(&reply["properties"], output, name);
            let said = reply["required"].as_array().unwrap();
            for field in *required {
                assert!(said.contains(&json!(field)), "{name}: {said:?}");
            }
        }
        let names: Vec<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        for name in ["delete", "diff", "fork"] {
            let name = format!("workflow_checkpoint_{name}");
            assert!(names.contains(&name.as_str()), "{name}");
        }
        let load = tools
            .iter()
            .find(|tool| tool["name"] == "workflow_checkpoint_load");
        assert_eq!(load.unwrap()["inputSchema"].get("required"), None);
        let save = &tools
            .iter()
            .find(|tool| tool["name"] == wanted[0].0)
            .unwrap()["inputSchema"];
        let metadata = &save["properties"]["metadata"];
        assert_eq!(metadata.get("required"), None, "name and tags are optional");
    }
}

/// A save, the same save again, a forced one, a list, both kinds of load, and setting and removing a mark give the
/// same result on every transport: frames, MCP of both eras, `lore call`.
#[test]
fn every_door_says_the_same() {
    let (home, daemon) = serve!();
    // The folder of temporary files may be in memory.
    let is_on_disk = FileSystem::of(home.path()) != FileSystem::Memory;
    for (door_name, mut endpoint) in transports!(home, daemon) {
        let mut call = |name: &str, args: Value| match endpoint.call(name, &args) {
            Ok(reported) => reported,
            Err(refusal) => panic!("{door_name}: {name}: {refusal}"),
        };
        let context = json!({"userGoal": "ship", "n": 1});
        // Doors of one caller share its own session.
        let (session, _) = call("create_session", json!({}));
        let first = json!({"sessionId": session["session"], "context": context});
        let (first, meta) = call("workflow_checkpoint_save", first);
        assert_eq!(first["status"], "SAVED", "{door_name}");
        assert!(first["sizeBytes"].as_u64().unwrap() > 0, "{door_name}");
        assert_eq!(meta["durable"], is_on_disk, "{door_name}");
        let session = &first["sessionId"];
        let again = json!({"sessionId": session, "context": {"n": 1, "userGoal": "ship"}});
        let (skipped, _) = call("workflow_checkpoint_save", again.clone());
        assert_eq!(skipped["status"], "SKIPPED_UNCHANGED", "{door_name}");
        assert_eq!(
            skipped["checkpointId"], first["checkpointId"],
            "{door_name}"
        );
        assert_eq!(skipped["sizeBytes"], first["sizeBytes"], "{door_name}");
        assert_eq!(skipped["newBytes"], 0, "{door_name}");
        let mut forced = again;
        forced["force"] = json!(true);
        forced["metadata"] = json!({"name": "forced", "tags": ["t"], "more": "1.10"});
        let (forced, _) = call("workflow_checkpoint_save", forced);
        assert_eq!(forced["status"], "SAVED", "{door_name}");
        assert_ne!(forced["checkpointId"], first["checkpointId"], "{door_name}");

        let (list, meta) = call("workflow_checkpoint_list", json!({ "sessionId": session }));
        let list = list
            .as_array()
            .unwrap_or_else(|| panic!("{door_name}: {list}"));
        assert_eq!(list.len(), 2, "{door_name}");
        assert_eq!(
            list[0]["checkpointId"], forced["checkpointId"],
            "{door_name}"
        );
        assert_eq!(
            list[1]["checkpointId"], first["checkpointId"],
            "{door_name}"
        );
        assert_eq!(list[0]["metadata"]["name"], "forced", "{door_name}");
        assert_eq!(list[0]["metadata"]["more"], "1.10", "{door_name}");
        let at = list[0]["createdAt"].as_str().unwrap();
        assert!(at.ends_with('Z') && at.len() > 19, "{door_name}: {at}");
        if door_name != "client" {
            assert_eq!(meta["total"], 2, "{door_name}");
        }

        let id = &first["checkpointId"];
        let (by_id, _) = call("workflow_checkpoint_load", json!({ "checkpointId": id }));
        assert_eq!(by_id["checkpointId"], *id, "{door_name}");
        assert_eq!(by_id["context"], context, "{door_name}");
        assert_eq!(by_id["metadata"].get("name"), None, "{door_name}");
        let (latest, _) = call("workflow_checkpoint_load", json!({ "sessionId": session }));
        assert_eq!(
            latest["checkpointId"], forced["checkpointId"],
            "{door_name}"
        );
        assert_eq!(latest["sessionId"], *session, "{door_name}");
        assert_eq!(latest["metadata"]["tags"], json!(["t"]), "{door_name}");

        let mark = |key: &str| json!({"contextKey": key, "sessionId": session});
        let (marked, _) = call("workflow_mark_critical", mark("userGoal"));
        assert_eq!(marked["status"], "SUCCESS", "{door_name}");
        let (unknown, _) = call("workflow_mark_critical", mark("goal"));
        assert_eq!(unknown["status"], "KEY_NOT_FOUND", "{door_name}");
        let said = unknown["message"].as_str().unwrap();
        has_words(said, &["`n`", "`userGoal`"]);
    }
    daemon.verify();
}

/// Over MCP of both eras a list is the array as text, and wrapped as structured content; `_meta` has the total.
#[test]
fn a_list_over_mcp_is_text_and_wrapped() {
    let (_home, daemon) = serve!();
    let mut frames = daemon.connect("");
    let session = super::save(&mut frames, json!({"context": {"n": 0}}))
        .unwrap()
        .session;
    for n in 1..5 {
        super::save(
            &mut frames,
            json!({"sessionId": session, "context": {"n": n}}),
        )
        .unwrap();
    }
    for era in [McpRevision::Older, McpRevision::Newest] {
        let mut lines = McpHost::connect(&daemon, era);
        let args = json!({"sessionId": session, "limit": 2, "offset": 1});
        let result = lines.call("workflow_checkpoint_list", &args);
        let text = result["content"][0]["text"].as_str().unwrap();
        let text: Value = serde_json::from_str(text).unwrap();
        assert_eq!(text.as_array().unwrap().len(), 2, "{result}");
        assert_eq!(result["structuredContent"], json!({ "checkpoints": text }));
        assert_eq!(result["_meta"]["total"], 5, "{result}");
        assert_eq!(result["isError"], false);
    }
}
