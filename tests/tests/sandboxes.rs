//! `lore` in the sandbox of an agent's host, which refuses Unix sockets: nothing is started, removed or lost.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use lore::spool::Spool;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use tests::{ColdHome, cold};

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
    let outside = cold.shell(line);
    let variables = outside.get_envs();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "boxed", "--ignored", "--nocapture"])
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .env("PROGRAM", line);
    let (code, out, err) = run(command, input);
    let (_, out) = out.split_once(BEGIN).unwrap();
    (code, out.to_owned(), err)
}

/// Runs a command with a sandbox's variables.
fn run(mut command: Command, input: &str) -> (i32, String, String) {
    let mut child = command
        .envs(MARKS)
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
    let (code, out, err) = run_boxed(&cold, "lore status", "");
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("Operation not permitted"), "{err}");
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
        assert_eq!(code, 3, "{err}");
        assert!((out + &err).contains("does not start one"), "{err}");
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
