//! Properties: reading never panics, keys are stable, and what is rendered is what the host accepts.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{PAYLOAD_HOSTS, TRANSCRIPTS, event_of, fixture, payloads};
use crate::transcript::{FileState, read_line, records};
use crate::{EventKind, Host, INJECTED_BYTES_MAX, OWN_MARKS, events, read, render};

fn any_host() -> impl Strategy<Value = Host> {
    proptest::sample::select(Host::ALL.to_vec())
}

/// A payload or a line of the fixtures, with its host and event.
fn any_record() -> impl Strategy<Value = (Host, String, Vec<u8>)> {
    let mut all = Vec::new();
    for host in PAYLOAD_HOSTS {
        for (name, value) in payloads(host) {
            all.push((
                host,
                event_of(host, &name).to_owned(),
                value.to_string().into_bytes(),
            ));
        }
    }
    for (host, name) in TRANSCRIPTS {
        let bytes = std::fs::read(fixture(&format!("transcript-{name}"))).unwrap();
        for record in records(host, &bytes) {
            all.push((host, String::new(), record.to_vec()));
        }
    }
    proptest::sample::select(all)
}

/// Any JSON, with names that the readers look for.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(vec![
            "user",
            "assistant",
            "tool_use",
            "tool_result",
            "text",
            "response_item",
            "event_msg",
            "item_completed",
            "CommandExecution",
            "gemini",
            "session.start",
            "tool.execution_complete",
            "message",
            "PostToolUse",
            "Stop",
            "<lore-memory>",
            "</lore-memory>",
            "*** Begin Patch\n*** Add File: \n+",
            "2026-11-23T09:39:56.349Z",
        ])
        .prop_map(Value::from),
    ];
    let name = proptest::sample::select(vec![
        "type",
        "payload",
        "item",
        "message",
        "content",
        "parts",
        "role",
        "id",
        "timestamp",
        "tool_name",
        "tool_input",
        "tool_response",
        "hook_event_name",
        "session_id",
        "cwd",
        "prompt",
        "toolCalls",
        "result",
        "data",
        "input",
        "output",
        "args",
        "event",
        "properties",
        "todos",
        "questions",
        "answers",
        "edits",
        "path",
        "command",
        "time",
        "tool_calls",
        "functionResponse",
        "response",
        "error",
        "changes",
        "files",
        "agent_id",
        "turn_id",
        "info",
    ]);
    leaf.prop_recursive(5, 48, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((name.clone(), inner), 0..8).prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// Reads bytes in every way.
fn read_all(host: Host, event: &str, bytes: &[u8]) {
    let hook = read(host, event, bytes, &OWN_MARKS);
    let again = read(host, event, bytes, &OWN_MARKS);
    assert_eq!(hook, again);
    for (one, two) in hook.observations.iter().zip(&again.observations) {
        assert!(one.is_same(two));
    }
    let mut state = FileState::new(host);
    for record in records(host, bytes).into_iter().chain([bytes]) {
        let mut other = state.clone();
        let made = read_line(&mut state, record, &OWN_MARKS);
        assert_eq!(made, read_line(&mut other, record, &OWN_MARKS));
    }
}

/// Lists the names of events that a host may be asked to answer.
fn any_event() -> impl Strategy<Value = (Host, String)> {
    let mut all = Vec::new();
    for host in Host::ALL {
        all.extend(events::names(host).map(|(name, _)| (host, name.to_owned())));
        all.push((host, "no such event".to_owned()));
    }
    proptest::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_bytes_never_panics(host in any_host(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all(host, "Stop", &bytes);
    }

    #[test]
    fn reading_json_never_panics(host in any_host(), value in any_json(), event in "[a-zA-Z.]{0,12}") {
        read_all(host, &event, value.to_string().as_bytes());
    }

    /// Payloads and lines of the fixtures, with bytes changed, cut off and doubled, read as any host's.
    #[test]
    fn reading_damaged_records_never_panics(
        (own, event, mut bytes) in any_record(),
        other in any_host(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        end in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        for host in [own, other] {
            read_all(host, &event, &bytes);
        }
    }

    /// Our reader reads what serde_json reads, as serde_json reads it.
    #[test]
    fn json_is_read_as_by_others(value in any_json()) {
        let text = value.to_string();
        let read = crate::json::read(text.as_bytes()).unwrap();
        prop_assert_eq!(read.value, serde_json::from_str::<Value>(&text).unwrap());
        prop_assert_eq!(read.left_out, 0);
    }

    #[test]
    fn what_is_rendered_is_accepted((host, event) in any_event(), text in "(.|\n){0,300}", times in 0_usize..200) {
        let text = text.repeat(times);
        let output = render(host, &event, &text);
        prop_assert_eq!(output.exit_code, 0);
        let kind = EventKind::of(host, &event);
        let carries = host.carries(kind) && !text.trim().is_empty();
        if output.stdout.is_empty() {
            prop_assert!(!carries);
            return Ok(());
        }
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let fields = value.as_object().unwrap();
        let inner = match host {
            Host::ClaudeCode | Host::Codex | Host::GeminiCli | Host::QwenCode | Host::VsCode => {
                prop_assert_eq!(fields.len(), 1);
                let specific = value["hookSpecificOutput"].as_object().unwrap();
                prop_assert_eq!(specific.len(), 2);
                prop_assert_eq!(&specific["hookEventName"], &Value::from(event.as_str()));
                &specific["additionalContext"]
            }
            _ => match fields.values().next_back() {
                None => {
                    prop_assert!(!carries);
                    return Ok(());
                }
                Some(Value::Object(specific)) => &specific["additionalContext"],
                Some(last) => last,
            },
        };
        let injected = inner.as_str().unwrap();
        prop_assert!(carries && injected.len() <= INJECTED_BYTES_MAX);
        // It is found again as ours, as a whole.
        prop_assert!(OWN_MARKS.strip(injected).trim().is_empty());
        prop_assert_eq!(injected.matches(OWN_MARKS.begin).count(), 1);
    }

    #[test]
    fn own_text_is_removed_wherever_it_is(before in "[^<]{0,40}", own in "(.|\n){0,80}", after in "[^<]{0,40}") {
        let text = format!("{before}{}{after}", OWN_MARKS.wrap(&own));
        prop_assert_eq!(OWN_MARKS.strip(&text), format!("{before}{after}"));
    }
}
