//! Every error in the specification's table, and bad input: a clear error each, and no partial writes.

use std::path::{Path, PathBuf};

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{
    Daemon, Random, call, disk, has, has_words, home, noise, refused_calls, serve, transports,
};

use super::{create_session, position, save};

/// Checks an error with all its fields.
fn is_refusal(refusal: &Value, code: &str, status: u16, what: &str) {
    assert_eq!(refusal["code"], code, "{what}: {refusal}");
    assert_eq!(refusal["status"], status, "{what}: {refusal}");
    for field in ["message", "hint"] {
        let said = refusal[field].as_str().unwrap_or_default();
        assert!(said.len() > 10, "{what}: {field}: {refusal}");
    }
}

/// Returns the state that a refused call must not change: the log and the blobs.
fn stored(daemon: &Daemon, data: &Path) -> (u64, Vec<PathBuf>) {
    (position(daemon), disk::files(&data.join("blobs")))
}

/// Missing checkpoints and sessions, and common mistakes of agents, are refused on every transport with code, status,
/// message and hint, and log and blobs are unchanged. `KEY_NOT_FOUND` is not an error but a status.
#[test]
fn what_cannot_be_is_refused() {
    let (home, daemon) = serve!();
    let mut frames = daemon.connect("");
    create_session(&daemon, "s");
    create_session(&daemon, "empty");
    let first = json!({"sessionId": "s", "context": {"plan": 1}});
    let first = save(&mut frames, first).unwrap();
    let calls = refused_calls(
        include_str!("refused.txt"),
        &[
            ("$id", &first.id),
            ("$none", "00000000-0000-4000-8000-000000000000"),
            ("$long", &"x".repeat(10_000)),
            ("$key", &"k".repeat(1025)),
            ("$tags", &vec![r#""t""#; 65].join(",")),
        ],
    );
    let before = stored(&daemon, &home.data());
    for (door_name, mut endpoint) in transports!(home, daemon) {
        for call in &calls {
            let refusal = endpoint.call(&call.name, &call.args);
            let refusal = refusal.expect_err(&format!("{door_name}: {}", call.name));
            call.check(&refusal);
            if refusal["status"] == 404 {
                assert!(refusal["hint"].as_str().unwrap().len() > 10, "{refusal}");
            }
        }
        let absent = json!({"sessionId": "s", "contextKey": "goal"});
        let (absent, _) = endpoint.call("workflow_mark_critical", &absent).unwrap();
        assert_eq!(absent["status"], "KEY_NOT_FOUND", "{door_name}");
        has_words(&absent["message"], &["`plan`"]);
    }
    // Too large for a command line: only by frames.
    let huge = json!({"context": {}, "metadata": {"name": "x".repeat(1 << 20)}});
    let refused = daemon.refusal("workflow_checkpoint_save", huge);
    tests::is_refusal(&refused, Code::InvalidInput, &["65536"]);
    assert!(refused.message.len() < 200, "{refused:?}");
    assert_eq!(stored(&daemon, &home.data()), before);
    daemon.verify();
}

/// Ambiguous JSON is refused and not stored: a duplicate key, half a surrogate pair, nesting over the limit.
#[test]
fn contexts_without_one_meaning() {
    let (home, daemon) = serve!();
    let mut frames = daemon.connect("");
    let before = stored(&daemon, &home.data());
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(128), "]".repeat(128));
    for (context, says) in [
        (r#"{"a":1,"a":2}"#, "twice"),
        (r#"{"a":{"b":1,"\u0062":2}}"#, "twice"),
        (r#"{"a":"\ud800"}"#, "surrogate"),
        (r#"{"a":"\udc00\ud800"}"#, "surrogate"),
        (deep.as_str(), "deeper"),
        (r#"{"a":NaN}"#, "JSON"),
        (r#"{"a":01}"#, "JSON"),
    ] {
        let refused = super::save_text(&mut frames, format!("{{\"context\":{context}}}"));
        let refused = refused.expect_err(context);
        assert_eq!(super::code(&refused), "INVALID_INPUT", "{context:.40}");
        assert!(
            refused.to_string().contains(says),
            "{context:.40}: {refused}"
        );
    }
    assert_eq!(stored(&daemon, &home.data()), before);
}

/// Numbers and booleans as strings are accepted, and so are one tag for a list and a context as a string.
#[test]
fn kind_readings() {
    let (_home, daemon) = serve!();
    let mut frames = daemon.connect("");
    let args = json!({"context": {"a": 1}, "metadata": {"tags": "one"}});
    let first = save(&mut frames, args).unwrap();
    let args = json!({"sessionId": first.session, "context": "{\"a\": 1}", "force": "true"});
    assert!(save(&mut frames, args).unwrap().is_new());
    let args = json!({"sessionId": first.session, "limit": "1", "offset": "1", "tags": "one"});
    assert_eq!(
        call(&mut frames, "workflow_checkpoint_list", args).unwrap(),
        json!([])
    );
    let args = json!({"sessionId": first.session, "limit": "1", "offset": "1"});
    let page = call(&mut frames, "workflow_checkpoint_list", args).unwrap();
    assert_eq!(page[0]["metadata"]["tags"], json!(["one"]), "{page}");
}

/// A save beyond one of the three limits is refused with the used, requested and allowed amounts. Neither the log
/// nor the blobs contain any of it, and smaller saves still work.
#[test]
fn quotas_are_told_with_their_arithmetic() {
    let (home, daemon) = serve!(
        "[checkpoints]\ncheckpoint_bytes_max = 200000\nsession_bytes_max = 300000\n\
         total_bytes_max = 400000\nclean_percent = 100\ninactive_days = 30\n"
    );
    let mut frames = daemon.connect("");
    let mut random = Random::new(1);
    let mut noise = |bytes: usize| json!({"noise": noise(bytes, &mut random)});
    create_session(&daemon, "a");
    create_session(&daemon, "b");
    // Hexadecimal digits compress to half their length.
    let first = save(
        &mut frames,
        json!({"sessionId": "a", "context": noise(320_000)}),
    )
    .unwrap();
    let before = stored(&daemon, &home.data());
    let mut refused = |session: &str, bytes: usize, limit: &str, maximum: u64| {
        let args = json!({"sessionId": session, "context": noise(bytes)});
        let body = daemon.refusal("workflow_checkpoint_save", args);
        let body: Value = serde_json::from_slice(&body.to_json()).unwrap();
        is_refusal(&body, "STORAGE_QUOTA_EXCEEDED", 413, limit);
        let details = &body["details"];
        assert_eq!(details["limit"], limit, "{body}");
        assert_eq!(details["maximumBytes"], maximum, "{body}");
        let number = |name: &str| details[name].as_u64().unwrap();
        let (current, asked) = (number("currentBytes"), number("askedBytes"));
        assert!(current + asked > maximum, "{body}");
        for number in [current, asked, maximum] {
            assert!(
                body["message"]
                    .as_str()
                    .unwrap()
                    .contains(&number.to_string()),
                "{body}"
            );
        }
        assert_eq!(stored(&daemon, &home.data()), before, "{limit}");
        current
    };
    assert_eq!(refused("a", 600_000, "checkpoint", 200_000), 0);
    assert_eq!(
        refused("a", 320_000, "session", 300_000),
        first.stored_bytes
    );
    let second = save(
        &mut frames,
        json!({"sessionId": "b", "context": noise(320_000)}),
    )
    .unwrap();
    create_session(&daemon, "c");
    let before = stored(&daemon, &home.data());
    let args = json!({"sessionId": "c", "context": noise(320_000)});
    let body = daemon.refusal("workflow_checkpoint_save", args);
    let details = body.details.unwrap();
    assert_eq!(details["limit"], "total");
    let taken = first.stored_bytes + second.stored_bytes;
    assert_eq!(details["currentBytes"], taken);
    assert_eq!(stored(&daemon, &home.data()), before);
    let small = save(
        &mut frames,
        json!({"sessionId": "b", "context": {"small": 1}}),
    )
    .unwrap();
    assert!(small.is_new());
    assert!(!small.warnings.is_empty(), "{small:?}");
    daemon.verify();
}

/// A stale `expectedCheckpointId` is refused on every transport with base, theirs and the keys changed between
/// them. Nothing is saved; a save with the right id works.
#[test]
fn conflicts_tell_what_changed() {
    let (home, daemon) = serve!();
    let mut frames = daemon.connect("");
    create_session(&daemon, "s");
    let save = |frames: &mut _, context: Value| {
        super::save(frames, json!({"sessionId": "s", "context": context})).unwrap()
    };
    let base = save(
        &mut frames,
        json!({"same": 1, "gone": 2, "changed": {"deep": 1}}),
    );
    let theirs = save(
        &mut frames,
        json!({"same": 1, "new": 3, "changed": {"deep": 1.0}}),
    );
    let before = stored(&daemon, &home.data());
    let mine = |expected: &str| {
        json!({"sessionId": "s", "context": {"mine": noise(200_000, &mut Random::new(1))},
            "expectedCheckpointId": expected})
    };
    for (door_name, mut endpoint) in transports!(home, daemon) {
        if door_name == "client" {
            // The argument would exceed the length of a command line.
            continue;
        }
        let refusal = endpoint
            .call("workflow_checkpoint_save", &mine(&base.id))
            .unwrap_err();
        is_refusal(&refusal, "CONFLICT", 409, door_name);
        let details = &refusal["details"];
        assert_eq!(details["base"], base.id, "{door_name}: {refusal}");
        assert_eq!(details["theirs"], theirs.id, "{door_name}: {refusal}");
        has(details, json!({"changedKeys": ["changed", "gone", "new"]}));
    }
    assert_eq!(stored(&daemon, &home.data()), before);
    let unknown = daemon.refusal(
        "workflow_checkpoint_save",
        mine("00000000-0000-4000-8000-000000000000"),
    );
    assert_eq!(unknown.code.as_str(), "CONFLICT");
    assert!(super::save(&mut frames, mine(&theirs.id)).unwrap().is_new());
}

/// While the disk is full, saves are refused with `STORAGE_UNAVAILABLE`, and loads and lists work. With space again
/// the same call is saved; no partial write stays behind.
#[test]
fn a_full_disk() {
    let mut home = home!();
    let library = disk::between_calls("fault", Path::new(env!("CARGO_TARGET_TMPDIR")));
    let full = home.path().join("full");
    home.set("LD_PRELOAD", library.to_str().unwrap());
    home.set("LORE_FAULT_UNDER", home.data().to_str().unwrap());
    home.set("LORE_FAULT_WHILE", full.to_str().unwrap());
    home.set("LORE_FAULT_ERRNO", "28");
    home.configure("[engine]\nreserve_bytes = 0\ndisk_free_bytes_min = 0\n");
    let daemon = home.start();
    let mut frames = daemon.connect("");
    let mut random = Random::new(2);
    let first = save(
        &mut frames,
        json!({"context": {"n": noise(200_000, &mut random)}}),
    )
    .unwrap();
    let wanted = super::context_of(&mut frames, &first.id).unwrap();
    let small = json!({"sessionId": first.session, "context": {"n": 1}});
    let large = json!({"sessionId": first.session, "context": {"n": noise(200_000, &mut random)}});
    std::fs::write(&full, "").unwrap();
    for args in [&small, &large, &small] {
        let body = daemon.refusal("workflow_checkpoint_save", args.clone());
        let body: Value = serde_json::from_slice(&body.to_json()).unwrap();
        is_refusal(&body, "STORAGE_UNAVAILABLE", 503, "full");
        assert_eq!(body["retryable"], true, "{body}");
    }
    assert_eq!(super::context_of(&mut frames, &first.id).unwrap(), wanted);
    assert_eq!(
        super::listed(&mut frames, &first.session),
        [first.id.as_str()]
    );
    std::fs::remove_file(&full).unwrap();
    let saved = tests::until("a save", std::time::Duration::from_secs(20), || {
        save(&mut frames, large.clone()).ok()
    });
    assert_eq!(
        super::context_of(&mut frames, &saved.id).unwrap(),
        large["context"]
    );
    // A save refused during the full disk may still be stored, but never partially.
    let ids = super::listed(&mut frames, &first.session);
    assert_eq!(ids.first(), Some(&saved.id));
    assert_eq!(ids.last(), Some(&first.id));
    let wanted = [&wanted, &small["context"], &large["context"]];
    for id in &ids {
        let context = super::context_of(&mut frames, id).unwrap();
        assert!(wanted.contains(&&context), "{id}");
    }
    let unfinished = disk::files(&home.data().join("blobs").join("new"));
    assert_eq!(unfinished, Vec::<PathBuf>::new());
    daemon.verify();
}
