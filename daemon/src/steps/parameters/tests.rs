//! Parameters as agents write them, and the resulting calls.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::steps::memory::Session;
use proptest::prelude::{any, prop_assert_eq, proptest};
use serde_json::json;

fn resolve_with(session: &Session, parameters: &Value, defaults: &Value) -> ResolvedParameters {
    let resolver = Resolver {
        history: session,
        set: &session.set,
        current_step: session.current,
        all_values: false,
        explain: false,
    };
    let defaults = defaults.as_object().cloned().unwrap_or_default();
    match resolve_parameters(&resolver, parameters, &defaults) {
        Ok(resolved) => resolved,
    }
}

fn resolve(session: &Session, parameters: &Value) -> ResolvedParameters {
    resolve_with(session, parameters, &Value::Null)
}

fn session() -> Session {
    let mut session = Session::of(&[
        r#"{"id": 12345, "title": "Fix bug", "draft": false, "labels": ["a", "b"]}"#,
        r#"[{"id": 1, "author": {"id": 9}}, {"id": 2, "author": {"id": 9}}]"#,
        "[]",
        r#"{"note": "", "path": "{ID_FROM_LIST} ID_FROM_STEP_1"}"#,
    ]);
    session.current = Some(3);
    session
}

#[test]
fn a_string_that_is_one_name_becomes_the_value_with_its_type() {
    let parameters = json!({"id": "ID_FROM_STEP_1", "draft": "{{DRAFT_FROM_STEP_1}}", "labels": ["`LABELS_FROM_STEP_1`"], "t": "TITLE_FROM_STEP_1 (the title)", "n": 5});
    let resolved = resolve(&session(), &parameters);
    assert_eq!(
        resolved.parameters,
        json!({"id": 12345, "draft": false, "labels": [["a", "b"]], "t": "Fix bug", "n": 5})
    );
    assert_eq!(resolved.resolutions.len(), 4);
    assert_eq!(resolved.calls, None);
    assert!(resolved.unresolved.is_empty());
}

#[test]
fn a_name_inside_longer_text_is_replaced_as_text() {
    let parameters = json!([
        "PR ID_FROM_STEP_1: {TITLE_FROM_STEP_1}!",
        "https://x.example/{{ID_FROM_STEP_1}}/id_from_step_1.json",
        "see `ID_FROM_STEP_1`, labels {LABELS_FROM_STEP_1}",
        "release-ID_FROM_STEP_1"
    ]);
    assert_eq!(
        resolve(&session(), &parameters).parameters,
        json!([
            "PR 12345: Fix bug!",
            "https://x.example/12345/12345.json",
            "see `12345`, labels [\"a\",\"b\"]",
            "release-12345"
        ])
    );
}

/// "Unresolved variables remain as-is in parameters".
#[test]
fn unresolved_variables_remain_as_is() {
    let parameters = json!({"id": "ID_FROM_STEP_99", "text": "a {SHOE_FROM_STEP_1} and ID_FROM_STEP_0", "again": "ID_FROM_STEP_99", "plain": "{braces} stay"});
    let resolved = resolve(&session(), &parameters);
    assert_eq!(resolved.parameters, parameters);
    let listed: Vec<_> = resolved
        .unresolved
        .iter()
        .map(|miss| (miss.name.as_str(), miss.reason.name()))
        .collect();
    assert_eq!(
        listed,
        [
            ("ID_FROM_STEP_99", "step_not_found"),
            ("SHOE_FROM_STEP_1", "field_not_found"),
            ("ID_FROM_STEP_0", "malformed_name")
        ]
    );
}

/// "Provide fallback values when possible".
#[test]
fn defaults_stand_in_and_the_name_is_listed_all_the_same() {
    let defaults = json!({"{id_from_step_99}": 7, "SHOE_FROM_STEP_1": null});
    let resolved = resolve_with(
        &session(),
        &json!({"id": "ID_FROM_STEP_99", "s": "SHOE_FROM_STEP_1", "t": "no ID_FROM_STEP_99"}),
        &defaults,
    );
    assert_eq!(
        resolved.parameters,
        json!({"id": 7, "s": null, "t": "no 7"})
    );
    assert_eq!(resolved.unresolved.len(), 2);
}

#[test]
fn multiple_ids_give_one_call_each() {
    let calls = |control: Value| resolve(&session(), &control).calls.unwrap();
    let expected = [
        json!({"id": 1, "deep": true}),
        json!({"id": 2, "deep": true}),
    ];
    // The ids of the items, not of their authors; all ids on request.
    assert_eq!(
        calls(json!({"_MULTIPLE_IDS": "ID_FROM_STEP_2", "deep": true}))
            .iter()
            .map(|call| &call["id"])
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(
        calls(json!({"id": "ID_FROM_STEP_2", "deep": true, "_MULTIPLE_IDS": true})),
        expected
    );
    assert_eq!(
        calls(json!({"_MULTIPLE_IDS": "ALL_IDS_FROM_STEP_2"})).len(),
        2
    );
    assert_eq!(
        calls(json!({"_MULTIPLE_PR_IDS": [12, "ID_FROM_STEP_1"]})),
        [
            json!({"pullRequestId": 12}),
            json!({"pullRequestId": 12345})
        ]
    );
    assert_eq!(
        calls(json!({"_MULTIPLE_PR_IDS": "12, 15"})),
        [
            json!({"pullRequestId": "12"}),
            json!({"pullRequestId": "15"})
        ]
    );
}

#[test]
fn an_empty_list_gives_zero_calls() {
    for list in [
        json!([]),
        json!(""),
        json!("ALL_IDS_FROM_STEP_3"),
        json!("ID_FROM_STEP_99"),
        json!("NOTE_FROM_STEP_4"),
    ] {
        let resolved = resolve(&session(), &json!({"id": 5, "_MULTIPLE_IDS": list}));
        assert_eq!(resolved.calls, Some(vec![]), "{list}");
    }
}

#[test]
fn list_placeholders_are_filled_from_their_list() {
    let calls = |parameters: Value| resolve(&session(), &parameters).calls.unwrap();
    assert_eq!(
        calls(json!({"id": "{ID_FROM_LIST}", "text": "no. {{ID_FROM_LIST}}", "_LIST_ID": [7, 8]})),
        [
            json!({"id": 7, "text": "no. 7"}),
            json!({"id": 8, "text": "no. 8"})
        ]
    );
    assert_eq!(
        calls(json!({"f": "{FILE_FROM_LIST}", "_LIST_FILE": "a.rs, b.rs"})),
        [json!({"f": "a.rs"}), json!({"f": "b.rs"})]
    );
    assert_eq!(
        calls(json!({"l": "{label_from_list}", "_LIST_LABEL": "LABELS_FROM_STEP_1"})),
        [json!({"l": "a"}), json!({"l": "b"})]
    );
    // The default list is ALL_XS_FROM_STEP_(current-1).
    assert_eq!(
        calls(json!({"id": "{ID_FROM_LIST}"})),
        [json!({"id": 1}), json!({"id": 2})]
    );
    // Two lists give every combination.
    let both =
        calls(json!({"v": "{A_FROM_LIST}{B_FROM_LIST}", "_LIST_A": "x,y", "_LIST_B": [1, 2]}));
    assert_eq!(
        both.iter().map(|call| &call["v"]).collect::<Vec<_>>(),
        ["x1", "x2", "y1", "y2"]
    );
}

#[test]
fn conditions_skip_the_call_and_say_why() {
    let skip = |parameters: Value| resolve(&session(), &parameters).skip;
    assert_eq!(
        skip(json!({"_IF_EXISTS": "ID_FROM_STEP_1", "_IF_NOT_EMPTY": ["LABELS_FROM_STEP_1"]})),
        None
    );
    let why = skip(json!({"_IF_EXISTS": "ID_FROM_STEP_99"})).unwrap();
    assert!(why.contains("step 99 not found"), "{why}");
    assert_eq!(
        skip(json!({"_IF_EXISTS": "NOTE_FROM_STEP_4"})),
        None,
        "an empty string exists"
    );
    assert_eq!(
        skip(json!({"_IF_NOT_EMPTY": "NOTE_FROM_STEP_4"})).unwrap(),
        "_IF_NOT_EMPTY: NOTE_FROM_STEP_4 is empty"
    );
    assert_eq!(
        skip(json!({"_IF_NOT_EMPTY": "RESULT_FROM_STEP_3"})).unwrap(),
        "_IF_NOT_EMPTY: RESULT_FROM_STEP_3 is empty"
    );
    let resolved = resolve(
        &session(),
        &json!({"id": "ID_FROM_STEP_1", "_IF_EXISTS": "X_FROM_STEP_1", "_MULTIPLE_IDS": [1]}),
    );
    assert_eq!((resolved.calls, resolved.unresolved.len()), (None, 0));
    assert_eq!(resolved.parameters, json!({"id": 12345}));
}

#[test]
fn other_control_keys_are_dropped_at_the_top_alone() {
    let resolved = resolve(
        &session(),
        &json!({"_note": 1, "_LIST_X": "a", "q": {"_id": "ID_FROM_STEP_1"}}),
    );
    assert_eq!(resolved.parameters, json!({"q": {"_id": 12345}}));
    assert_eq!(resolved.dropped, ["_note", "_LIST_X"]);
}

#[test]
fn what_a_tool_returned_is_no_template() {
    let resolved = resolve(
        &session(),
        &json!({"p": "PATH_FROM_STEP_4", "t": "x PATH_FROM_STEP_4", "_LIST_ID": [1]}),
    );
    assert_eq!(
        resolved.parameters["p"],
        json!("{ID_FROM_LIST} ID_FROM_STEP_1")
    );
    assert_eq!(
        resolved.parameters["t"],
        json!("x {ID_FROM_LIST} ID_FROM_STEP_1")
    );
    assert_eq!(resolved.calls, None);
}

#[test]
fn too_many_calls_are_cut_and_told() {
    let list: Vec<usize> = (0..200).collect();
    let resolved = resolve(
        &session(),
        &json!({"v": "{A_FROM_LIST}{B_FROM_LIST}", "_LIST_A": list, "_LIST_B": list}),
    );
    assert!(resolved.calls_cut);
    assert_eq!(resolved.calls.unwrap().len(), CALLS_MAX);
}

#[test]
fn too_large_a_reply_leaves_names_and_lists_them() {
    let big = "x".repeat(REPLY_BYTES_MAX / 2 - 100);
    let session = Session::of(&[&big]);
    let resolved = resolve(
        &session,
        &json!([
            "RESULT_FROM_STEP_1",
            "{RESULT_FROM_STEP_1}",
            "RESULT_FROM_STEP_1"
        ]),
    );
    assert_eq!(resolved.parameters[2], json!("RESULT_FROM_STEP_1"));
    assert_eq!(resolved.unresolved[0].reason, Reason::TooLarge);
}

/// Marks around a name alone are taken off; within a longer text only braces are marks.
#[test]
fn marks_around_a_name_are_taken_off() {
    for (text, value) in [
        (json!("**ID_FROM_STEP_1**"), json!(12345)),
        (json!("${ID_FROM_STEP_1}"), json!(12345)),
        (json!("<ID_FROM_STEP_1>"), json!(12345)),
        (json!("\"ID_FROM_STEP_1\""), json!(12345)),
        (json!("/pr/${ID_FROM_STEP_1}/x"), json!("/pr/12345/x")),
        (json!("pull ${{ ID_FROM_STEP_1 }}."), json!("pull 12345.")),
        (json!("Zoë <ID_FROM_STEP_1>"), json!("Zoë <12345>")),
        (
            json!("is **ID_FROM_STEP_1** new?"),
            json!("is **12345** new?"),
        ),
        (json!("$5 for ID_FROM_STEP_1"), json!("$5 for 12345")),
        (json!("*see ID_FROM_STEP_1*"), json!("*see 12345*")),
        (json!("\"a ID_FROM_STEP_1\""), json!("\"a 12345\"")),
    ] {
        assert_eq!(resolve(&session(), &text).parameters, value, "{text}");
    }
}

/// Nothing of a failed step goes into the next call, unless its name asks for it.
#[test]
fn a_failed_step_fills_nothing_in() {
    let mut session = session();
    session.failed(
        2,
        r#"{"content":[{"type":"text","text":"HTTP 400: {\"site\": [\"lax9 is not one of the choices\"]}"}],"isError":true}"#,
        None,
    );
    let parameters = json!({
        "site": "SITE_FROM_STEP_2",
        "note": "for SITE_FROM_STEP_2",
        "_MULTIPLE_IDS": "ALL_SITES_FROM_STEP_2",
    });
    let found = resolve(&session, &parameters);
    assert_eq!(
        found.parameters,
        json!({"site": "SITE_FROM_STEP_2", "note": "for SITE_FROM_STEP_2"})
    );
    assert_eq!(found.calls, Some(vec![]));
    let reasons = found.unresolved.iter().map(|missed| missed.reason);
    assert_eq!(reasons.collect::<Vec<_>>(), [Reason::StepFailed; 2]);
    let asked = json!({"why": "ERROR_FROM_STEP_2", "site": "said: SITE_FROM_FAILED_STEP_2"});
    let found = resolve(&session, &asked).parameters;
    assert_eq!(
        found["site"],
        json!(r#"said: ["lax9 is not one of the choices"]"#)
    );
    assert!(found["why"].as_str().unwrap().starts_with("HTTP 400: "));
}

#[test]
fn deep_parameters_stay_as_they_are_below_the_limit() {
    let mut deep = json!("ID_FROM_STEP_1");
    for _ in 0..300 {
        deep = json!([deep]);
    }
    assert_eq!(resolve(&session(), &deep).parameters, deep);
}

proptest! {
    /// Parameters without names stay unchanged.
    #[test]
    fn text_without_names_is_left_alone(text in any::<String>(), key in "[a-z]{1,8}") {
        let parameters = json!({key: text});
        prop_assert_eq!(resolve(&session(), &parameters).parameters, parameters);
    }

    /// The text around a name stays unchanged.
    #[test]
    fn text_around_a_name_stays(head in "[a-zé :/.{-]{0,8}", tail in "[ é:/.,}-]{0,8}") {
        let text = format!("see <{head} ID_FROM_STEP_1 {tail}>");
        let resolved = resolve(&session(), &json!(text)).parameters;
        let resolved = resolved.as_str().unwrap();
        let expected = text.replace("ID_FROM_STEP_1", "12345");
        if !text.contains('{') {
            prop_assert_eq!(resolved, expected);
        }
    }
}
