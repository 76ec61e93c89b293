//! A loaded context equals the saved one in every digit and character; key order never matters, and a nested change
//! always does.

use std::cell::RefCell;
use std::collections::BTreeMap;

use lore::protocol::Args;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::json;
use tests::{Random, serve};

use super::json::{Json, object};
use super::{create_session, load, save_text, sha256};

const CASES: u32 = 128;

fn saving(context: &str, more: &str) -> String {
    format!("{{\"sessionId\":\"s\",\"context\":{context}{more}}}")
}

/// Arbitrary objects in arbitrary notations load as their canonical text, digit by digit. The returned hash is the
/// SHA-256 of that text as computed here. Another notation of the same object is skipped as unchanged.
#[test]
fn arbitrary_contexts_come_back_equal() {
    let (home, daemon) = serve!();
    create_session(&daemon, "s");
    let connection = RefCell::new(daemon.connect(""));
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    });
    let strategy = (object(), proptest::num::u64::ANY);
    let ran = runner.run(&strategy, |(context, seed)| {
        let mut connection = connection.borrow_mut();
        let mut random = Random::new(seed);
        let failed = |error: lore::connection::Error| TestCaseError::fail(error.to_string());
        let wanted = context.canonical();
        let forced = ",\"force\":true";
        let written = context.written(&mut random);
        let saved = save_text(&mut connection, saving(&written, forced)).map_err(failed)?;
        proptest::prop_assert!(saved.is_new());
        let loaded = load(&mut connection, json!({"checkpointId": saved.id})).map_err(failed)?;
        proptest::prop_assert_eq!(loaded.context.get(), &wanted);
        let hash = &loaded.metadata["contextHash"];
        proptest::prop_assert_eq!(hash.as_str().unwrap(), sha256(&wanted));
        let other = context.written(&mut random);
        let again = save_text(&mut connection, saving(&other, "")).map_err(failed)?;
        proptest::prop_assert_eq!(again.status, "SKIPPED_UNCHANGED");
        proptest::prop_assert_eq!(again.id, saved.id);
        Ok(())
    });
    if let Err(error) = ran {
        panic!("{error}\n{}", daemon.stderr());
    }
    // Again without the daemon's memory state.
    let ids = super::listed(&mut connection.borrow_mut(), "s");
    let before: Vec<String> = texts(&mut connection.borrow_mut(), &ids);
    daemon.stop();
    let daemon = home.start();
    assert_eq!(texts(&mut daemon.connect(""), &ids), before);
    daemon.verify();
}

fn texts(connection: &mut lore::connection::Connection, ids: &[String]) -> Vec<String> {
    let text = |id: &String| {
        let loaded = load(connection, json!({ "checkpointId": id })).unwrap();
        loaded.context.get().to_owned()
    };
    ids.iter().map(text).collect()
}

/// A context of the maximum depth and an empty one round-trip.
#[test]
fn the_deepest_and_the_empty() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "s");
    let mut connection = daemon.connect("");
    // Of the 128 allowed levels the arguments are one and the context another.
    let lists = 126;
    let deep = format!(
        "{{\"a\":{}-0.10e+7{}}}",
        "[".repeat(lists),
        "]".repeat(lists)
    );
    let deeper = format!("{{\"a\":[{}1{}]}}", "[".repeat(lists), "]".repeat(lists));
    for context in ["{}", r#"{"":{}}"#, r#"{"a":[]}"#, deep.as_str()] {
        let saved = save_text(&mut connection, saving(context, "")).unwrap();
        let loaded = load(&mut connection, json!({"checkpointId": saved.id})).unwrap();
        assert_eq!(loaded.context.get(), context);
        assert_eq!(loaded.metadata["contextHash"], sha256(context));
    }
    let refused = save_text(&mut connection, saving(&deeper, "")).unwrap_err();
    assert_eq!(super::code(&refused), "INVALID_INPUT", "{refused}");
}

/// Ten megabytes round-trip, and a change of one digit in them is a new checkpoint that takes nearly no space.
#[test]
fn ten_megabytes_come_back_equal() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "s");
    let mut connection = daemon.connect("");
    let mut random = Random::new(10);
    let mut members = BTreeMap::new();
    let mut bytes = 0;
    while bytes < 10_000_000 {
        let items: Vec<Json> = (0..2000)
            .map(|_| match random.range(0, 3) {
                0 => Json::Number(format!(
                    "{}.{:017}",
                    random.range(0, 99),
                    random.bits() % 100
                )),
                1 => Json::Text(format!("é{:x}\u{2028}😀\n", random.bits())),
                _ => Json::Text("the same words again and again ".repeat(3)),
            })
            .collect();
        let list = Json::List(items);
        bytes += list.canonical().len();
        members.insert(format!("part-{}", members.len()), list);
    }
    let context = Json::Object(members).canonical();
    let first = save_text(&mut connection, saving(&context, "")).unwrap();
    let loaded = load(&mut connection, json!({"checkpointId": first.id})).unwrap();
    assert!(loaded.context.get() == context, "another text");
    assert_eq!(loaded.metadata["contextHash"], sha256(&context));
    let changed = context.replacen("0000000000000", "0000000000001", 1);
    assert_ne!(changed, context);
    let second = save_text(&mut connection, saving(&changed, "")).unwrap();
    assert!(second.is_new());
    assert!(second.new_bytes < 20_000, "{second:?}");
    let loaded = load(&mut connection, json!({"sessionId": "s"})).unwrap();
    assert!(loaded.context.get() == changed, "another text");
}

/// Any difference in text is a difference of contexts: one digit, the 17th, deep inside; another notation of the
/// same number. The comparison names the path and both texts.
#[test]
fn a_change_in_the_17th_digit_is_a_change() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "s");
    let mut connection = daemon.connect("");
    let context = |digits: &str| format!(r#"{{"a":{{"b":[0,{{"c":{digits}}}]}},"z":1}}"#);
    let mut last: Option<(String, &str)> = None;
    for digits in [
        "0.12345678901234567",
        "0.12345678901234568",
        "9007199254740992",
        "9007199254740993",
        "1.1",
        "1.10",
        "1e0",
        "1E0",
        "0",
        "-0",
    ] {
        let saved = save_text(&mut connection, saving(&context(digits), "")).unwrap();
        assert!(saved.is_new(), "{digits}");
        if let Some((id, old)) = last {
            let args = json!({"from": id, "to": saved.id});
            let args = Args::Json(args.to_string().into_bytes());
            let reported = connection.call("workflow_checkpoint_diff", &args).unwrap();
            let reported = String::from_utf8(reported.json).unwrap();
            let wanted = format!(r#"{{"path":"/a/b/1/c","old":{old},"new":{digits}}}"#);
            assert!(
                reported.contains(&format!(r#""changed":[{wanted}]"#)),
                "{reported}"
            );
            assert!(
                reported.contains(r#""added":[],"removed":[]"#),
                "{reported}"
            );
        }
        last = Some((saved.id, digits));
    }
}
