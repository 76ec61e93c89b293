//! The daemon's transports behind one interface: frames, MCP lines of both eras, and `lore call`.
#![allow(clippy::indexing_slicing)] // of JSON: what is not there is null

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use lore::connection::{Connection, Error};
use lore::protocol::Args;
use serde_json::{Value, json};

use crate::{Daemon, Home};

/// Outcome of a call: the reply and its metadata (null if absent), or the error.
pub type CallResult = Result<(Value, Value), Value>;

/// A transport.
pub enum Transport {
    /// The compact protocol.
    Frames(Box<Connection>),
    /// MCP.
    Lines(McpHost),
    /// The client's `lore call`.
    Client {
        /// The program.
        program: PathBuf,
        /// Its home.
        home: PathBuf,
    },
}

impl Transport {
    /// Opens every transport of a daemon, each with its name.
    pub fn all(home: &Home, daemon: &Daemon, client: &str) -> Vec<(&'static str, Self)> {
        vec![
            ("frames", Self::Frames(Box::new(daemon.connect("")))),
            (
                "lines",
                Self::Lines(McpHost::connect(daemon, McpRevision::Older)),
            ),
            (
                "modern",
                Self::Lines(McpHost::connect(daemon, McpRevision::Newest)),
            ),
            (
                "client",
                Self::Client {
                    program: client.into(),
                    home: home.path().to_owned(),
                },
            ),
        ]
    }

    /// Calls an operation.
    pub fn call(&mut self, name: &str, args: &Value) -> CallResult {
        match self {
            Self::Frames(connection) => by_frames(connection, name, args),
            Self::Lines(lines) => from_result(&lines.call(name, args)),
            Self::Client { program, home } => {
                let output = Command::new(program)
                    .env_clear()
                    .env("LORE_HOME", home)
                    .args(["call", name, &args.to_string()])
                    .output()
                    .expect("the client runs");
                let mut said: Value = serde_json::from_slice(&output.stdout)
                    .unwrap_or_else(|error| panic!("{name}: {error}: {output:?}"));
                if output.status.success() {
                    let meta = said.as_object_mut().and_then(|said| said.remove("_meta"));
                    Ok((said, meta.unwrap_or_default()))
                } else {
                    Err(said["error"].take())
                }
            }
        }
    }
}

fn by_frames(connection: &mut Connection, name: &str, args: &Value) -> CallResult {
    let args = Args::Json(args.to_string().into_bytes());
    let json = |bytes: &[u8]| serde_json::from_slice(bytes).expect("JSON");
    match connection.call(name, &args) {
        Ok(reply) => Ok((
            json(&reply.json),
            reply.meta.map_or(Value::Null, |meta| json(&meta)),
        )),
        Err(Error::Refused(body)) => Err(json(&body.to_json())),
        Err(error) => panic!("{name}: {error}"),
    }
}

/// Parses the reply from the text of an MCP result.
fn from_result(result: &Value) -> CallResult {
    if result["isError"] == true {
        return Err(result["structuredContent"].clone());
    }
    let text = result["content"][0]["text"].as_str().expect("a text");
    let reply = serde_json::from_str(text).expect("a reply is JSON");
    Ok((reply, result["_meta"].clone()))
}

/// Revisions of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpRevision {
    /// With `initialize`.
    Older,
    /// Without `initialize`: every request names its version.
    Newest,
}

/// An MCP host at the daemon's socket.
pub struct McpHost {
    stream: BufReader<UnixStream>,
    era: McpRevision,
    next_id: u64,
    /// Notifications that arrived before an answer.
    reported: VecDeque<Value>,
}

impl McpHost {
    /// Connects, and initializes if the era requires it.
    pub fn connect(daemon: &Daemon, era: McpRevision) -> Self {
        let stream = UnixStream::connect(daemon.socket()).expect("somebody listens");
        let mut lines = Self {
            stream: BufReader::new(stream),
            era,
            next_id: 0,
            reported: VecDeque::new(),
        };
        if era == McpRevision::Older {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            });
            lines.request("initialize", params);
            lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        lines
    }

    fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        sent.expect("the daemon reads");
    }

    /// Sends a request and reads its answer, which contains `result` or `error`.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request without waiting for an answer; returns its id.
    pub fn send_request(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == McpRevision::Newest {
            for (name, value) in [
                ("protocolVersion", json!("2026-07-28")),
                ("clientCapabilities", json!({})),
                ("clientInfo", json!({"name": "tests", "version": "1"})),
            ] {
                params["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
            }
        }
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns the parameters of the next notification with this method; other notifications are skipped.
    pub fn notification(&mut self, method: &str) -> Value {
        let is_it = |message: &Value| message["method"] == method;
        let place = self.reported.iter().position(is_it);
        let mut message = match place {
            Some(place) => self.reported.drain(..=place).next_back(),
            None => None,
        };
        while message.as_ref().is_none_or(|message| !is_it(message)) {
            let next = self.message();
            assert!(next["id"].is_null(), "{next}");
            message = Some(next);
        }
        message.unwrap_or_default()["params"].take()
    }

    /// Reads the next answer; earlier notifications are stored.
    fn answer(&mut self) -> Value {
        loop {
            let message = self.message();
            if !message["id"].is_null() {
                return message;
            }
            self.reported.push_back(message);
        }
    }

    fn message(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        assert!(read.expect("the daemon answers") > 0, "the daemon closed");
        serde_json::from_str(&line).expect("a message is JSON")
    }

    /// Returns the result of a tool call.
    pub fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let mut answer = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer.get("error").is_none(), "{name}: {answer}");
        answer["result"].take()
    }
}
