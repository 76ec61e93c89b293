//! The files of an export, and what is read from them again.

use std::fmt::Write;

use lore::protocol::facts::{CitedCode, Fact, FactState, FactVersion};
use lore::protocol::names::word;
use lore::protocol::sessions::SessionSummary;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::GENERATOR;
use crate::cli::moving::put;

/// The heading of the other versions of a fact.
const VERSIONS: &str = "## Versions";
/// Characters of a title and of a description.
const TITLE_CHARS: usize = 100;
const DESCRIPTION_CHARS: usize = 200;

/// Returns front matter: each value as JSON, which is YAML, too.
fn front_matter(fields: &[(&str, Value)]) -> String {
    let mut text = String::from("---\n");
    for (name, value) in fields {
        let is_empty = value.is_null()
            || value.as_str().is_some_and(str::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    text + GENERATOR + "---\n\n"
}

/// Returns the fields of front matter and the rest of the file; `None` without front matter.
pub fn split(text: &str) -> Option<(Vec<(String, Value)>, &str)> {
    let rest = text.strip_prefix("---\n")?;
    let (matter, body) = rest.split_once("\n---\n")?;
    let fields = matter.lines().filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        // Another program may have written it without quotation marks.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value.trim()));
        Some((name.to_owned(), value))
    });
    Some((fields.collect(), body.trim_start_matches('\n')))
}

fn one_line(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(chars).collect()
}

/// Returns the file of a session: its messages and steps, in order.
pub fn session(summary: &SessionSummary, lines: &[Value]) -> String {
    let first = lines.iter().find(|line| line["kind"] == "MessageRecorded");
    let first = first.and_then(|line| line.pointer("/payload/content")?.as_str());
    let title = summary
        .title
        .as_deref()
        .or(summary.topic.as_deref())
        .or(first);
    let title = one_line(title.unwrap_or(summary.session.as_str()), TITLE_CHARS);
    let matter = front_matter(&[
        ("type", json!("Session")),
        ("title", json!(title)),
        (
            "description",
            json!(first.map(|text| one_line(text, DESCRIPTION_CHARS))),
        ),
        (
            "resource",
            json!(format!("lore://session/{}", summary.session)),
        ),
        ("tags", json!(summary.tags)),
        ("timestamp", json!(summary.created_at)),
        ("session", json!(summary.session)),
        ("project", json!(summary.project)),
        ("agents", json!(summary.agents)),
    ]);
    let mut text = format!("{matter}# {title}\n");
    for line in lines {
        match line["kind"].as_str() {
            Some("MessageRecorded") => message(&mut text, line),
            Some("StepRecorded") => step(&mut text, line),
            _ => {}
        }
    }
    // Without a count: events that the daemon derives would change the page.
    let _ = write!(
        text,
        "\n## More\n\nAll events: `lore session export {}`\n",
        summary.session
    );
    text
}

/// Writes the heading of an event: time, what it is, and by whom.
fn heading(text: &mut String, line: &Value, what: &str) {
    let at = line["at"].as_str().unwrap_or_default();
    let _ = write!(text, "\n## {at} {what}");
    if let Some(agent) = line["agent"].as_str() {
        let _ = write!(text, " in {agent}");
    }
    text.push_str("\n\n");
}

fn message(text: &mut String, line: &Value) {
    let payload = &line["payload"];
    let field = |name: &str| payload[name].as_str().unwrap_or_default();
    let mut what = format!("{} {} {}", field("sender"), field("type"), field("message"));
    if let Some(kind) = payload["remembered"].as_str() {
        let _ = write!(what, " remembered as {kind}");
    }
    heading(text, line, &what);
    text.push_str(&escaped(field("content")));
    text.push('\n');
}

fn step(text: &mut String, line: &Value) {
    let payload = &line["payload"];
    let state = if payload["success"] == true {
        "succeeded"
    } else {
        "failed"
    };
    let what = format!("step {}.{} {state}", payload["step"], payload["attempt"]);
    heading(text, line, &what);
    let _ = writeln!(
        text,
        "{}",
        escaped(&one_line(payload["tool"].as_str().unwrap_or_default(), 256))
    );
    for name in ["purpose", "parameters", "result", "error"] {
        let value = match &payload[name] {
            Value::Null => continue,
            Value::String(value) => value.clone(),
            other => other.to_string(),
        };
        let value = escaped(&value);
        let fence = fence(&value);
        let _ = write!(text, "\n{fence}{name}\n{value}\n{fence}\n");
    }
}

/// Returns a fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().chars().take_while(|c| *c == '`').count());
    "`".repeat(longest.max().unwrap_or_default().max(2) + 1)
}

/// Returns a text in which no line looks like a heading of an event.
fn escaped(text: &str) -> String {
    let lines =
        text.split('\n').map(
            |line| match line.trim_start_matches('\\').starts_with("## ") {
                true => format!("\\{line}"),
                false => line.to_owned(),
            },
        );
    lines.collect::<Vec<_>>().join("\n")
}

fn unescaped(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.strip_prefix('\\') {
        Some(rest) if rest.trim_start_matches('\\').starts_with("## ") => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads the events of a session's file as lines of the session format.
pub fn events(body: &str) -> Vec<Value> {
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in body.split('\n') {
        match (line.strip_prefix("## "), parts.last_mut()) {
            (Some(heading), _) => parts.push((heading, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    parts
        .iter()
        .filter_map(|(heading, lines)| event(heading, lines))
        .collect()
}

fn event(heading: &str, lines: &[&str]) -> Option<Value> {
    let (heading, agent) = match heading.split_once(" in ") {
        Some((heading, agent)) => (heading, Some(agent)),
        None => (heading, None),
    };
    let (at, what) = heading.split_once(' ')?;
    let text = lines.join("\n");
    // What is said stands between one empty line and another.
    let text = text.strip_prefix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let words: Vec<&str> = what.split(' ').collect();
    let (kind, payload) = match words.as_slice() {
        ["step", number, state] => ("StepRecorded", read_step(number, state, text)?),
        [sender, of, id, more @ ..] => {
            let mut payload = json!({
                "message": id, "sender": sender, "type": of, "content": unescaped(text),
            });
            if let ["remembered", "as", kind] = more {
                put(&mut payload, "remembered", json!(kind));
            }
            ("MessageRecorded", payload)
        }
        _ => return None,
    };
    let mut event = json!({"at": at, "kind": kind, "payload": payload});
    if let Some(agent) = agent {
        put(&mut event, "agent", json!(agent));
    }
    Some(event)
}

fn read_step(number: &str, state: &str, text: &str) -> Option<Value> {
    let (step, attempt) = number.split_once('.')?;
    let mut lines = text.split('\n');
    let mut payload = json!({
        "step": step.parse::<u64>().ok()?,
        "attempt": attempt.parse::<u64>().ok()?,
        "success": state == "succeeded",
        "tool": unescaped(lines.next()?),
    });
    let mut open: Option<(String, &str, Vec<&str>)> = None;
    for line in lines {
        match &mut open {
            None => {
                let name = line.trim_start_matches('`');
                let fence = line.get(..line.len() - name.len()).unwrap_or_default();
                if fence.len() >= 3 && !name.is_empty() {
                    open = Some((fence.to_owned(), name, Vec::new()));
                }
            }
            Some((fence, name, value)) if line == fence => {
                let value = unescaped(&value.join("\n"));
                let value = match *name {
                    "parameters" => serde_json::from_str(&value).ok()?,
                    _ => Value::from(value),
                };
                put(&mut payload, name, value);
                open = None;
            }
            Some((_, _, value)) => value.push(line),
        }
    }
    Some(payload)
}

/// Returns the name of a fact's file: its message, and what it says, because a message may state several.
pub fn fact_name(fact: &Fact) -> String {
    let hash = Sha256::digest(fact.text.as_bytes());
    let hash: String = hash
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}-{hash}", fact.message)
}

/// Returns the file of a fact.
pub fn fact(fact: &Fact, project: &str) -> String {
    let cited = fact.cited_code.map(|cited| match cited {
        CitedCode::Fresh => "fresh",
        CitedCode::Changed => "changed",
        CitedCode::Gone => "gone",
    });
    let mut kind = fact.kind.clone();
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let matter = front_matter(&[
        ("type", json!(kind)),
        ("title", json!(one_line(&fact.text, TITLE_CHARS))),
        (
            "resource",
            json!(format!("lore://message/{}", fact.message)),
        ),
        ("tags", json!([fact.kind])),
        ("timestamp", json!(fact.at)),
        ("message", json!(fact.message)),
        ("session", json!(fact.session)),
        ("project", json!(project)),
        ("agent", json!(fact.agent)),
        ("by", json!(if fact.by_user { "user" } else { "agent" })),
        ("state", json!(word(fact.state))),
        ("cited_code", json!(cited)),
    ]);
    let mut text = format!("{matter}{}\n", escaped(&fact.text));
    let others = [
        ("Replaces", &fact.replaces),
        ("Disputed by", &fact.disputed_with),
    ];
    if others.iter().any(|(_, others)| !others.is_empty()) {
        let _ = writeln!(text, "\n{VERSIONS}\n");
    }
    for (what, others) in others {
        for other in others {
            let _ = writeln!(text, "- {what} {}", version(other));
        }
    }
    text
}

/// Reads what a fact says from the body of its file.
pub fn said(body: &str) -> String {
    let lines = body.lines().take_while(|line| !line.starts_with("## "));
    let text = lines.collect::<Vec<_>>().join("\n");
    unescaped(text.trim())
}

fn version(other: &FactVersion) -> String {
    let by = match other.by_user {
        true => "the user",
        false => other.agent.as_deref().unwrap_or("an agent"),
    };
    let day = other.at.get(..10).unwrap_or_default();
    format!(
        "\"{}\" ({by}, {day})",
        one_line(&other.text, DESCRIPTION_CHARS)
    )
}

/// Returns the list of all files.
pub fn index(sessions: &[SessionSummary], facts: &[(String, Fact)]) -> String {
    let mut text = format!("---\nokf_version: \"0.1\"\n{GENERATOR}---\n\n# lore\n\n## Facts\n\n");
    for (name, fact) in facts {
        if matches!(fact.state, FactState::Current | FactState::Disputed) {
            let _ = writeln!(text, "- [{}](facts/{name}.md)", link(&fact.text));
        }
    }
    text.push_str("\n## Sessions\n\n");
    for session in sessions {
        let title = session
            .title
            .as_deref()
            .or(session.first_message.as_deref());
        let title = link(title.unwrap_or(session.session.as_str()));
        let day = session.created_at.get(..10).unwrap_or_default();
        let _ = writeln!(text, "- [{day} {title}](sessions/{}.md)", session.session);
    }
    text
}

/// Returns a text that stands in a link.
fn link(text: &str) -> String {
    one_line(text, TITLE_CHARS).replace(['[', ']'], "")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn summary() -> SessionSummary {
        serde_json::from_value(json!({
            "session": "s-1", "state": "active", "title": "Fix: the \"login\"", "created_at": "2026-11-20T10:00:00Z",
            "last_activity": "2026-11-20T11:00:00Z", "steps": 1, "agents": ["codex"], "tags": [],
        }))
        .unwrap()
    }

    fn lines() -> Vec<Value> {
        vec![
            json!({"format": "lore-session", "version": 1, "session": "s-1"}),
            json!({"n": 1, "at": "2026-11-20T10:00:00.000000Z", "kind": "SessionCreated", "payload": {"title": "Fix"}}),
            json!({"n": 2, "at": "2026-11-20T10:00:01.000000Z", "agent": "codex", "kind": "MessageRecorded", "payload": {
                "message": "m-1", "sender": "user", "type": "query",
                "content": "## Why\n\nis this\n\\## so?\n```\n## 2026 user query m-9 in x\n```"}}),
            json!({"n": 3, "at": "2026-11-20T10:00:02.000000Z", "agent": "codex", "kind": "StepRecorded", "payload": {
                "step": 1, "attempt": 2, "success": false, "tool": "Bash", "parameters": {"command": "make"},
                "result": "one\n```\ntwo\n````\n", "error": "exit status 1"}}),
            json!({"n": 4, "at": "2026-11-20T10:00:03.000000Z", "agent": "codex", "kind": "MessageRecorded", "payload": {
                "message": "m-2", "sender": "assistant", "type": "response", "content": "Prices are cents.",
                "remembered": "decision"}}),
            json!({"end": {"events": 4}}),
        ]
    }

    #[test]
    fn a_session_is_read_as_it_was_written() {
        let text = session(&summary(), &lines());
        let (fields, body) = split(&text).unwrap();
        let field = |name: &str| {
            fields
                .iter()
                .find(|(one, _)| one == name)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(
            (field("type"), field("title")),
            (json!("Session"), json!("Fix: the \"login\""))
        );
        let read = events(body);
        let written: Vec<Value> = lines()
            .into_iter()
            .filter(|line| {
                matches!(
                    line["kind"].as_str(),
                    Some("MessageRecorded" | "StepRecorded")
                )
            })
            .map(|mut line| {
                line.as_object_mut().unwrap().remove("n");
                line
            })
            .collect();
        assert_eq!(read, written);
    }

    #[test]
    fn front_matter_of_others_is_read() {
        let (fields, body) = split("---\ntype: Note\ntitle: \"x\"\n---\n\nText\n").unwrap();
        assert_eq!(
            fields,
            [
                ("type".to_owned(), json!("Note")),
                ("title".to_owned(), json!("x"))
            ]
        );
        assert_eq!(body, "Text\n");
        assert_eq!(split("Text"), None);
        assert_eq!(split("---\nno end"), None);
        assert_eq!(
            events("no heading\n## short\n## 2026 x\ntext"),
            Vec::<Value>::new()
        );
    }

    fn a_fact(text: &str) -> Fact {
        serde_json::from_value(json!({
            "position": 7, "message": "m-1", "text": text, "kind": "fact", "by_user": false, "remembered": true,
            "at": "2026-11-20T10:00:00Z", "state": "current",
            "replaces": [{"position": 3, "message": "m-0", "text": "Before.", "by_user": true, "at": "2026-11-19T10:00:00Z"}],
        }))
        .unwrap()
    }

    #[test]
    fn a_fact_is_read_as_it_was_written() {
        for text in [
            "Prices are cents.",
            "One paragraph.\n\nAnother.\n## A heading",
            "\\## so",
        ] {
            let page = fact(&a_fact(text), "shop");
            assert!(
                page.contains("- Replaces \"Before.\" (the user, 2026-11-19)"),
                "{page}"
            );
            let (_, body) = split(&page).unwrap();
            assert_eq!(said(body), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_as_it_was_written(
            content in "(\\\\?#{1,3} )?[a-z`#\\\\ \n]{0,40}",
            result in "[a-z`#\\\\ \n]{0,40}(\n## [a-z` \n]{0,20})?",
        ) {
            let mut lines = lines();
            let line = lines.get_mut(2).unwrap();
            line["payload"]["content"] = json!(content);
            let line = lines.get_mut(3).unwrap();
            line["payload"]["result"] = json!(result);
            let text = session(&summary(), &lines);
            let (_, body) = split(&text).unwrap();
            let read = events(body);
            let said = read.first().and_then(|event| event["payload"]["content"].as_str());
            proptest::prop_assert_eq!(said, Some(content.as_str()));
            let returned = read.get(1).and_then(|event| event["payload"]["result"].as_str());
            proptest::prop_assert_eq!(returned, Some(result.as_str()));
        }
    }
}
