//! Output of commands, for people and with `--json`: `commands.txt` is run against a real daemon.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, until};

use crate::assert_snapshot;
use crate::programs::Programs;
use crate::redact::{Redactor, without_numbers};

const SCRIPT: &str = include_str!("commands.txt");

/// Time limit for the background jobs that follow the log, on a loaded machine.
const QUIET_MAX: Duration = Duration::from_secs(60);

/// Waits until all background jobs have reached the end of the log, so that positions are equal in every run.
fn settle(daemon: &Daemon) {
    until("followers at the end of the log", QUIET_MAX, || {
        // A daemon that a line of the script stopped has no background jobs.
        let Ok(status) = daemon.try_call("status", json!({})) else {
            return Some(());
        };
        let followers = status["followers"].as_array().unwrap();
        let is_there = |follower: &Value| follower["lag"] == 0;
        followers.iter().all(is_there).then_some(())
    });
}

/// Formats a command's output; a long JSON object field by field, so that a change is a diff of one line.
fn broken_into_lines(printed: Vec<u8>) -> String {
    let printed = String::from_utf8(printed).unwrap();
    let is_short = printed.len() <= 120;
    match serde_json::from_str::<Value>(&printed) {
        Ok(object @ Value::Object(_)) if !is_short => format!("{object:#}\n"),
        _ => printed,
    }
}

/// Runs the script and returns its output.
fn play(is_json: bool) -> String {
    let programs = Programs::new();
    let home = programs.cold.home.path();
    let work = home.join("agents");
    std::fs::create_dir(&work).unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_lore-under-test"))
        .parent()
        .unwrap();
    let mut redactor = Redactor::default();
    for (text, name) in [
        (home.to_str().unwrap(), "<home>"),
        (built.to_str().unwrap(), "<programs>"),
        (env!("CARGO_PKG_VERSION"), "<version>"),
    ] {
        redactor.texts.push((text.to_owned(), name.to_owned()));
    }
    let daemon = programs.cold.home.start();
    let mut environment: Vec<(String, String)> = Vec::new();
    let mut printed = String::new();
    for line in SCRIPT.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('#') {
            if line.starts_with("##") {
                printed += &format!("\n{line}\n\n");
            }
            continue;
        }
        if let Some(("export", assignment)) = line.split_once(' ') {
            let (name, value) = assignment.split_once('=').unwrap();
            environment.push((name.to_owned(), value.to_owned()));
            continue;
        }
        let line = match line.strip_prefix("people: ") {
            Some(_) if is_json => continue,
            Some(line) => line,
            None => line,
        };
        let (has_numbers, line) = match line.strip_prefix("~ ") {
            Some(line) => (false, line),
            None => (true, line),
        };
        let line = match is_json {
            true => line.replace("lore ", "lore --json "),
            false => line.to_owned(),
        };
        let typed = redactor.fill_in(&line);
        assert!(
            !typed.contains('<') || !typed.contains("-1>"),
            "no such id: {typed}"
        );
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {typed}\n}} 2>&1")])
            .env_clear()
            .env("LORE_HOME", home)
            .env("LORE_DAEMON", programs.folder().join("lored"))
            .env("LORE_AGENT", "claude")
            .env("HOME", &work)
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", programs.folder().display()),
            )
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = redactor.redact(&broken_into_lines(output.stdout));
        let text = if has_numbers {
            text
        } else {
            without_numbers(&text)
        };
        printed += &format!("$ {}\n{text}", redactor.redact(&line));
        if !text.is_empty() && !text.ends_with('\n') {
            printed.push('\n');
        }
        let code = output.status.code().unwrap();
        if code != 0 {
            printed += &format!("[exit code {code}]\n");
        }
        settle(&daemon);
    }
    printed
}

#[test]
fn output_for_people() {
    assert_snapshot("commands", &play(false));
}

#[test]
fn output_for_programs() {
    assert_snapshot("commands_json", &play(true));
}
