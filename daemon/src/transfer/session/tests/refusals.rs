//! Invalid exports: each is refused with its line, the fault and the expected form.

use serde_json::{Value, json};

use super::super::read;
use super::story::{StoryStep, StoryTeller};
use crate::error::Code;

fn good() -> String {
    let said = |text: &str| StoryStep::MessageMeta {
        sender: 0,
        text: text.to_owned(),
        mentions: vec![(0, 1)],
        tools: 0,
    };
    let returned = StoryStep::Returned {
        step: 1,
        success: true,
        text: "x".to_owned(),
    };
    let saved = StoryStep::Saved {
        values: vec![Some(1)],
        is_named: false,
        is_fork: false,
    };
    let story = [said("a"), returned.clone(), saved, said("b"), returned];
    StoryTeller::from_steps('a', &story).text("s-1", None)
}

/// Returns the message of a text's refusal, after checking its code and details.
fn refusal(text: &str) -> String {
    let refusal = read(text).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidInput);
    let details = refusal.details.unwrap();
    let first = details["faults"][0]["message"].as_str().unwrap();
    assert!(refusal.message.ends_with(first), "{details}");
    assert!(
        refusal
            .hint
            .unwrap()
            .plain()
            .starts_with("Nothing was imported.")
    );
    refusal.message
}

/// Replaces line `number` (from 1) of a valid text.
fn with_line(number: usize, change: impl Fn(&str) -> String) -> String {
    let text = good();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[number - 1] = change(&lines[number - 1]);
    lines.join("\n")
}

fn with_payload(number: usize, change: impl Fn(&mut Value)) -> String {
    with_line(number, |line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        change(&mut line["payload"]);
        line.to_string()
    })
}

/// The valid text is accepted, also with other line ends and a byte order mark.
#[test]
fn line_ends_do_not_matter() {
    let text = good();
    assert_eq!(text.lines().count(), 8);
    for text in [
        text.clone(),
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
    ] {
        assert_eq!(read(&text).unwrap().events.len(), 6);
    }
}

/// A wrong first line is refused with its actual content.
#[test]
fn other_texts_are_no_exports() {
    let header = |header: Value| with_line(1, |_| header.to_string());
    for (text, wanted) in [
        (String::new(), "line 1: it is empty"),
        (
            "hello".to_owned(),
            "line 1: expected value at column 1; it begins \"hello\"",
        ),
        ("[1,2]".to_owned(), "line 1: invalid type: sequence"),
        (r#"{"messages":[]}"#.to_owned(), "line 1: `format`"),
        (
            header(json!({"format": "chat", "version": 1})),
            "`format` is \"\\\"chat\\\"\"",
        ),
        (
            header(json!({"format": "lore-session"})),
            "`version` is missing; expected 1",
        ),
        (
            header(json!({"format": "lore-session", "version": 2, "session": "s", "new": 1})),
            "`version` is \"2\"; only 1 can be read",
        ),
        (
            header(json!({"format": "lore-session", "version": 1})),
            "missing field `session`",
        ),
        (
            header(json!({"format": "lore-session", "version": 1, "session": "a b"})),
            "`session` is not an id",
        ),
        (
            header(json!({"format": "lore-session", "version": 1, "session": "s", "extra": 1})),
            "unknown field `extra`",
        ),
        (
            r#"{"format":"lore-session","version":1,"session":"s-1"}"#.to_owned(),
            "line 1: nothing follows it: the text was truncated",
        ),
    ] {
        let reported = refusal(&text);
        assert!(reported.contains(wanted), "{reported}\nlacks\n{wanted}");
    }
}

/// Broken, truncated or missing lines are named by number.
#[test]
fn broken_texts_are_told_by_their_line() {
    let reported = refusal(&with_line(7, |line| line.replace(':', ";")));
    assert!(
        reported.starts_with("line 7: expected `:` at column 5"),
        "{reported}"
    );
    let text = good();
    let cut = refusal(&text[..text.len() - 5]);
    assert!(
        cut.starts_with("line 8: the last line is {\"end\":{\"events\":6}}: it ends in"),
        "{cut}"
    );
    let lines: Vec<&str> = text.lines().collect();
    let at_a_line = refusal(&lines[..7].join("\n"));
    assert!(
        at_a_line.starts_with("line 7: the last line is {\"end\":{\"events\":5}}"),
        "{at_a_line}"
    );
    let missing = refusal(&[&lines[..4], &lines[5..]].concat().join("\n"));
    assert!(
        missing.starts_with("line 5: `n` is 5 where 4 comes next"),
        "{missing}"
    );
    let blank = refusal(&[&lines[..4], &[""], &lines[4..]].concat().join("\n"));
    assert!(blank.starts_with("line 5: it is empty"), "{blank}");
    let twice = refusal(&(text.clone() + &text));
    assert!(twice.starts_with("line 8: unknown field `end`"), "{twice}");
}

/// With many errors, the first ones and their total number are reported.
#[test]
fn many_faults_are_counted() {
    let lines = ["x"; 50].join("\n");
    let text = with_line(3, |_| lines.clone());
    let refusal = read(&text).unwrap_err();
    let details = refusal.details.unwrap();
    assert_eq!(details["faults"].as_array().unwrap().len(), 20);
    // 50 lines that are not JSON, four later lines with wrong numbers, and the last line.
    assert_eq!(details["count"], 55);
    assert!(
        refusal
            .hint
            .unwrap()
            .plain()
            .contains("54 more lines are broken")
    );
}

/// Event contents are validated as if they were recorded now.
#[test]
fn payloads_are_checked() {
    let line = |number: usize, change: fn(&mut Value)| {
        with_line(number, |line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            change(&mut line);
            line.to_string()
        })
    };
    let not_an_id = "a".repeat(200);
    for (text, wanted) in [
        (
            line(3, |line| line["kind"] = json!("MessageRecored")),
            "line 3: unknown kind \"MessageRecored\" in this version; near to it: MessageRecorded",
        ),
        (
            line(3, |line| line["at"] = json!("yesterday")),
            "line 3: `at` is not a valid time: \"yesterday\"",
        ),
        (
            line(3, |line| line["agent"] = json!("a\u{1}")),
            "line 3: an agent's name has at most",
        ),
        (
            line(3, |line| line["uid"] = json!(0)),
            "line 3: unknown field `uid`",
        ),
        (
            line(3, |line| line["payload"] = Value::Null),
            "line 3: `payload` is null: what was forgotten",
        ),
        (
            line(3, |line| line["kind"] = json!("PackMade")),
            "line 3: unknown kind \"PackMade\"",
        ),
        (
            line(2, |line| line["kind"] = json!("SessionClosed")),
            "line 2: `payload` of a SessionClosed: unknown field `title`",
        ),
        (
            line(
                2,
                |line| *line = json!({"n": 1, "at": "2026-01-31T12:00:00Z", "kind": "SessionClosed", "payload": {}}),
            ),
            "line 2: the first event is SessionCreated, not SessionClosed",
        ),
        (
            line(3, |line| {
                line["kind"] = json!("SessionCreated");
                line["payload"] = json!({});
            }),
            "line 3: a session begins once",
        ),
        (
            with_payload(2, |payload| payload["title"] = json!("x".repeat(2000))),
            "line 2: `title` has at most 1024 bytes",
        ),
        (
            with_payload(2, |payload| payload["tags"] = json!(vec!["t"; 65])),
            "line 2: a session has at most 64 tags; 65 were given",
        ),
        (
            with_payload(2, |payload| payload["preferences"] = json!([1])),
            "line 2: `payload` of a SessionCreated: a list is not an object",
        ),
        (
            with_payload(2, |payload| {
                payload["preferences"] = json!({"a": "x".repeat(20_000)})
            }),
            "line 2: `preferences` have 20008 bytes",
        ),
        (
            with_payload(3, |payload| payload["message"] = json!("a b")),
            "line 3: `message` is \"a b\": an id has the character ' '",
        ),
        (
            with_payload(3, |payload| payload["message"] = json!(not_an_id)),
            "an id has 200 characters",
        ),
        (
            with_payload(6, |payload| payload["message"] = json!("m-a1")),
            "line 6: the message `m-a1` is on an earlier line",
        ),
        (
            with_payload(3, |payload| payload["sender"] = json!("robot")),
            "unknown variant `robot`",
        ),
        (
            with_payload(3, |payload| payload["tokens"] = json!(-1)),
            "`payload` of a MessageRecorded: invalid value",
        ),
        (
            with_payload(3, |payload| payload["quoted"] = json!([[0, 2]])),
            "line 3: `quoted` has (0, 2); `content` has 1 bytes",
        ),
        (
            with_payload(3, |payload| payload["rules"] = json!("0x")),
            "line 3: `rules` is \"0x\"",
        ),
        (
            with_payload(3, |payload| payload["mentions"][0]["kind"] = json!("No")),
            "line 3: `kind` is \"No\"; it has 1 to 64 lower-case letters",
        ),
        (
            with_payload(3, |payload| {
                payload["mentions"][0]["key"] = json!("a\u{0}b")
            }),
            "line 3: `key` is \"a\\0b\"; it has 1 to 1024 bytes and no control characters",
        ),
        (
            with_payload(3, |payload| {
                payload["tools"] = json!(vec![json!({"name": "x"}); 101])
            }),
            "line 3: `tools` has 101 items",
        ),
        (
            with_payload(4, |payload| payload["step"] = json!(0)),
            "line 4: `step` is 0; step numbers go from 1 to 1000000",
        ),
        (
            with_payload(4, |payload| payload["tool"] = json!(" ")),
            "line 4: `tool` is the name of a tool",
        ),
        (
            with_payload(4, |payload| {
                payload.as_object_mut().unwrap().shift_remove("result");
            }),
            "line 4: a step has a `result`",
        ),
        (
            with_payload(7, |payload| payload["attempt"] = json!(u32::MAX)),
            "line 7: `attempt` of step 1 is 4294967295 where 2 comes next, or a greater one up to 1000000000",
        ),
        (
            with_payload(7, |payload| payload["attempt"] = json!(1)),
            "line 7: `attempt` of step 1 is 1 where 2 comes next",
        ),
        (
            with_payload(5, |payload| payload["checkpoint"] = json!("c-1")),
            "line 5: `checkpoint` is \"c-1\"; the id of a checkpoint is a UUID",
        ),
        (
            with_payload(5, |payload| payload["context"]["key-0"] = json!(2)),
            "line 5: `hash` is",
        ),
        (
            with_payload(5, |payload| payload["metadata"] = json!({"name": 1})),
            "line 5: `metadata.name` is a number",
        ),
    ] {
        let reported = refusal(&text);
        assert!(reported.contains(wanted), "{reported}\nlacks\n{wanted}");
    }
    let twice = with_payload(5, |payload| payload["context"] = json!({}))
        .replace("\"context\":{}", "\"context\":{\"a\":1,\"a\":2}");
    assert!(refusal(&twice).contains("line 5: `context` cannot be kept"));
}

/// Registrations and found entities are validated, too.
#[test]
fn kinds_of_other_rooms_are_checked() {
    for (kind, payload, wanted) in [
        (
            "ExtractorRegistered",
            json!({"name": "x", "pattern": "("}),
            "the pattern is wrong at byte",
        ),
        (
            "ExtractorRegistered",
            json!({"name": "x"}),
            "has neither a pattern nor JSON fields",
        ),
        (
            "FieldMappingRegistered",
            json!({"field": "x", "aliases": []}),
            "has no aliases",
        ),
        (
            "EntitiesFound",
            json!({"found": [{"source": {"message": "m-9"}, "mentions": []}]}),
            "message \"m-9\" not found",
        ),
        (
            "EntitiesFound",
            json!({"found": [{"source": {"step": {"step": 1, "attempt": 2}}, "mentions": []}]}),
            "attempt 2 of step 1 not found",
        ),
        (
            "EntitiesFound",
            json!({"found": [{"source": {"tool": "t-1"}, "mentions": []}]}),
            "execution \"t-1\" not found",
        ),
        (
            "EntitiesRelated",
            json!({"from": {"kind": "a", "key": "b", "name": "b"}, "relation": "R", "to": {"kind": "a", "key": "c", "name": "c"}}),
            "`relation` is \"R\"",
        ),
        (
            "EntityResolved",
            json!({"entity": {"kind": "a", "key": "b", "name": "b"}, "resolver": "r", "expires": "soon"}),
            "`expires` is not an RFC 3339 time",
        ),
        (
            "KeyMarked",
            json!({"key": "x".repeat(2000)}),
            "`key` has 2000 bytes",
        ),
        (
            "ToolRecorded",
            json!({"execution": "", "status": "running", "tool": "t"}),
            "`execution` is \"\": an id is empty",
        ),
        (
            "ToolRecorded",
            json!({"execution": "t-1", "status": "running", "tool": "a\nb"}),
            "the name of a tool has",
        ),
    ] {
        let text = with_line(6, |_| {
            json!({"n": 5, "at": "2026-01-31T12:00:00Z", "kind": kind, "payload": payload})
                .to_string()
        });
        let reported = refusal(&text);
        assert!(
            reported.starts_with("line 6: ") && reported.contains(wanted),
            "{reported}\nlacks\n{wanted}"
        );
    }
}

/// Limits hold exactly at their boundaries and are named in errors.
#[test]
fn limits_are_named() {
    let long = "x".repeat((32 << 20) + 1);
    let reported = read(&long).unwrap_err().message;
    assert_eq!(
        reported,
        "the text has 33554433 bytes; at most 33554432 are imported at once"
    );
    let lines = "\n".repeat(100_000) + "x";
    let reported = read(&lines).unwrap_err().message;
    assert_eq!(
        reported,
        "the text has 100001 lines; at most 100000 are imported at once"
    );
    let deep = with_payload(5, |payload| payload["context"] = json!({})).replace(
        "\"context\":{}",
        &format!("\"context\":{}{}", "[".repeat(200), "]".repeat(200)),
    );
    assert!(refusal(&deep).contains("line 5: the body is nested deeper than 128"));
    let mention = json!({"kind": "a", "key": "b", "name": "b", "how": "known"}).to_string();
    let many = with_payload(3, |payload| payload["mentions"] = json!([])).replacen(
        "\"mentions\":[]",
        &format!("\"mentions\":[{}]", vec![mention; 100_001].join(",")),
        1,
    );
    let reported = refusal(&many);
    assert!(
        reported.contains("line 3: the lines up to here mention 100001 entities"),
        "{reported}"
    );
}
