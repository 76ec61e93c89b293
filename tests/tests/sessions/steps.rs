//! Steps for callers: where a value is, failed steps, large results, and what replies say of steps.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, has, is_refusal, serve};

use super::{create, step};

fn resolve(daemon: &Daemon, names: &[&str]) -> Value {
    let args = json!({"session": "s-1", "names": names, "explain": true});
    daemon.call("resolve_variables", args)
}

/// With `explain`, a reply tells where a value is; without it, not.
#[test]
fn a_value_is_told_with_its_place() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    step(
        &daemon,
        "s-1",
        &json!([{"repository": {"id": "r-1"}, "pullRequestId": 22417}]),
    );
    let found = resolve(&daemon, &["ID_FROM_STEP_1", "ALL_PR_IDS_FROM_STEP_1"]);
    has(
        &found["resolutions"][0],
        json!({"value": 22417, "strategy": "mapping", "found_at": "[0].pullRequestId"}),
    );
    assert_eq!(found["resolutions"][1]["value"], json!([22417]));
    let args = json!({"session": "s-1", "names": ["ID_FROM_STEP_1"]});
    let plain = daemon.call("resolve_variables", args);
    assert_eq!(plain["resolutions"][0]["found_at"], Value::Null);
}

/// A failed step gives its error and its status; its fields only when the name asks for a failed step.
#[test]
fn a_failed_step_gives_its_error_alone() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let text = r#"HTTP 400: {"site": ["lax9 is not one of the choices"]}"#;
    let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    step(&daemon, "s-1", &result);
    let parameters = json!({"site": "SITE_FROM_STEP_1", "why": "ERROR_FROM_STEP_1"});
    let args = json!({"session": "s-1", "parameters": parameters});
    let filled = daemon.call("resolve_parameters", args);
    assert_eq!(
        filled["parameters"],
        json!({"site": "SITE_FROM_STEP_1", "why": text})
    );
    has(
        &filled["unresolved"][0],
        json!({"name": "SITE_FROM_STEP_1", "reason": "step_failed"}),
    );
    let found = resolve(&daemon, &["STATUS_FROM_STEP_1", "SITE_FROM_FAILED_STEP_1"]);
    has(
        &found["resolutions"][0],
        json!({"value": "failed", "strategy": "outcome"}),
    );
    assert_eq!(
        found["resolutions"][1]["value"],
        json!(["lax9 is not one of the choices"])
    );
    let line = daemon.stderr();
    let lines: Vec<&str> = line
        .lines()
        .filter(|line| line.contains("SITE_FROM_STEP_1") && line.contains("WARN"))
        .collect();
    assert_eq!(lines.len(), 1, "{line}");
    assert!(lines[0].contains("s-1"), "{line}");
}

/// A step that has an error alone answers from its text; a result is what was recorded, with its field of this name.
#[test]
fn an_error_and_a_whole_result_answer() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let error = r#"HTTP 422: {"field":"slug","id":91}"#;
    let args = json!({"session": "s-1", "tool": "netbox_create", "error": error});
    daemon.call("record_step", args);
    step(
        &daemon,
        "s-1",
        &json!({"result": [{"id": 1, "by": {"id": 9}}, {"id": 2}]}),
    );
    let names = [
        "FIELD_FROM_FAILED_STEP_1",
        "ID_FROM_FAILED_STEP_1",
        "RESULT_FROM_STEP_2",
        "RESULT_FROM_STEP_2_RESULT",
        "IDS_FROM_STEP_2",
    ];
    let found = resolve(&daemon, &names);
    let found = found["resolutions"].as_array().unwrap();
    let values = [
        json!("slug"),
        json!(91),
        json!(r#"{"result":[{"id":1,"by":{"id":9}},{"id":2}]}"#),
        json!([{"id": 1, "by": {"id": 9}}, {"id": 2}]),
        json!([1, 2]),
    ];
    for (resolution, value) in found.iter().zip(values) {
        assert_eq!(resolution["value"], value, "{resolution}");
    }
    assert_eq!(found[0]["found_at"], "the error: field");
}

/// A result over 4 MiB: a warning in each reply that uses it, complete fields, whole values, and one parse.
#[test]
fn a_large_result_is_read_once() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    let filler = "words and more. ".repeat(5 << 16);
    let result = json!({
        "first": "https://example.com/1",
        "text": filler,
        "last": {"id": 77, "url": "https://example.com/2"},
    });
    let recorded = step(&daemon, "s-1", &result);
    let warned = recorded["warnings"][0].as_str().unwrap_or_default();
    assert!(warned.contains("4194304 bytes"), "{recorded}");
    let names = [
        "LAST_ID_FROM_STEP_1",
        "URL_FROM_STEP_1",
        "ALL_URLS_FROM_STEP_1",
    ];
    let found = resolve(&daemon, &names);
    let values = [
        77.into(),
        "https://example.com/2".into(),
        json!(["https://example.com/2"]),
    ];
    for (resolution, value) in found["resolutions"].as_array().unwrap().iter().zip(values) {
        assert_eq!(resolution["value"], value, "{resolution}");
    }
    assert_eq!(
        found["warnings"].as_array().map(Vec::len),
        Some(1),
        "{found}"
    );
    let warning = found["warnings"][0].as_str().unwrap();
    assert!(warning.contains("step 1 is large"), "{warning}");
    let args = json!({"session": "s-1", "parameters": {"id": "LAST_ID_FROM_STEP_1"}});
    let filled = daemon.call("resolve_parameters", args);
    assert_eq!(filled["parameters"], json!({"id": 77}));
    assert_eq!(filled["warnings"], found["warnings"]);
    // The parsed result is in memory.
    let status = daemon.call("status", json!({})).to_string();
    let bytes = status.split("\"cache_bytes\":").nth(1).unwrap();
    let bytes: String = bytes.chars().take_while(char::is_ascii_digit).collect();
    assert!(bytes.parse::<u64>().unwrap() > 5 << 20, "{bytes}");
}

/// A call whose values and reply would take more than its memory has a code of its own, and the connection stays usable.
#[test]
fn a_call_that_is_too_large_is_told_so() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    step(&daemon, "s-1", &json!("y".repeat(40 << 20)));
    step(&daemon, "s-1", &json!({"id": 2}));
    let args = json!({"session": "s-1", "names": ["RESULT_FROM_STEP_1", "RESULT_FROM_STEP_1"]});
    let mut connection = daemon.connect("a");
    let refused = tests::call(&mut connection, "resolve_variables", args).unwrap_err();
    is_refusal(
        &refused.to_body(),
        Code::ResponseTooLarge,
        &["150994944", "Ask for less"],
    );
    let args = json!({"session": "s-1", "names": ["ID_FROM_STEP_2"]});
    let found = tests::call(&mut connection, "resolve_variables", args).unwrap();
    assert_eq!(found["resolutions"][0]["value"], 2);
}

/// `parsed` has the fields that names find, also those of lines and of JSON in prose; digits stay as they came.
#[test]
fn a_step_is_shown_with_its_fields() {
    let (_home, daemon) = serve!();
    create(&daemon, "s-1");
    for (result, parsed) in [
        (
            json!("Created.\n- **key:** OPS-3\nStatus: open"),
            json!({"key": "OPS-3", "Status": "open"}),
        ),
        (json!("The answer is {\"id\": 7}."), json!({"id": 7})),
        (json!("plain words"), Value::Null),
    ] {
        let step = step(&daemon, "s-1", &result)["step"].clone();
        let shown = daemon.call("get_step", json!({"session": "s-1", "step": step}));
        assert_eq!(shown["parsed"], parsed);
    }
    let number: Value = serde_json::from_str("{\"big\": 1e400}").unwrap();
    step(&daemon, "s-1", &json!(r#"{"big":1e400,"price":1.10}"#));
    let found = resolve(&daemon, &["BIG_FROM_STEP_4", "PRICE_FROM_STEP_4"]);
    assert_eq!(found["resolutions"][0]["value"], number["big"]);
    assert_eq!(found["resolutions"][1]["value"].to_string(), "1.10");
}
