//! An MCP server whose arguments select its behaviour: correct, slow, hanging or faulty.
//!
//! `mcp-server-for-tests MODE FOLDER [once]`. Each start and each call writes a file into the folder for the tests.
//! With `once` only the first start and the first call follow the mode, later ones are correct.
//! Written from the protocol's specification without the daemon's libraries, so that both are checked against it.
// Indexing a `Value` with a missing key returns null.
#![allow(clippy::indexing_slicing)]

mod http;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// Behaviour of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Correct.
    Good,
    /// Answers a call only when the file `go` is in the folder.
    Slow,
    /// Never answers a call.
    Hang,
    /// Never answers `initialize`.
    HangAtStart,
    /// Ends at once without output.
    DieAtStart,
    /// Ends in the middle of a call.
    Die,
    /// Ends after each answer.
    DieAfter,
    /// Writes non-protocol output, and answers without a request.
    Nonsense,
    /// Answers a call with bytes that are not a message.
    Noise,
    /// Writes malformed answers to calls.
    BrokenAnswer,
    /// Reports that the tool failed.
    ToolError,
    /// Answers with a protocol error.
    ProtocolError,
    /// Answers with a message over the size limit.
    Huge,
    /// Writes a line that never ends.
    Endless,
    /// Leaves a process behind that holds its pipes, and does not end when its input does.
    Clinging,
    /// Uses HTTP, and answers with JSON.
    Http,
    /// Uses HTTP, and answers with events.
    HttpEvents,
}

/// The reaction to a request.
enum Answer {
    Result(Value),
    /// Text written to the output unchanged.
    Raw(String),
    /// No answer at all.
    Silence,
    /// The end of the process.
    End,
}

struct Server {
    mode: Mode,
    is_once: bool,
    folder: PathBuf,
    in_flight: Arc<AtomicUsize>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(mode), Some(folder)) = (arguments.first(), arguments.get(1)) else {
        eprintln!("usage: mcp-server-for-tests MODE FOLDER [once]");
        return ExitCode::from(2);
    };
    let Ok(mut mode) = serde_json::from_value::<Mode>(json!(mode)) else {
        eprintln!("{mode} is not a mode");
        return ExitCode::from(2);
    };
    let folder = PathBuf::from(folder);
    let starts = leave(&folder, "start", &std::process::id().to_string());
    let is_once = arguments.get(2).is_some_and(|last| last == "once");
    if starts > 1 && is_once {
        mode = Mode::Good;
    }
    eprintln!("a server in mode {mode:?}");
    let server = Server {
        mode,
        is_once,
        folder,
        in_flight: Arc::default(),
    };
    match mode {
        Mode::DieAtStart => return ExitCode::from(3),
        Mode::Clinging => server.cling(),
        Mode::Http | Mode::HttpEvents => {
            http::serve(&server);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    server.serve_lines();
    if mode == Mode::Clinging {
        wait_for_ever();
    }
    ExitCode::SUCCESS
}

/// Writes a file with the next number of its kind; returns the number, from 1.
fn leave(folder: &Path, kind: &str, text: &str) -> usize {
    let mut number = 1;
    loop {
        let path = folder.join(format!("{kind}-{number}"));
        let file = std::fs::File::options()
            .write(true)
            .create_new(true)
            .open(path);
        match file {
            Ok(mut file) => {
                file.write_all(text.as_bytes())
                    .expect("the folder takes files");
                return number;
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => panic!("the folder takes no file: {error}"),
        }
    }
}

fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

impl Server {
    /// Starts a process of the same group that holds the pipes and outlives the server; writes its id into the folder.
    #[allow(clippy::zombie_processes)]
    fn cling(&self) {
        let mut clinging = Command::new("sleep");
        let child = clinging.arg("600").stdin(Stdio::null()).spawn();
        let child = child.expect("sleep can be started");
        leave(&self.folder, "clinging", &child.id().to_string());
    }

    fn serve_lines(&self) {
        if self.mode == Mode::Nonsense {
            say(
                "Hello! I am \u{1b}[1mready\u{1b}[0m.\n{\"jsonrpc\":\n[1,2\n{\"id\":{}}\n\u{0}\u{0}\n",
            );
            say("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n{\"jsonrpc\":\"1.0\",\"id\":0}\n");
        }
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            match self.answer(&message) {
                None | Some(Answer::Silence) => {}
                Some(Answer::Result(result)) => {
                    say(&format!("{}\n", respond(&message, &result)));
                    if self.mode == Mode::DieAfter && message["method"] == "tools/call" {
                        return;
                    }
                }
                Some(Answer::Raw(text)) => say(&text),
                Some(Answer::End) => return,
            }
        }
    }

    /// Returns the answer to a message; a notification has none.
    fn answer(&self, message: &Value) -> Option<Answer> {
        message.get("id")?;
        Some(match message["method"].as_str().unwrap_or_default() {
            _ if self.mode == Mode::Nonsense => Answer::Raw("what?\n{}\n[]\nnull\n".to_owned()),
            "initialize" if self.mode == Mode::HangAtStart => Answer::Silence,
            "initialize" => Answer::Result(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mcp-server-for-tests", "version": "1.0"},
            })),
            "tools/call" => self.call(message),
            "ping" => Answer::Result(json!({})),
            other => panic!("nobody was to ask for {other}"),
        })
    }

    fn call(&self, message: &Value) -> Answer {
        let arguments = &message["params"]["arguments"];
        let calls = leave(&self.folder, "call", &message["params"].to_string());
        match self.mode {
            _ if self.is_once && calls > 1 => {}
            Mode::Hang => return Answer::Silence,
            Mode::Noise => return Answer::Raw(format!("{}\n\n{{\n[[[\n", "[".repeat(100_000))),
            Mode::Die => return Answer::End,
            Mode::BrokenAnswer => {
                let id = &message["id"];
                return Answer::Raw(format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":7}}\n{{\"jsonrpc\":\"2.0\",\"id\":{id}}}\n"
                ));
            }
            Mode::ToolError => {
                return Answer::Result(json!({
                    "content": [{"type": "text", "text": "the database\u{202e} is away"}],
                    "isError": true,
                }));
            }
            Mode::ProtocolError => {
                let error = json!({
                    "jsonrpc": "2.0", "id": message["id"],
                    "error": {"code": -32602, "message": "no such tool"},
                });
                return Answer::Raw(format!("{error}\n"));
            }
            Mode::Huge => {
                let text = "h".repeat(6 << 20);
                return Answer::Result(json!({"content": [{"type": "text", "text": text}]}));
            }
            Mode::Endless => {
                let mut output = std::io::stdout().lock();
                while output.write_all(&[b'e'; 65_536]).is_ok() {}
                return Answer::End;
            }
            Mode::Slow => {
                self.answer_later(message.clone());
                return Answer::Silence;
            }
            _ => {}
        }
        let name = arguments["name"].as_str().unwrap_or_default();
        Answer::Result(good(name))
    }
}

impl Server {
    /// Answers when the file `go` exists, and records the number of concurrent calls.
    fn answer_later(&self, message: Value) {
        let together = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        leave(&self.folder, "together", &together.to_string());
        let (go, in_flight) = (self.folder.join("go"), Arc::clone(&self.in_flight));
        std::thread::spawn(move || {
            tests::until("the file `go`", Duration::from_secs(60), || {
                go.exists().then_some(())
            });
            in_flight.fetch_sub(1, Ordering::SeqCst);
            let name = message["params"]["arguments"]["name"].as_str();
            let result = good(name.unwrap_or_default());
            say(&format!("{}\n", respond(&message, &result)));
        });
    }
}

/// Returns the reply of a correct server, which knows every name that does not begin with `no`.
fn good(name: &str) -> Value {
    let object = json!({"id": 42, "name": name.to_uppercase(), "slug": name, "site": {"id": 1}});
    let results = if name.starts_with("no") {
        json!([])
    } else {
        json!([object])
    };
    let structured = json!({"count": results.as_array().map(Vec::len), "results": results});
    json!({
        "content": [{"type": "text", "text": structured.to_string()}],
        "structuredContent": structured,
    })
}

fn respond(message: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    // The client may have disconnected.
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}
