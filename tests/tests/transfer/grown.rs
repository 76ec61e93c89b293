//! Imported data that has grown at its origin: the new part is appended, whatever program it comes from.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tests::{ColdHome, cold, has_words, until};

use super::everything::{call, position};
use super::{good, refused, text};

/// Waits until entities are recognised in all events and returns the position: no further events are recorded by
/// the daemon itself.
fn settled(cold: &ColdHome) -> u64 {
    until("entities to be recognised", Duration::from_secs(60), || {
        let status = call(cold, "status", &json!({}));
        let followers = status["followers"].as_array().unwrap();
        let is_done = |one: &Value| one["name"] != "entities" || one["lag"] == 0;
        let is_settled = followers.iter().all(is_done);
        is_settled.then(|| status["position"].as_u64().unwrap())
    })
}

/// Returns the checkpoints and steps of the session imported from a LangGraph thread.
fn thread(cold: &ColdHome) -> (Value, Value) {
    let id = "langgraph-thread-1";
    let checkpoints = call(cold, "workflow_checkpoint_list", &json!({"sessionId": id}));
    let steps = call(cold, "list_steps", &json!({"session": id, "limit": 100}))["steps"].take();
    let of_checkpoint = |one: &Value| json!([one["checkpointId"], one["createdAt"]]);
    let of_step = |one: &Value| {
        json!([
            one["step"],
            one["tool"],
            one["success"],
            one["at"],
            one["bytes"]
        ])
    };
    (
        checkpoints
            .as_array()
            .unwrap()
            .iter()
            .map(of_checkpoint)
            .collect(),
        steps.as_array().unwrap().iter().map(of_step).collect(),
    )
}

/// A thread that has grown since its import is appended to: existing events are recognised, new ones come after
/// them. A thread changed in between is refused with the line, and nothing is recorded.
#[test]
fn a_thread_that_has_grown_is_gone_on_with() {
    let (here, there) = (cold!(), cold!());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/langgraph.sqlite");
    let arguments = ["import", "--from", "langgraph", text(&golden)];
    let lines = std::process::Command::new(env!("CARGO_BIN_EXE_lored-under-test"))
        .args(["convert", "langgraph", text(&golden)])
        .output()
        .unwrap();
    let lines = good(&lines);
    let lines: Vec<&str> = lines.lines().collect();
    let begin = lines
        .iter()
        .position(|line| line.contains("\"langgraph-thread-1\""))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.jsonl");
    // The state with about three checkpoints.
    for events in [4, 7] {
        let mut before = lines[begin..=begin + events].join("\n");
        before += &format!("\n{{\"end\":{{\"events\":{events}}}}}\n");
        std::fs::write(&file, before).unwrap();
        good(&here.run(&["import", text(&file)]));
    }
    let before = thread(&here);
    let dry = good(&here.run(&[&arguments[..], &["--dry-run"]].concat()));
    assert!(
        dry.starts_with("2 sessions and what is new of 1 others with 19 events"),
        "{dry}"
    );
    assert_eq!(thread(&here), before);

    // Its fifth event had another content.
    let at = begin + 5;
    let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let mut event: Value = serde_json::from_str(&changed[at]).unwrap();
    event["at"] = json!("2026-01-30T12:00:00.000000Z");
    changed[at] = event.to_string();
    std::fs::write(&file, changed.join("\n") + "\n").unwrap();
    let position = settled(&here);
    let output = here.run(&["import", text(&file)]);
    let line = format!("than line {}", at + 1);
    refused(
        &output,
        &[
            "`langgraph-thread-1`",
            "says something else",
            &line,
            "is not in the lines",
        ],
    );
    assert_eq!(output.status.code(), Some(5), "a conflict");
    assert_eq!(thread(&here), before);
    // Earlier lines may have been recorded.
    assert!(begin > 1 || settled(&here) == position);

    good(&here.run(&arguments));
    good(&there.run(&arguments));
    assert_eq!(thread(&here), thread(&there));
    let again = good(&here.run(&arguments));
    assert!(
        again.starts_with("0 sessions with 0 events") && again.contains("3 sessions"),
        "{again}"
    );
    call(&here, "verify_log", &json!({}));
}

/// In a memory server's file that has grown, new entities, relations, and observations of known entities are
/// imported wherever they are in the file. A changed one is refused.
#[test]
fn a_memory_servers_file_that_has_grown_is_gone_on_with() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let entity = |name: &str, observations: &[&str]| json!({"type": "entity", "name": name, "entityType": "person", "observations": observations});
    let relation = |from: &str, to: &str| json!({"type": "relation", "from": from, "to": to, "relationType": "knows"});
    let import = |lines: &[Value]| {
        let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, content).unwrap();
        cold.run(&["import", "--from", "memory", text(&file)])
    };
    let (tea, rain) = ("Drinks oolong", "Dislikes drizzle");
    good(&import(&[
        entity("Ada", &[tea]),
        entity("Bob", &[]),
        relation("Ada", "Bob"),
    ]));
    let grown = [
        entity("Ada", &[tea, rain]),
        entity("Bob", &[]),
        entity("Cyd", &["Collects stamps"]),
        relation("Ada", "Bob"),
        relation("Bob", "Cyd"),
    ];
    let reported = good(&import(&grown));
    assert!(
        reported.starts_with("0 sessions and what is new of 1 others with 4 events"),
        "{reported}"
    );
    for (query, says) in [
        ("oolong", tea),
        ("drizzle", rain),
        ("stamps", "Collects stamps"),
    ] {
        let found = call(
            &cold,
            "search",
            &json!({"query": query, "search_type": "text"}),
        );
        let results = found["results"].as_array().unwrap();
        assert!(results[0].to_string().contains(says), "{found}");
    }
    let args = json!({"session": "imported-memory", "kind": "person", "name": "Bob"});
    let shown = call(&cold, "get_entity", &args).to_string();
    assert!(shown.contains("Cyd") && shown.contains("Ada"), "{shown}");

    let position = settled(&cold);
    let again = good(&import(&grown));
    assert!(
        again.starts_with("0 sessions with 0 events") && again.contains("1 sessions"),
        "{again}"
    );
    let mut changed = grown.clone();
    changed[0] = entity("Ada", &["Drinks sencha", rain]);
    let output = import(&changed);
    refused(
        &output,
        &[
            "`imported-memory`",
            "says something else than line 5",
            "event 3 here",
        ],
    );
    assert_eq!(output.status.code(), Some(5), "a conflict");
    assert_eq!(settled(&cold), position, "nothing was recorded");
    // It grows again, and the existing parts keep their places.
    let more = [&grown[..3], &[entity("Dan", &[])], &grown[3..]].concat();
    let reported = good(&import(&more));
    has_words(&reported, &["what is new of 1 others with 1 events"]);
    call(&cold, "verify_log", &json!({}));
}

/// A memory server's relation to a name without an entity stays the same relation once the entity exists, at either
/// end. A relation with other content is refused.
#[test]
fn a_name_that_was_described_since_is_gone_on_with() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let entity = |name: &str, kind: &str| json!({"type": "entity", "name": name, "entityType": kind, "observations": []});
    let relation = |from: &str, how: &str, to: &str| json!({"type": "relation", "from": from, "to": to, "relationType": how});
    let import = |lines: &[Value]| {
        let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, content).unwrap();
        cold.run(&["import", "--from", "memory", text(&file)])
    };
    let (ada, oolong) = (entity("Ada", "person"), entity("oolong", "drink"));
    let (cup, drinks) = (entity("cup", "vessel"), relation("Ada", "drinks", "oolong"));
    let holds = relation("cup", "holds", "oolong");
    good(&import(&[ada.clone(), drinks.clone(), holds.clone()]));
    // One end, the other one, and both.
    let one = [ada.clone(), oolong.clone(), drinks.clone(), holds.clone()];
    let both = [ada, oolong, cup, drinks, holds];
    for lines in [&one[..], &both] {
        let reported = good(&import(lines));
        has_words(&reported, &["what is new of 1 others with 1 events"]);
        let again = good(&import(lines));
        assert!(again.starts_with("0 sessions with 0 events"), "{again}");
    }
    let position = settled(&cold);
    for (at, changed) in [
        (3, relation("Ada", "sells", "oolong")),
        (4, relation("cup", "holds", "sencha")),
    ] {
        let mut other = both.clone();
        other[at] = changed;
        refused(
            &import(&other),
            &["`imported-memory`", "EntitiesRelated, is not in"],
        );
    }
    assert_eq!(settled(&cold), position, "nothing was recorded");
    call(&cold, "verify_log", &json!({}));
}

/// Returns the export lines of a session with these events.
fn session_of(events: &[Value]) -> String {
    let mut text = format!(
        "{}\n",
        json!({"format": "lore-session", "version": 1, "session": "s"})
    );
    for (n, event) in events.iter().enumerate() {
        let mut event = event.clone();
        event["n"] = json!(n + 1);
        text += &format!("{event}\n");
    }
    text + &format!("{}\n", json!({"end": {"events": events.len()}}))
}

/// A session that is appended to equals one imported at once, with its marks, forks and comparisons. New events
/// that are older than existing ones, and a closed session, are refused.
#[test]
fn a_session_that_is_gone_on_with_is_whole() {
    let (here, there) = (cold!(), cold!());
    let at = |second: u64| format!("2026-01-31T12:00:{second:02}.000000Z");
    let event = |second: u64, kind: &str, payload: Value| json!({"at": at(second), "kind": kind, "payload": payload});
    let id = |n: u64| format!("0900eb95-fa02-4c89-b5dc-9be41f83ef{n:02}");
    let context = |n: u64| json!({"goal": "compare", "log": "x".repeat(9000), "n": n});
    let save = |n: u64| {
        event(
            n + 2,
            "CheckpointSaved",
            json!({"checkpoint": id(n), "context": context(n)}),
        )
    };
    let mut all = vec![
        event(0, "SessionCreated", json!({"title": "Uplinks"})),
        event(1, "KeyMarked", json!({"key": "goal"})),
        save(1),
        save(2),
        event(6, "KeyMarked", json!({"key": "log"})),
        save(5),
        event(
            9,
            "CheckpointSaved",
            json!({"checkpoint": id(9), "context": context(9), "forked_from": id(1)}),
        ),
        event(10, "KeyMarked", json!({"key": "goal", "unmarked": true})),
    ];
    let import = |cold: &ColdHome, events: &[Value]| {
        call(cold, "import_log", &json!({"content": session_of(events)}))
    };
    for events in [3, 4, 6, 8] {
        let reply = import(&here, &all[..events]);
        let went_on = u64::from(events > 3);
        assert_eq!(reply["sessions"], json!(1 - went_on));
        assert_eq!(reply["continued"], json!(went_on));
    }
    import(&there, &all);
    let exported =
        |cold: &ColdHome| call(cold, "export_log", &json!({"session": "s"}))["content"].take();
    assert_eq!(exported(&here), exported(&there));
    for n in [2, 9] {
        let of = |cold: &ColdHome| {
            let mut loaded = call(
                cold,
                "workflow_checkpoint_load",
                &json!({"checkpointId": id(n)}),
            );
            loaded["context"].take()
        };
        assert_eq!(of(&here), context(n));
        assert_eq!(of(&here), of(&there));
    }
    let critical = |cold: &ColdHome| -> Vec<Value> {
        let listed = call(cold, "workflow_checkpoint_list", &json!({"sessionId": "s"}));
        let listed = listed.as_array().unwrap().iter();
        listed.map(|one| one["criticalKeys"].clone()).collect()
    };
    assert_eq!(critical(&here), critical(&there));
    assert_eq!(critical(&here).len(), 4);

    let before = position(&here);
    let refusal = |events: &[Value]| {
        let args = json!({"content": session_of(events)});
        let output = here.run(&["call", "import_log", &args.to_string()]);
        assert!(!output.status.success());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["error"].take()
    };
    let mut between = all.clone();
    between.insert(3, event(3, "SessionUpdated", json!({"title": "Between"})));
    let reported = refusal(&between);
    assert_eq!(reported["code"], "CONFLICT", "{reported}");
    let message = reported["message"].as_str().unwrap();
    has_words(message, &["than line 5", "where there are newer ones"]);
    assert_eq!(position(&here), before);
    call(&here, "close_session", &json!({"session": "s"}));
    assert_eq!(import(&here, &all)["there"], 1);
    all.push(save(20));
    assert_eq!(refusal(&all)["code"], "CONFLICT");
    call(&here, "verify_log", &json!({}));
}
