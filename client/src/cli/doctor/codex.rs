//! Asks Codex which hooks it trusts. It skips all others silently, and only its own server says which these are: the hash
//! that it stores covers more than the command.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Beginning of the commands of our hooks.
const OURS: &str = "lore hook ";
/// Bytes of the server's output that are read.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// What Codex says about our hooks.
#[derive(Debug, PartialEq, Eq)]
pub enum Trust {
    /// It was asked.
    Asked {
        /// Hooks that it skips.
        skipped: usize,
        /// All of them.
        all: usize,
    },
    /// It could not be asked, for this reason.
    Unknown(String),
}

/// Asks the installed Codex.
pub fn trust(wait_max: Duration) -> Trust {
    trust_of("codex".as_ref(), wait_max)
}

/// Asks the server of this program.
fn trust_of(program: &OsStr, wait_max: Duration) -> Trust {
    let server = Command::new(program)
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut server = match server {
        Ok(server) => server,
        Err(error) => return Trust::Unknown(format!("`codex app-server`: {error}")),
    };
    let answer = ask(&mut server, wait_max);
    // It ends with its input; one that does not is ended.
    drop(server.stdin.take());
    let _ = server.kill();
    let _ = server.wait();
    match answer {
        Some(answer) => count(&answer),
        None => Trust::Unknown(format!(
            "`codex app-server` gave no answer in {} s",
            wait_max.as_secs()
        )),
    }
}

/// Sends the requests and returns the answer to the last one.
fn ask(server: &mut Child, wait_max: Duration) -> Option<Value> {
    let version = env!("CARGO_PKG_VERSION");
    let client = json!({"name": "lore", "title": "lore", "version": version});
    let requests = [
        json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "hooks/list", "params": {"cwds": []}}),
    ];
    let input = server.stdin.as_mut()?;
    for request in requests {
        writeln!(input, "{request}").ok()?;
    }
    input.flush().ok()?;
    let output = server.stdout.take()?.take(OUTPUT_BYTES_MAX);
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let until = Instant::now() + wait_max;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).ok()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if message.get("id") == Some(&json!(2)) {
            return message.get("result").cloned();
        }
    }
}

fn count(answer: &Value) -> Trust {
    let folders = answer.get("data").and_then(Value::as_array);
    let hooks = folders
        .into_iter()
        .flatten()
        .filter_map(|folder| folder.get("hooks")?.as_array())
        .flatten();
    let ours = hooks.filter(|hook| {
        let command = hook.get("command").and_then(Value::as_str);
        command.is_some_and(|command| command.starts_with(OURS))
    });
    let runs = |hook: &Value| {
        let status = hook.get("trustStatus").and_then(Value::as_str);
        let is_enabled = hook.get("enabled").and_then(Value::as_bool);
        matches!(status, Some("trusted" | "managed")) && is_enabled != Some(false)
    };
    let (mut skipped, mut all) = (0, 0);
    for hook in ours {
        all += 1;
        skipped += usize::from(!runs(hook));
    }
    Trust::Asked { skipped, all }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// As Codex 0.169 answered.
    const ANSWER: &str = r#"{"method":"configWarning","params":{"summary":"x"}}
{"id":1,"result":{"userAgent":"x"}}
{"id":2,"result":{"data":[{"cwd":"/x","hooks":[{"key":"/h/hooks.json:stop:0:0","command":"lore hook codex","enabled":true,"trustStatus":"untrusted"},{"key":"/h/hooks.json:stop:1:0","command":"notify","enabled":true,"trustStatus":"modified"},{"key":"/h/hooks.json:session_end:0:0","command":"lore hook codex","enabled":true,"trustStatus":"trusted"}],"errors":[]}]}}"#;

    fn server(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codex");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        (folder, path)
    }

    #[test]
    fn hooks_that_codex_skips_are_counted() {
        let (_folder, path) = server(&format!("read a; read b; read c; echo '{ANSWER}'; cat"));
        let trust = trust_of(path.as_os_str(), Duration::from_secs(60));
        assert_eq!(trust, Trust::Asked { skipped: 1, all: 2 });
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for() {
        for script in ["exit 1", "echo garbage; exec cat > /dev/null"] {
            let (_folder, path) = server(script);
            let trust = trust_of(path.as_os_str(), Duration::from_millis(300));
            assert!(matches!(trust, Trust::Unknown(_)), "{script}: {trust:?}");
        }
        let none = trust_of("/nonexistent/codex".as_ref(), Duration::from_secs(60));
        assert!(matches!(none, Trust::Unknown(_)));
    }
}
