//! Calls of tools through the mailbox, for a host that runs its MCP servers in a sandbox without the daemon's socket.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::answers;
use super::pipes::{Event, Output};
use crate::client::Client;
use crate::connection::Error;
use crate::paths::Paths;
use crate::protocol::frame::Hello;
use crate::protocol::tools::MCP_VERSION_MODERN;
use crate::protocol::{Args, ErrorBody, Reply};

/// A call of a tool.
#[derive(Debug)]
pub(super) struct MailedCall {
    /// Id of the request, as JSON.
    id: String,
    name: String,
    arguments: Vec<u8>,
    /// Whether the request is of the newest revision, whose results have a type.
    is_modern: bool,
    /// What the line counts for in the budget, in bytes.
    bytes: usize,
}

impl MailedCall {
    /// Reads a line; `None` for anything but a call of a tool.
    pub fn read(id: &str, line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Request<'a> {
            method: String,
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            name: String,
            #[serde(borrow, default)]
            arguments: Option<&'a RawValue>,
            #[serde(default, rename = "_meta")]
            meta: Meta,
        }
        #[derive(Default, Deserialize)]
        struct Meta {
            #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
            version: Option<String>,
        }
        let Request { method, params } = serde_json::from_slice::<Request<'_>>(line).ok()?;
        (method == "tools/call").then(|| Self {
            id: id.to_owned(),
            name: params.name,
            arguments: params
                .arguments
                .map_or("{}", RawValue::get)
                .as_bytes()
                .to_vec(),
            is_modern: params.meta.version.as_deref() == Some(MCP_VERSION_MODERN),
            bytes: super::held_bytes(line),
        })
    }

    /// Makes the call and returns the line of its answer.
    fn answer(self, client: &mut Client) -> Vec<u8> {
        let refused = match client.call(&self.name, &Args::Json(self.arguments)) {
            Ok(reply) => return result(&self.id, self.is_modern, &reply),
            Err(Error::Refused(body)) => body,
            Err(error @ Error::Waits) => error.to_body(),
            Err(error) => {
                let body = error.to_body();
                let message = format!("lored is not reachable: {}", body.message);
                return answers::unreachable(&self.id, &message, body.hint.as_deref());
            }
        };
        refusal(&self.id, self.is_modern, &refused)
    }
}

/// Starts the thread that makes the calls, one at a time, until their sender is gone.
pub(super) fn start<W: Write + Send + 'static>(
    paths: &Paths,
    hello: &Hello,
    output: Arc<Output<W>>,
    events: Sender<Event>,
) -> Sender<MailedCall> {
    let hello = Hello {
        mcp: false,
        ..hello.clone()
    };
    let mut client = Client::new(paths.clone(), hello);
    let (sender, calls): (_, Receiver<MailedCall>) = mpsc::channel();
    thread::spawn(move || {
        for call in calls {
            let bytes = call.bytes;
            let event = match output.message(call.answer(&mut client)) {
                Ok(()) => Event::Mailed { bytes },
                Err(error) => Event::OutputBroken(error),
            };
            if events.send(event).is_err() {
                return;
            }
        }
    });
    sender
}

#[derive(Serialize)]
struct Response {
    jsonrpc: &'static str,
    id: Option<Box<RawValue>>,
    result: ToolResult,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Text; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Box<RawValue>>,
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Text {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

/// Encodes a reply, as the daemon does.
fn result(id: &str, is_modern: bool, reply: &Reply) -> Vec<u8> {
    let text = String::from_utf8_lossy(&reply.json).into_owned();
    let structured = raw(&text).filter(|json| json.get().starts_with('{'));
    let meta = reply.meta.as_deref().map(String::from_utf8_lossy);
    encode(
        id,
        ToolResult {
            result_type: is_modern.then_some("complete"),
            content: [Text { kind: "text", text }],
            structured_content: structured,
            is_error: false,
            meta: meta.and_then(|meta| raw(&meta)),
        },
    )
}

/// Encodes an error that a model can read, as the daemon does.
fn refusal(id: &str, is_modern: bool, body: &ErrorBody) -> Vec<u8> {
    let mut text = format!("{}: {}", body.code, body.message);
    if let Some(hint) = &body.hint {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    encode(
        id,
        ToolResult {
            result_type: is_modern.then_some("complete"),
            content: [Text { kind: "text", text }],
            structured_content: raw(&String::from_utf8_lossy(&body.to_json())),
            is_error: true,
            meta: None,
        },
    )
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.trim().to_owned()).ok()
}

fn encode(id: &str, result: ToolResult) -> Vec<u8> {
    let response = Response {
        jsonrpc: "2.0",
        id: raw(id),
        result,
    };
    serde_json::to_vec(&response).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::Code;

    #[test]
    fn calls_of_tools_alone_are_taken() {
        let read = |line: Value| MailedCall::read("7", line.to_string().as_bytes());
        let call = |meta: Value| {
            read(json!({"id": 7, "method": "tools/call", "params": {
                "name": "status", "arguments": {"a": 1.10}, "_meta": meta}}))
            .unwrap()
        };
        let older = call(json!({}));
        assert_eq!(
            (
                older.name.as_str(),
                older.arguments.as_slice(),
                older.is_modern
            ),
            ("status", br#"{"a":1.1}"#.as_slice(), false)
        );
        let version = json!({"io.modelcontextprotocol/protocolVersion": MCP_VERSION_MODERN});
        assert!(call(version).is_modern);
        let bare = read(json!({"id": 7, "method": "tools/call", "params": {"name": "status"}}));
        assert_eq!(bare.unwrap().arguments, b"{}");
        for other in [
            json!({"id": 7, "method": "tools/list", "params": {}}),
            json!({"id": 7, "method": "tools/list", "params": {"name": "status"}}),
            json!({"id": 7, "method": "tools/call"}),
        ] {
            assert!(read(other.clone()).is_none(), "{other}");
        }
    }

    #[test]
    fn results_are_those_of_a_daemon() {
        let reply = Reply {
            json: br#"{"step":1}"#.to_vec(),
            meta: Some(br#"{"position":7}"#.to_vec()),
        };
        let text = String::from_utf8(result("\"a\"", true, &reply)).unwrap();
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[{"type":"text","text":"{\"step\":1}"}],"structuredContent":{"step":1},"isError":false,"_meta":{"position":7}}}"#
        );
        let list = Reply {
            json: b"[1]".to_vec(),
            meta: None,
        };
        let list: Value = serde_json::from_slice(&result("1", false, &list)).unwrap();
        assert_eq!(list["result"].get("structuredContent"), None);
        let body = ErrorBody::new(Code::NotFound, "no such step").hint("list them");
        let refused: Value = serde_json::from_slice(&refusal("1", false, &body)).unwrap();
        assert_eq!(refused["result"]["isError"], true);
        let text = refused["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, "NOT_FOUND: no such step\nHint: list them");
    }
}
