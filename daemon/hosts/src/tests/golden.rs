//! Golden tests: what each payload and each transcript of the fixtures says. `UPDATE_GOLDEN=1` writes them again.

use std::fmt::Write as _;
use std::fs;

use super::{PAYLOAD_HOSTS, TRANSCRIPTS, event, fixture, payloads, transcript};
use crate::{HookEvent, Observation, Observed, Outcome, ToolCall, render};

/// Compares a text with a file of the fixtures.
fn compare(name: &str, text: &str) {
    let path = fixture(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let differing = known
        .lines()
        .zip(text.lines())
        .find(|(old, new)| old != new);
    assert!(
        known == text,
        "{name} differs, first at {differing:#?}; read it with UPDATE_GOLDEN=1"
    );
}

#[test]
fn payloads_say_the_same_as_before() {
    for host in PAYLOAD_HOSTS {
        let mut text = String::new();
        for (name, _) in payloads(host) {
            let event = event(host, &name);
            describe_event(&mut text, &name, &event);
        }
        compare(&format!("payloads-{}.golden.txt", host.name()), &text);
    }
}

#[test]
fn transcripts_say_the_same_as_before() {
    for (host, name) in TRANSCRIPTS {
        let mut text = String::new();
        for observation in transcript(host, name) {
            describe(&mut text, &observation);
        }
        let stem = name.split('.').next().unwrap();
        compare(&format!("transcript-{stem}.golden.txt"), &text);
    }
}

fn describe_event(out: &mut String, name: &str, event: &HookEvent) {
    writeln!(out, "== {name}: {:?} of {}", event.kind, event.host.name()).unwrap();
    if let Some(moment) = event.moment {
        let output = render(event.host, &event.name, "TEXT");
        let stdout = String::from_utf8(output.stdout).unwrap();
        writeln!(out, "moment {}: {stdout}", moment.name()).unwrap();
    }
    if let Some(moment) = event.owed {
        writeln!(out, "owed {}", moment.name()).unwrap();
    }
    if !event.unknown_fields.is_empty() {
        writeln!(out, "unknown fields {:?}", event.unknown_fields).unwrap();
    }
    for observation in &event.observations {
        describe(out, observation);
    }
}

fn describe(out: &mut String, observation: &Observation) {
    let source = &observation.source;
    let what = match &observation.what {
        Observed::ToolStarted(call) => format!("ToolStarted {}", of_call(call)),
        Observed::PermissionAsked { call } => format!("PermissionAsked {}", of_call(call)),
        Observed::ToolDone(call, end) => format!("ToolDone {} {}", of_call(call), of_end(end)),
        Observed::ToolFailed(call, end) => format!("ToolFailed {} {}", of_call(call), of_end(end)),
        other => format!("{other:?}"),
    };
    let shortened: String = what.chars().take(900).collect();
    writeln!(out, "{shortened}").unwrap();
    let exact = if observation.key.is_exact() {
        "exact"
    } else {
        "inexact"
    };
    writeln!(out, "    {exact} {}", observation.key.as_str()).unwrap();
    writeln!(out, "    content {}", observation.content_key.as_str()).unwrap();
    let call = observation.call.as_ref().map(crate::Key::as_str);
    let agent = source.agent.as_ref().map(|agent| (&agent.id, &agent.kind));
    writeln!(
        out,
        "    at {:?} turn {:?} agent {agent:?} parent {:?} cwd {:?} call {call:?}",
        source.at_ms, source.turn, source.parent_session, source.cwd
    )
    .unwrap();
}

fn of_call(call: &ToolCall) -> String {
    let mut text = format!("{} {:?} {}", call.tool, call.kind, call.input);
    if let Some(command) = &call.command {
        write!(text, " command={command:?}").unwrap();
    }
    if let Some((server, name)) = &call.server {
        write!(text, " server={server}/{name} own={}", call.is_own).unwrap();
    }
    for edit in &call.edits {
        write!(text, " edit={edit:?}").unwrap();
    }
    for read in &call.reads {
        write!(text, " read={read}").unwrap();
    }
    text
}

fn of_end(end: &Outcome) -> String {
    format!(
        "-> {:?} error={:?} exit={:?} ms={:?} certain={} interrupted={}",
        end.text, end.error, end.exit_status, end.duration_ms, end.is_certain, end.is_interrupted
    )
}
