//! The daemon's MCP layer over another catalog: the fixtures of the conformance suite, with what the daemon's own tools do
//! not do. The suite itself needs npm.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::http::post;

/// The server of the fixtures; it ends with its input.
struct Fixtures {
    child: Child,
    port: u16,
}

impl Fixtures {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-fixtures-for-tests"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut port).unwrap();
        let port = port.trim().parse().unwrap();
        Self { child, port }
    }

    /// Sends a request of the older era.
    fn older(&self, method: &str, params: &Value) -> (u16, String, String) {
        let headers = "Host: localhost\r\nMCP-Protocol-Version: 2025-11-25\r\n";
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        post(self.port, headers, &request)
    }

    /// Sends a request of the newest era, from a client that can do everything.
    fn newest(&self, method: &str, params: &Value, more: &str) -> (u16, String, String) {
        let mut params = params.clone();
        let all = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        for (name, value) in [
            ("protocolVersion", json!("2026-07-28")),
            ("clientCapabilities", all),
        ] {
            let meta = params["_meta"].as_object_mut();
            if meta
                .is_none_or(|meta| !meta.contains_key(&format!("io.modelcontextprotocol/{name}")))
            {
                params["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
            }
        }
        let name = match params["name"].as_str() {
            Some(name) => format!("Mcp-Name: {name}\r\n"),
            None => String::new(),
        };
        let headers = format!(
            "Host: localhost\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}{more}"
        );
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        post(self.port, &headers, &request)
    }

    /// Calls a tool in the newest era and returns the response.
    fn call(&self, params: &Value) -> Value {
        let (_, _, body) = self.newest("tools/call", params, "");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Fixtures {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// Notifications of a call arrive as events before its result, which is encoded as in any other response.
#[test]
fn progress_comes_before_the_result() {
    let fixtures = Fixtures::start();
    let params = json!({"name": "test_tool_with_progress", "arguments": {},
        "_meta": {"progressToken": "p-1"}});
    for (status, head, body) in [
        fixtures.older("tools/call", &params),
        fixtures.newest("tools/call", &params, ""),
    ] {
        assert_eq!(status, 200, "{body}");
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        let reported: Vec<usize> = body
            .match_indices("notifications/progress")
            .map(|(at, _)| at)
            .collect();
        assert_eq!(reported.len(), 3, "{body}");
        let result = r#""content":[{"type":"text","text":"It reported its progress."}],"structuredContent":{"text":"#;
        let result = body.find(result).unwrap_or_default();
        assert!(reported.iter().all(|at| *at < result), "{body}");
    }
    // Without a token there is nothing to report.
    let params = json!({"name": "test_tool_with_progress", "arguments": {}});
    let (_, head, _) = fixtures.older("tools/call", &params);
    assert!(head.contains("content-type: application/json"), "{head}");
}

/// A result may require input, in the newest era alone. A changed state is refused, and so is a client that cannot answer.
#[test]
fn results_may_require_input() {
    let fixtures = Fixtures::start();
    let name = "test_input_required_result_multi_round";
    let first = fixtures.call(&json!({"name": name, "arguments": {}}));
    let first = &first["result"];
    assert_eq!(first["resultType"], "input_required", "{first}");
    let answers = |state: &str, key: &str, field: &str| {
        json!({"name": name, "arguments": {}, "requestState": state,
            "inputResponses": {key: {"action": "accept", "content": {field: "x"}}}})
    };
    let state = first["requestState"].as_str().unwrap();
    let second = fixtures.call(&answers(state, "step1", "name"));
    let next = second["result"]["requestState"].as_str().unwrap();
    assert_ne!(next, state, "{second}");
    let last = fixtures.call(&answers(next, "step2", "color"));
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    for changed in [
        format!("{next}0"),
        next.replacen('1', "0", 1),
        String::new(),
    ] {
        let refused = fixtures.call(&answers(&changed, "step2", "color"));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let (_, _, older) = fixtures.older("tools/call", &json!({"name": name, "arguments": {}}));
    assert!(older.contains(r#""error""#), "{older}");

    let params = json!({"name": "test_missing_capability", "arguments": {},
        "_meta": {"io.modelcontextprotocol/clientCapabilities": {}}});
    let (status, _, body) = fixtures.newest("tools/call", &params, "");
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("-32021"), "{body}");
}

/// An argument that requests repeat in a header must be equal in both, though the layer takes arguments out of a request.
#[test]
fn headers_repeat_arguments() {
    let fixtures = Fixtures::start();
    let params = json!({"name": "test_custom_header", "arguments": {"region": "north"}});
    for (header, status) in [
        ("Mcp-Param-Region: north\r\n", 200),
        ("Mcp-Param-Region: south\r\n", 400),
        ("", 400),
    ] {
        let (answered, _, body) = fixtures.newest("tools/call", &params, header);
        assert_eq!(answered, status, "{header}{body}");
        assert_eq!(body.contains("-32020"), status == 400, "{header}{body}");
    }
}

/// Unknown names and cursors are refused as by the daemon.
#[test]
fn refusals_are_those_of_the_layer() {
    let fixtures = Fixtures::start();
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        let (_, _, body) = fixtures.older(method, &json!({"cursor": "nonsense"}));
        assert!(body.contains("-32602") && body.contains("page"), "{body}");
    }
    let (_, _, body) = fixtures.older("tools/call", &json!({"name": "test_simple_txt"}));
    assert!(body.contains("did you mean `test_simple_text`?"), "{body}");
    assert!(body.len() <= 300, "{body}");
    let refused = fixtures.call(&json!({"name": "test_error_handling"}));
    let result = &refused["result"];
    assert_eq!(result["isError"], true, "{refused}");
    assert_eq!(result["structuredContent"]["code"], "INTERNAL");
    let read = json!({"uri": "test://nowhere"});
    for (answered, code) in [
        (fixtures.older("resources/read", &read), "-32002"),
        (
            fixtures.newest("resources/read", &read, "Mcp-Name: test://nowhere\r\n"),
            "-32602",
        ),
    ] {
        assert!(answered.2.contains(code), "{}", answered.2);
    }
}
