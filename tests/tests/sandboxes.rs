//! `lore` in the sandbox of an agent's host, which refuses Unix sockets: commands and hooks go through the mailbox, and
//! nothing is started, removed or lost.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use lore::paths::FileSystem;
use lore::spool::Spool;
use rustix::process::Signal;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use serde_json::{Value, json};
use tests::{ColdHome, Home, cold, until};

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Lines of the test's own before the output of the program.
const BEGIN: &str = "running 1 test\n";

/// Refuses Unix sockets as the sandboxes of Claude Code and Codex do, and becomes the program in `PROGRAM`. Not a test:
/// the others start it.
#[test]
#[ignore = "what the other tests start"]
fn boxed() {
    let Ok(program) = std::env::var("PROGRAM") else {
        return;
    };
    let unix = u64::try_from(libc::AF_UNIX).unwrap();
    let is_unix = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, unix);
    let rule = SeccompRule::new(vec![is_unix.unwrap()]).unwrap();
    let filter = SeccompFilter::new(
        BTreeMap::from([(libc::SYS_socket, vec![rule])]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&filter).unwrap();
    let error = Command::new("/bin/sh").args(["-c", &program]).exec();
    panic!("{error}");
}

/// The variables of a sandbox.
const MARKS: [(&str, &str); 3] = [
    ("CLAUDECODE", "1"),
    ("SANDBOX_RUNTIME", "1"),
    ("LORE_HOOK_TIMEOUT_MS", "5000"),
];

/// Runs a line of shell in the sandbox, with `lore` on the path.
fn run_boxed(cold: &ColdHome, line: &str, input: &str) -> (i32, String, String) {
    Sandbox::Filter.run(cold, None, line, input)
}

/// A kind of sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sandbox {
    /// A filter of system calls refuses Unix sockets.
    Filter,
    /// Namespaces of its own, in which the home is not to be seen: only `/tmp` and the project can be written.
    Namespaces,
}

impl Sandbox {
    /// The kinds that this system permits; says which it does not.
    fn all() -> Vec<Self> {
        let tried = Command::new("bwrap")
            .args(["--unshare-all", "--ro-bind", "/", "/", "true"])
            .output()
            .expect("bwrap runs: Debian's package is bubblewrap");
        if tried.status.success() {
            return vec![Self::Filter, Self::Namespaces];
        }
        // Past the capture of tests: it is not to look as if all had been tried.
        let why = String::from_utf8_lossy(&tried.stderr);
        let said = format!("SKIP  sandboxes by namespaces: this system permits none: {why}");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
        vec![Self::Filter]
    }

    /// Runs a line of shell inside, as a command of a session of Claude Code.
    fn run(
        self,
        cold: &ColdHome,
        session: Option<&str>,
        line: &str,
        input: &str,
    ) -> (i32, String, String) {
        let outside = cold.shell(line);
        let mut command = match self {
            Self::Filter => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", "boxed", "--ignored", "--nocapture"]);
                command
            }
            Self::Namespaces => bwrap(cold, line),
        };
        let variables = outside.get_envs();
        command
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("PROGRAM", line)
            .current_dir(outside.get_current_dir().unwrap());
        if let Some(session) = session {
            command.env("CLAUDE_CODE_SESSION_ID", session);
        }
        let (code, out, err) = run(command, input);
        match self {
            Self::Filter => (code, out.split_once(BEGIN).unwrap().1.to_owned(), err),
            Self::Namespaces => (code, out, err),
        }
    }
}

fn bwrap(cold: &ColdHome, line: &str) -> Command {
    let home = cold.home.path();
    let (bin, work) = (home.join("bin"), home.join("agents"));
    let mut command = Command::new("/usr/bin/env");
    command
        .args(["bwrap", "--unshare-all", "--die-with-parent"])
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--bind", "/tmp", "/tmp", "--tmpfs"])
        .arg(home)
        .arg("--ro-bind")
        .args([&bin, &bin])
        .arg("--bind")
        .args([&work, &work])
        .args(["sh", "-c", line]);
    command
}

/// Runs a hook of Claude Code outside of the sandbox, as the host does.
fn hook_outside(cold: &ColdHome, session: &str, event: &str, more: Value) -> String {
    let payload = payload(cold, session, event, more);
    let (code, out, err) = run(cold.shell("lore hook claude-code"), &payload);
    assert_eq!((code, err.as_str()), (0, ""));
    out
}

fn payload(cold: &ColdHome, session: &str, event: &str, more: Value) -> String {
    let work = cold.home.path().join("agents");
    payload_in(&work, session, event, more)
}

fn payload_in(work: &Path, session: &str, event: &str, more: Value) -> String {
    let mut payload = json!({"hook_event_name": event, "session_id": session, "cwd": work});
    let fields = payload.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    payload.to_string()
}

/// Starts a daemon and two sessions, each of which has been prompted.
fn two_sessions(cold: &ColdHome) {
    cold.pid();
    for session in ["one-4711", "two-4712"] {
        hook_outside(cold, session, "SessionStart", json!({"source": "startup"}));
        let prompt = json!({"prompt": format!("We decided that {session} uses port 8443."), "prompt_id": session});
        hook_outside(cold, session, "UserPromptSubmit", prompt);
    }
}

/// Commands and hooks work inside, each for its own session, and nothing is started or removed.
#[test]
fn commands_and_hooks_go_through_the_mailbox() {
    for sandbox in Sandbox::all() {
        let cold = cold!();
        two_sessions(&cold);
        let pid = cold.pid();
        let run = |session, line: &str| {
            let (code, out, err) = sandbox.run(&cold, Some(session), line, "");
            assert_eq!((code, err.as_str()), (0, ""), "{sandbox:?} {line}: {out}");
            out
        };
        let status = run("one-4711", "lore --json status");
        let status: Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["pid"], pid);
        run("one-4711", "lore step record get_user '{\"id\": 4711}'");
        run("two-4712", "lore step record get_user '{\"id\": 4712}'");
        for id in ["4711", "4712"] {
            let session = if id == "4711" { "one-4711" } else { "two-4712" };
            let value = run(session, "lore step resolve ID_FROM_STEP_1");
            assert!(value.contains(id), "{sandbox:?}: {value}");
            run(
                session,
                &format!("lore message record --sender assistant 'said by {id}'"),
            );
            let listed = run(session, "lore message list");
            assert!(listed.contains(&format!("said by {id}")), "{listed}");
        }
        run("one-4711", "lore log --last 1");

        // The session of the other one, with its name but without its id.
        let reply = run("one-4711", "lore call list_messages '{}'");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let line = format!(
            "lore --session {} message record --sender user 'spoken for another'",
            reply["session"].as_str().unwrap()
        );
        let (code, _, err) = sandbox.run(&cold, Some("two-4712"), &line, "");
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("writes into its own session only"), "{err}");
        let (code, _, err) = sandbox.run(&cold, Some("three"), "lore status", "");
        // A socket that is refused may be a daemon's; one that cannot be seen is not there.
        let expected = match sandbox {
            Sandbox::Filter => 3,
            Sandbox::Namespaces => 75,
        };
        assert_eq!(code, expected, "{err}");
        assert!(!run("one-4711", "lore message list").contains("for another"));

        let resumed = payload(
            &cold,
            "two-4712",
            "SessionStart",
            json!({"source": "resume"}),
        );
        let (code, out, err) =
            sandbox.run(&cold, Some("two-4712"), "lore hook claude-code", &resumed);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(
            out.contains("additionalContext") && out.contains("8443"),
            "{out}"
        );
        assert_eq!(cold.pid(), pid);
    }
}

/// Where no host names a session, commands act for a session of the project's folder.
#[test]
fn a_folder_has_a_mailbox_of_its_own() {
    for sandbox in Sandbox::all() {
        let cold = cold!();
        let pid = cold.pid();
        let run = |line: &str| {
            let (code, out, err) = sandbox.run(&cold, None, line, "");
            assert_eq!((code, err.as_str()), (0, ""), "{sandbox:?} {line}: {out}");
            out
        };
        let status: Value = serde_json::from_str(&run("lore call status '{}'")).unwrap();
        assert_eq!(status["pid"], pid);
        run("lore step record get_user '{\"id\": 4711}'");
        let value = run("mkdir -p .git deep; cd deep; lore step resolve ID_FROM_STEP_1");
        assert!(value.contains("4711"), "{value}");
    }
}

/// While no daemon runs, what is written waits, also in a mailbox that is used for the first time; what is read does not.
#[test]
fn what_is_written_waits_for_the_next_daemon() {
    for sandbox in Sandbox::all() {
        let cold = cold!();
        two_sessions(&cold);
        let pid = cold.pid();
        // Only the first session is written down: it has used its mailbox.
        let (code, _, err) = sandbox.run(&cold, Some("one-4711"), "lore status", "");
        assert_eq!((code, err.as_str()), (0, ""));
        cold.signal(pid, Signal::KILL);
        until("the daemon is gone", LIMIT, || {
            std::os::unix::net::UnixStream::connect(cold.home.socket())
                .is_err()
                .then_some(())
        });
        for session in ["one-4711", "two-4712"] {
            let (code, out, err) = sandbox.run(&cold, Some(session), "lore status", "");
            assert_eq!((code, out.as_str()), (75, ""), "{sandbox:?} {err}");
            assert!(err.contains("does not start one"), "{sandbox:?} {err}");
            let line = format!("lore message record --sender assistant 'waits in {session}'");
            let (code, out, err) = sandbox.run(&cold, Some(session), &line, "");
            assert_eq!((code, out.as_str()), (3, ""), "{sandbox:?} {err}");
            assert!(err.contains("the call waits in the mailbox"), "{err}");
            let prompt = json!({"prompt": format!("asked in {session}"), "prompt_id": format!("later {session}")});
            let prompt = payload(&cold, session, "UserPromptSubmit", prompt);
            let hook = "lore hook claude-code";
            let (code, out, err) = sandbox.run(&cold, Some(session), hook, &prompt);
            assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
        }
        // The host's next hook starts the daemon, and says which session the second one is.
        hook_outside(
            &cold,
            "two-4712",
            "SessionStart",
            json!({"source": "resume"}),
        );
        for session in ["one-4711", "two-4712"] {
            until("what waited", LIMIT, || {
                let mut command = cold.lore(&["message", "list"]);
                command.env("CLAUDE_CODE_SESSION_ID", session);
                let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
                let has = |text: String| out.matches(&text).count() == 1;
                let is_there =
                    has(format!("waits in {session}")) && has(format!("asked in {session}"));
                is_there.then_some(())
            });
        }
    }
}

/// Runs a command with a sandbox's variables.
fn run(mut command: Command, input: &str) -> (i32, String, String) {
    command.envs(MARKS);
    run_unmarked(command, input)
}

fn run_unmarked(mut command: Command, input: &str) -> (i32, String, String) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may not read it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A refused socket is not a missing daemon: the running one stays, and none is started beside it.
#[test]
fn a_refused_socket_is_not_a_missing_daemon() {
    let cold = cold!();
    let pid = cold.pid();
    let (code, out, err) = run_boxed(&cold, "cd / && lore status", "");
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("Operation not permitted"), "{err}");
    assert!(
        err.contains("the system refuses Unix sockets to this process"),
        "{err}"
    );
    assert!(
        err.contains("the sandbox of an agent's host refuses sockets"),
        "{err}"
    );
    assert_eq!(cold.pid(), pid);
    let payload = r#"{"hook_event_name":"Stop","session_id":"s"}"#;
    let (code, out, err) = run_boxed(&cold, "lore hook claude-code", payload);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    assert_eq!(cold.pid(), pid);
}

/// Where no daemon runs, none is started inside, even if sockets are allowed there: it would be lost with the sandbox.
#[test]
fn no_daemon_is_started_inside() {
    let cold = cold!();
    for line in ["lore status", "lore call status '{}'"] {
        let (code, out, err) = run(cold.shell(line), "");
        assert_eq!(code, 75, "{err}");
        let said = out + &err;
        assert!(
            said.contains("the sandbox of Claude Code does not start one"),
            "{said}"
        );
        assert!(said.contains("lore setup claude-code"), "{said}");
    }
    let payload = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"x"}"#;
    let (code, out, err) = run(cold.shell("lore hook claude-code"), payload);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    assert_eq!(
        Spool::in_data(&cold.home.data()).waiting().unwrap().len(),
        1
    );
    assert!(!cold.home.data().join("lored.lock").exists());
}

/// A home in memory, without any name that a person gave it, and without a host's variables.
struct MemoryHome(tempfile::TempDir);

impl MemoryHome {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn command(&self, program: &str) -> Command {
        let run = self.0.path().join("run");
        std::fs::create_dir_all(&run).unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("XDG_RUNTIME_DIR", run)
            .env("LORE_DAEMON", env!("CARGO_BIN_EXE_lored-under-test"))
            .current_dir("/");
        command
    }

    fn lore(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_lore-under-test"));
        command.args(arguments);
        run_unmarked(command, "")
    }
}

/// A data folder in memory is not taken for the user's own: nothing is started, acknowledged or made there. Once a person
/// has put a store there, clients start the daemon.
#[test]
fn no_daemon_is_started_in_memory() {
    let home = MemoryHome::new();
    for arguments in [&["status"][..], &["step", "record", "t", "1"]] {
        let (code, out, err) = home.lore(arguments);
        assert_eq!((code, out.as_str()), (75, ""), "{err}");
        assert!(err.contains("does not start one"), "{err}");
        assert!(err.contains("tmpfs") && err.contains("LORE_HOME"), "{err}");
    }
    let payload = r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"x"}"#;
    let mut hook = home.command(env!("CARGO_BIN_EXE_lore-under-test"));
    hook.args(["hook", "claude-code"])
        .env("LORE_HOOK_TIMEOUT_MS", "5000");
    let (code, out, err) = run_unmarked(hook, payload);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let data = home.0.path().join(".local/share/lore");
    assert!(!data.join("lored.lock").exists() && !data.join("spawn.lock").exists());

    let mut by_hand = home
        .command(env!("CARGO_BIN_EXE_lored-under-test"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("a daemon", LIMIT, || {
        (home.lore(&["status"]).0 == 0).then_some(())
    });
    by_hand.kill().unwrap();
    by_hand.wait().unwrap();
    let (code, out, err) = home.lore(&["--json", "status"]);
    assert_eq!(code, 0, "{err}");
    let status: Value = serde_json::from_str(&out).unwrap();
    let pid = i32::try_from(status["pid"].as_u64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

/// Copilot's sandbox hides the home folder and says so by no variable. A client there starts nothing, even if `LORE_HOME` is
/// set, and reaches the daemon outside through the mailbox if the folder of mailboxes is to be seen.
#[test]
fn copilots_sandbox_hides_the_home() {
    if !Sandbox::all().contains(&Sandbox::Namespaces) {
        return;
    }
    let cold = cold!();
    let boxed = |line: &str| {
        let outside = cold.shell(line);
        let mut command = bwrap(&cold, line);
        let variables = outside.get_envs();
        command
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("HOME", cold.home.path())
            .env("COPILOT_CLI", "1")
            .current_dir(outside.get_current_dir().unwrap());
        run_unmarked(command, "")
    };
    let (code, out, err) = boxed("lore step record t 1");
    assert_eq!((code, out.as_str()), (75, ""), "{err}");
    assert!(err.contains("the sandbox of Copilot CLI"), "{err}");
    assert!(err.contains("sandbox.sandboxMcpServers"), "{err}");
    assert!(!cold.home.data().exists());
    let pid = cold.pid();
    let (code, out, err) = boxed("lore --json status");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status["pid"], pid);
}

/// A user's `LORE_HOME` may be hidden by a sandbox: in memory, it counts only if the folder is there.
#[test]
fn a_named_folder_in_memory_has_to_exist() {
    let home = MemoryHome::new();
    let mut command = home.command(env!("CARGO_BIN_EXE_lore-under-test"));
    command
        .arg("status")
        .env("LORE_HOME", home.0.path().join("hidden"));
    let (code, out, err) = run_unmarked(command, "");
    assert_eq!((code, out.as_str()), (75, ""), "{err}");
    assert!(err.contains("tmpfs"), "{err}");
    assert!(!home.0.path().join("hidden").exists());

    let program = env!("CARGO_BIN_EXE_lored-under-test");
    let cold = cold!().with_home(Home::within(program, Path::new("/dev/shm")));
    let status = cold.json(&["call", "status", "{}"]);
    assert_eq!(status["durable"], false, "{status}");
}

/// What a person stores in memory is served, but no reply calls it durable, and `status` and `doctor` warn of it.
#[test]
fn nothing_in_memory_is_durable() {
    let program = env!("CARGO_BIN_EXE_lored-under-test");
    let home = Home::within(program, Path::new("/dev/shm"));
    let daemon = home.start();
    let hook = payload_in(
        home.path(),
        "s",
        "UserPromptSubmit",
        json!({"prompt": "x", "prompt_id": "p"}),
    );
    for (operation, args) in [
        ("record_step", json!({"tool": "t", "result": 1})),
        (
            "record_hook",
            json!({"host": "claude-code", "payload": hook}),
        ),
        ("commit_cursor", json!({"name": "index", "position": 1})),
        ("list_cursors", json!({})),
        ("read_events", json!({})),
        ("list_sessions", json!({})),
        ("status", json!({})),
    ] {
        let reply = daemon.call(operation, args);
        assert_eq!(reply["durable"], false, "{operation}: {reply}");
    }
    let status = daemon.call("status", json!({}));
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("in memory (tmpfs)"), "{warnings}");
    assert!(warnings.contains("LORE_HOME"), "{warnings}");
    daemon.stop();
    let doctor = home.run(&["doctor"]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("in memory (tmpfs)"), "{said}");

    // On a disk it is as before.
    let on_disk = Home::within(program, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let daemon = on_disk.start();
    let reply = daemon.call("record_step", json!({"tool": "t", "result": 1}));
    let is_on_disk = FileSystem::of(on_disk.path()) != FileSystem::Memory;
    assert_eq!(reply["durable"], is_on_disk, "{reply}");
    daemon.stop();
}

/// A store that was served from outside is not served from a sandbox in which it can be seen, nor from a copy in memory.
#[test]
fn a_store_is_not_served_from_another_place() {
    let refused = |(code, out, err): (i32, String, String)| {
        assert_eq!((code, out.as_str()), (75, ""), "{err}");
        assert!(err.contains("served last outside"), "{err}");
    };
    let machine = "7\nmanager client\npid-namespace 4026531836\nfile-system disk\n";
    let home = MemoryHome::new();
    let data = home.0.path().join(".local/share/lore");
    std::fs::create_dir_all(data.join("store")).unwrap();
    std::fs::write(data.join("store/lore-store"), "").unwrap();
    std::fs::write(data.join("lored.lock"), machine).unwrap();
    refused(home.lore(&["status"]));

    if !Sandbox::all().contains(&Sandbox::Namespaces) {
        return;
    }
    let cold = cold!().on_disk();
    let pid = cold.pid();
    cold.signal(pid, Signal::KILL);
    until("the daemon is gone", LIMIT, || {
        std::os::unix::net::UnixStream::connect(cold.home.socket())
            .is_err()
            .then_some(())
    });
    // These tests may run in a container themselves.
    std::fs::write(cold.home.data().join("lored.lock"), machine).unwrap();
    let mut command = Command::new("bwrap");
    command
        .args(["--unshare-all", "--die-with-parent", "--bind", "/", "/"])
        .args(["--dev", "/dev", "--proc", "/proc"])
        .arg(env!("CARGO_BIN_EXE_lore-under-test"))
        .arg("status")
        .env("LORE_HOME", cold.home.path())
        .env("LORE_DAEMON", env!("CARGO_BIN_EXE_lored-under-test"));
    refused(run_unmarked(command, ""));
}

/// The answers of `lore mcp` to a session of these calls, by their ids.
fn mcp(lines: &[Value]) -> String {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let all = [initialize, initialized];
    let lines = all.iter().chain(lines).map(|line| format!("{line}\n"));
    lines.collect()
}

fn tool(id: u64, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

/// A host may run its MCP servers in its sandbox: their calls go through the mailbox, or fail at once with the reason.
#[test]
fn an_mcp_server_inside_calls_through_the_mailbox() {
    for sandbox in Sandbox::all() {
        let cold = cold!();
        let answers = |lines: &[Value]| {
            let (code, out, err) = sandbox.run(&cold, None, "lore mcp", &mcp(lines));
            assert_eq!(code, 0, "{sandbox:?} {err}");
            let answer = |line: &str| serde_json::from_str::<Value>(line).unwrap();
            let answers: Vec<Value> = out.lines().map(answer).collect();
            assert_eq!(answers[0]["result"]["serverInfo"]["name"], "lore", "{out}");
            answers[1..].to_vec()
        };
        // Nothing serves: what is read fails with the reason and the remedy.
        let failed = answers(&[tool(2, "status", json!({}))]);
        let error = &failed[0]["error"];
        assert!(
            error["message"].to_string().contains("does not start one"),
            "{error}"
        );
        assert!(
            error["data"]["hint"].to_string().contains("lore setup"),
            "{error}"
        );

        let pid = cold.pid();
        let served = answers(&[
            tool(
                2,
                "record_step",
                json!({"tool": "get_user", "result": {"id": 4711}}),
            ),
            tool(3, "record_step", json!({"no_such": 1})),
            json!({"jsonrpc": "2.0", "id": 4, "method": "resources/list", "params": {}}),
        ]);
        let by_id = |id: u64| served.iter().find(|answer| answer["id"] == id).unwrap();
        assert_eq!(by_id(2)["result"]["isError"], false, "{served:?}");
        assert!(
            by_id(2)["result"]["structuredContent"].is_object(),
            "{served:?}"
        );
        assert_eq!(by_id(3)["result"]["isError"], true, "{served:?}");
        assert!(by_id(4)["error"]["message"].is_string(), "{served:?}");
        assert_eq!(cold.pid(), pid);
        let (code, out, err) = sandbox.run(&cold, None, "lore step resolve ID_FROM_STEP_1", "");
        assert_eq!((code, out.contains("4711")), (0, true), "{out} {err}");
    }
}
