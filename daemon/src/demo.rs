//! `lored demo`: the main use case for new users, with a real daemon in a temporary folder.

mod hooks;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lore::connection::Connection;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use serde_json::{Value, json};

/// Time limit for the daemon's start.
const START_MAX: Duration = Duration::from_secs(10);
const START_PAUSE: Duration = Duration::from_millis(10);
/// Time limit for an answer; a healthy daemon is much faster.
const ANSWER_MAX: Duration = Duration::from_secs(10);

type DemoError = String;

fn text(error: impl std::fmt::Display) -> DemoError {
    error.to_string()
}

/// Runs the demo on standard output.
///
/// # Errors
/// A message about the failed step; the temporary folder is removed in any case.
pub fn run() -> Result<bool, DemoError> {
    let home = DemoHome::make()?;
    lore::outln!("lored stores what your agents learn. This demo runs in a temporary folder.\n");
    let mut daemon = Daemon::start(&home)?;
    lore::outln!("1. A daemon serves on {}", home.socket().display());

    hooks::play(&mut daemon.connect("hooks", None)?, &home.0.join("shop"))?;

    let mut claude = McpAgent::connect(&home, "claude", "claude:first")?;
    let pull_request = json!({
        "id": 4711, "title": "Fix the login loop", "closedDate": "2026-11-20T16:02:11Z",
        "author": {"email": "ada@example.com"},
    });
    let step = claude.record("get_latest_deployment", &pull_request)?;
    lore::outln!(
        "5. Agent `claude`, over MCP, records a tool result as step {step}:\n   {pull_request}"
    );
    let context = json!({
        "goal": "report what changed since the deployment",
        "plan": ["find the deployment", "list the changes", "write the report"],
        "done": 1,
    });
    claude.call("workflow_checkpoint_save", &json!({"context": context}))?;
    lore::outln!("   and saves its context as a checkpoint:\n   {context}");

    let acknowledged = daemon.connect("demo", None)?.welcome().position;
    daemon.kill()?;
    lore::outln!("6. The daemon is killed with SIGKILL in the middle of the work.");
    daemon = Daemon::start(&home)?;
    // There may be more: what the daemon derived by then, such as entities of the result.
    let found = daemon.position;
    if found < acknowledged {
        return Err(format!("{found} events of {acknowledged} are there"));
    }
    lore::outln!("7. A new daemon starts with every event that was acknowledged before the kill.");

    let mut codex = daemon.connect("codex", Some("codex:first"))?;
    take_over(&mut codex, &context)?;
    go_on(&home)?;

    let verified = call(&mut codex, "verify_log", &json!({}))?;
    lore::outln!(
        "10. The log is verified, every event with chain, payload and views: {}\n",
        if verified.get("ok") == Some(&Value::Bool(true)) {
            "intact"
        } else {
            "DAMAGED"
        }
    );
    expect(field(&verified, "ok")?, &Value::Bool(true))?;
    drop(daemon);
    lore::outln!(
        "Install:  cargo install --path daemon && cargo install --path client\n\
         Connect:  lore setup claude-code               (or: codex, cursor, vscode, gemini, opencode)\n\
         By hand:  lore step record my_tool '{{\"id\": 7}}' && lore step resolve ID_FROM_STEP_1"
    );
    Ok(true)
}

/// Another agent takes over, in a host session of its own. No call names a session or a checkpoint.
fn take_over(agent: &mut Connection, context: &Value) -> Result<(), DemoError> {
    let parameters =
        json!({"afterClosedDate": "DATE_FROM_STEP_1", "author": "AUTHOR_EMAIL_FROM_STEP_1"});
    let resolved = call(
        agent,
        "resolve_parameters",
        &json!({"parameters": parameters}),
    )?;
    let parameters = field(&resolved, "parameters")?;
    lore::outln!(
        "8. Agent `codex`, over the compact protocol, was given no id. It uses DATE_FROM_STEP_1 and\n   \
         AUTHOR_EMAIL_FROM_STEP_1 in the parameters of its own call, and gets\n   {parameters}"
    );
    expect(
        parameters,
        &json!({"afterClosedDate": "2026-11-20T16:02:11Z", "author": "ada@example.com"}),
    )?;
    expect(field(&resolved, "chosen_by")?, &json!("project"))?;
    for warning in field(&resolved, "warnings")?
        .as_array()
        .into_iter()
        .flatten()
    {
        lore::outln!("   ({})", warning.as_str().unwrap_or_default());
    }
    let loaded = call(agent, "workflow_checkpoint_load", &json!({}))?;
    expect(field(&loaded, "context")?, context)?;
    let merged = "Merged since: PR 4712 (https://example.com/pr/4712), PR 4713";
    call(
        agent,
        "record_step",
        &json!({"tool": "get_changes", "parameters": parameters, "result": merged}),
    )?;
    lore::outln!(
        "   It loads the checkpoint of `claude`, and records its own result:\n   {merged}"
    );
    let mut changed = context.clone();
    if let Some(done) = changed.get_mut("done") {
        *done = json!(2);
    }
    let saved = call(
        agent,
        "workflow_checkpoint_save",
        &json!({"context": changed}),
    )?;
    lore::outln!(
        "   Then it saves the context with `done` as 2, in a session of its own: {} bytes, {} of them new.",
        field(&saved, "sizeBytes")?,
        field(&saved, "newBytes")?
    );
    Ok(())
}

/// A new conversation of the first agent goes on where the other one stopped.
fn go_on(home: &DemoHome) -> Result<(), DemoError> {
    let mut claude = McpAgent::connect(home, "claude", "claude:second")?;
    let loaded = claude.call("workflow_checkpoint_load", &json!({}))?;
    let context = field(&loaded, "context")?;
    expect(field(context, "done")?, &json!(2))?;
    lore::outln!(
        "9. A new conversation of `claude` goes on from there, without any id:\n   {context}"
    );
    let names = json!(["ALL_IDS_FROM_STEP_1", "URL_FROM_STEP_1", "ID_FROM_STEP_9"]);
    let found = claude.call("resolve_variables", &json!({"names": names}))?;
    print_resolutions(&found)?;
    claude.record(
        "write_report",
        &json!({"text": "Two changes since the deployment."}),
    )?;
    Ok(())
}

fn print_resolutions(reply: &Value) -> Result<(), DemoError> {
    let resolutions = field(reply, "resolutions")?.as_array().cloned();
    for resolution in resolutions.unwrap_or_default() {
        let name = field(&resolution, "name")?
            .as_str()
            .unwrap_or_default()
            .to_owned();
        match resolution.get("message").and_then(Value::as_str) {
            Some(message) => lore::outln!("   {name}: no value ({message})"),
            None => lore::outln!("   {name} = {}", field(&resolution, "value")?),
        }
    }
    Ok(())
}

fn field<'v>(value: &'v Value, name: &str) -> Result<&'v Value, DemoError> {
    value
        .get(name)
        .ok_or_else(|| format!("the reply has no `{name}`: {value}"))
}

fn expect(found: &Value, wanted: &Value) -> Result<(), DemoError> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("expected {wanted}, got {found}"))
    }
}

/// A temporary home for a daemon, removed when dropped.
struct DemoHome(PathBuf);

impl DemoHome {
    fn make() -> Result<Self, DemoError> {
        let name = format!("lored-demo-{}", std::process::id());
        let home = std::env::temp_dir().join(name);
        lore::paths::ensure_folder(&home).map_err(text)?;
        Ok(Self(home))
    }

    fn socket(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            lore::errln!("{} was not removed: {error}", self.0.display());
        }
    }
}

/// A daemon process of this program; killed when dropped.
struct Daemon {
    child: Child,
    socket: PathBuf,
    position: u64,
}

impl Daemon {
    fn start(home: &DemoHome) -> Result<Self, DemoError> {
        let program = std::env::current_exe().map_err(text)?;
        let child = Command::new(program)
            .arg("serve")
            .env("LORE_HOME", &home.0)
            .env("LORE_SOCKET", home.socket())
            .env("RUST_LOG", "error")
            .stdin(Stdio::null())
            .spawn()
            .map_err(text)?;
        let mut daemon = Self {
            child,
            socket: home.socket(),
            position: 0,
        };
        daemon.wait_until_ready()?;
        Ok(daemon)
    }

    fn wait_until_ready(&mut self) -> Result<(), DemoError> {
        let deadline = Instant::now() + START_MAX;
        loop {
            match self.connect("demo", None) {
                Ok(connection) => {
                    self.position = connection.welcome().position;
                    return Ok(());
                }
                Err(_) if Instant::now() < deadline => std::thread::sleep(START_PAUSE),
                Err(error) => return Err(format!("the daemon did not start: {error}")),
            }
            if let Some(status) = self.child.try_wait().map_err(text)? {
                return Err(format!("the daemon ended at once: {status}"));
            }
        }
    }

    fn connect(&self, agent: &str, host_session: Option<&str>) -> Result<Connection, DemoError> {
        let hello = Hello {
            client: format!("demo/{}", env!("CARGO_PKG_VERSION")),
            agent: Some(agent.to_owned()),
            host_session: host_session.map(str::to_owned),
            ..Hello::default()
        };
        Connection::connect(&self.socket, &hello).map_err(text)
    }

    /// Sends SIGKILL, so the daemon has no chance to flush anything.
    fn kill(&mut self) -> Result<(), DemoError> {
        self.child.kill().map_err(text)?;
        self.child.wait().map(drop).map_err(text)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn call(connection: &mut Connection, name: &str, args: &Value) -> Result<Value, DemoError> {
    let reply = connection
        .call(name, &Args::Value(args.clone()))
        .map_err(text)?;
    serde_json::from_slice(&reply.json).map_err(text)
}

/// An agent that speaks MCP as JSON lines, as a host does through `lore mcp`.
struct McpAgent {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    next_id: u64,
    /// Its conversation, which hosts tell in the environment of `lore mcp`.
    host_session: String,
}

impl McpAgent {
    fn connect(home: &DemoHome, name: &str, host_session: &str) -> Result<Self, DemoError> {
        let stream = UnixStream::connect(home.socket()).map_err(text)?;
        stream.set_read_timeout(Some(ANSWER_MAX)).map_err(text)?;
        let lines = BufReader::new(stream.try_clone().map_err(text)?);
        let mut agent = Self {
            stream,
            lines,
            next_id: 0,
            host_session: host_session.to_owned(),
        };
        agent.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": name, "version": "1"},
            }),
        )?;
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(agent)
    }

    fn send(&mut self, message: &Value) -> Result<(), DemoError> {
        writeln!(self.stream, "{message}").map_err(text)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, DemoError> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).map_err(text)? == 0 {
                return Err("the daemon closed the connection".to_owned());
            }
            let answer: Value = serde_json::from_str(&line).map_err(text)?;
            if answer.get("id") == Some(&json!(id)) {
                return field(&answer, "result").cloned();
            }
        }
    }

    fn call(&mut self, name: &str, args: &Value) -> Result<Value, DemoError> {
        let meta = json!({"lore/hostSession": self.host_session});
        let params = json!({"name": name, "arguments": args, "_meta": meta});
        let result = self.request("tools/call", &params)?;
        field(&result, "structuredContent").cloned()
    }

    /// Records a step and returns its number.
    fn record(&mut self, tool: &str, result: &Value) -> Result<u64, DemoError> {
        let reply = self.call("record_step", &json!({"tool": tool, "result": result}))?;
        Ok(field(&reply, "step")?.as_u64().unwrap_or_default())
    }
}
