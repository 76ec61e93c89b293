//! The doors of the daemon, called alike: frames, MCP lines of both eras, and `lore call`.
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

/// What a call gives: the reply and what is said beside it (null without it), or the refusal.
pub type Told = Result<(Value, Value), Value>;

/// One way in.
pub enum Door {
    /// The compact protocol.
    Frames(Box<Connection>),
    /// MCP.
    Lines(Lines),
    /// The client's `lore call`.
    Client {
        /// The program.
        program: PathBuf,
        /// Where its home is.
        home: PathBuf,
    },
}

impl Door {
    /// Every door of a daemon, with a name to tell it by.
    ///
    /// # Panics
    /// When one does not open.
    #[must_use]
    pub fn all(home: &Home, daemon: &Daemon, client: &str) -> Vec<(&'static str, Self)> {
        vec![
            ("frames", Self::Frames(Box::new(daemon.connect("")))),
            ("lines", Self::Lines(Lines::connect(daemon, Era::Older))),
            ("modern", Self::Lines(Lines::connect(daemon, Era::Newest))),
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
    ///
    /// # Panics
    /// When the door answers neither with a reply nor with a refusal.
    pub fn call(&mut self, name: &str, args: &Value) -> Told {
        match self {
            Self::Frames(connection) => by_frames(connection, name, args),
            Self::Lines(lines) => told_by_result(&lines.call(name, args)),
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

fn by_frames(connection: &mut Connection, name: &str, args: &Value) -> Told {
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

/// The reply in the result of an MCP call: what its text says.
fn told_by_result(result: &Value) -> Told {
    if result["isError"] == true {
        return Err(result["structuredContent"].clone());
    }
    let text = result["content"][0]["text"].as_str().expect("a text");
    let reply = serde_json::from_str(text).expect("a reply is JSON");
    Ok((reply, result["_meta"].clone()))
}

/// Revisions of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`.
    Older,
    /// Without it: every request names its version.
    Newest,
}

/// An MCP host at the daemon's socket.
pub struct Lines {
    stream: BufReader<UnixStream>,
    era: Era,
    next_id: u64,
    /// Notifications that came before an answer.
    told: VecDeque<Value>,
}

impl Lines {
    /// Connects, and initializes if the era wants it.
    ///
    /// # Panics
    /// When nobody answers.
    #[must_use]
    pub fn connect(daemon: &Daemon, era: Era) -> Self {
        let stream = UnixStream::connect(daemon.socket()).expect("somebody listens");
        let mut lines = Self {
            stream: BufReader::new(stream),
            era,
            next_id: 0,
            told: VecDeque::new(),
        };
        if era == Era::Older {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            });
            lines.ask("initialize", params);
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

    /// Sends a request and reads its answer: `result` or `error` is in it.
    ///
    /// # Panics
    /// When another answer comes, or none.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request, whose answer is read later or never comes; its id.
    ///
    /// # Panics
    /// When the daemon does not read.
    pub fn send_request(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == Era::Newest {
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

    /// What the next notification of this method says; others are passed over.
    ///
    /// # Panics
    /// When an answer comes instead, or the daemon closes.
    pub fn told(&mut self, method: &str) -> Value {
        let is_it = |message: &Value| message["method"] == method;
        let place = self.told.iter().position(is_it);
        let mut message = match place {
            Some(place) => self.told.drain(..=place).next_back(),
            None => None,
        };
        while message.as_ref().is_none_or(|message| !is_it(message)) {
            let next = self.message();
            assert!(next["id"].is_null(), "{next}");
            message = Some(next);
        }
        message.unwrap_or_default()["params"].take()
    }

    /// The next answer; what is told meanwhile is kept.
    fn answer(&mut self) -> Value {
        loop {
            let message = self.message();
            if !message["id"].is_null() {
                return message;
            }
            self.told.push_back(message);
        }
    }

    fn message(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        assert!(read.expect("the daemon answers") > 0, "the daemon closed");
        serde_json::from_str(&line).expect("a message is JSON")
    }

    /// The result of a tool call.
    ///
    /// # Panics
    /// When the protocol refuses it.
    pub fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let mut answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer.get("error").is_none(), "{name}: {answer}");
        answer["result"].take()
    }
}
