//! Every example from the description of variables, each strategy and each refusal, over in-memory sessions.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::steps::extract::{Extractor, FieldMapping};
use crate::steps::memory::Session;
use proptest::prelude::{any, prop_assert_eq, prop_assume, proptest};
use serde_json::json;

impl Session {
    fn resolve(&self, name: &str) -> Resolution {
        let resolver = Resolver {
            history: self,
            set: &self.set,
            current_step: self.current,
            all_values: true,
            explain: true,
        };
        match resolver.resolve(name) {
            Ok(resolution) => resolution,
        }
    }

    /// Returns the value and the strategy that found it.
    fn get(&self, name: &str) -> (Value, &'static str) {
        let resolution = self.resolve(name);
        (
            resolution.value,
            resolution.strategy.map_or("", super::Strategy::name),
        )
    }

    /// Returns the reason why there is no value.
    fn none(&self, name: &str) -> (&'static str, String) {
        let resolution = self.resolve(name);
        assert_eq!(resolution.value, Value::Null, "{name}");
        (
            resolution.reason.unwrap().name(),
            resolution.message.unwrap(),
        )
    }
}

const PULL: &str = r#"{"pullRequestId": 12345, "title": "Fix bug", "state": "completed", "createdBy": {"displayName": "Zoë", "email": "zoe@example.com"}, "sourceBranch": "fix/bug", "closedDate": "2025-01-15T10:30:00Z", "webUrl": "https://example.com/pr/12345"}"#;

/// "Generic Format (Recommended)".
#[test]
fn generic_format() {
    let session = Session::of(&[PULL]);
    // `ID_FROM_STEP_2` - Gets any ID from step 2
    assert_eq!(session.get("ID_FROM_STEP_1"), (json!(12345), "mapping"));
    // `DATE_FROM_STEP_1` - Gets any date from step 1
    assert_eq!(
        session.get("DATE_FROM_STEP_1"),
        (json!("2025-01-15T10:30:00Z"), "mapping")
    );
    // `TITLE_FROM_STEP_3` - Gets title/name from step 3
    assert_eq!(
        session.get("TITLE_FROM_STEP_1"),
        (json!("Fix bug"), "direct")
    );
    // `STATUS_FROM_STEP_2` - Gets status/state from step 2
    assert_eq!(
        session.get("STATUS_FROM_STEP_1"),
        (json!("completed"), "mapping")
    );
    // `AUTHOR_FROM_STEP_1` - Gets author/creator from step 1
    assert_eq!(
        session.get("AUTHOR_FROM_STEP_1").0["displayName"],
        json!("Zoë")
    );
    // `BRANCH_FROM_STEP_4` - Gets branch name from step 4
    assert_eq!(
        session.get("BRANCH_FROM_STEP_1"),
        (json!("fix/bug"), "mapping")
    );
}

/// "Typed Format: specify the exact data type to extract".
#[test]
fn typed_format() {
    let session = Session::of(&[
        PULL,
        r#"{"id": 7, "url": "https://example.com/7.", "when": "on 2025-01-15"}"#,
    ]);
    // `ID_FROM_STEP_2_ID` - Specifically gets ID-type data
    assert_eq!(session.get("ID_FROM_STEP_2_ID"), (json!(7), "direct"));
    assert_eq!(session.get("ID_FROM_STEP_1_ID"), (json!(12345), "typed"));
    // `DATE_FROM_STEP_1_DATE` - Specifically gets date-type data
    assert_eq!(
        session.get("DATE_FROM_STEP_1_DATE"),
        (json!("2025-01-15T10:30:00Z"), "typed")
    );
    // `URL_FROM_STEP_3_URL` - Specifically gets URL-type data
    assert_eq!(
        session.get("URL_FROM_STEP_2_URL"),
        (json!("https://example.com/7"), "direct")
    );
    assert_eq!(
        session.get("WHEN_FROM_STEP_2_DATE"),
        (json!("2025-01-15"), "direct")
    );
    assert_eq!(session.resolve("DATE_FROM_STEP_1_DATE").type_name, "date");
    assert_eq!(session.resolve("URL_FROM_STEP_2_URL").type_name, "url");
    assert_eq!(session.resolve("URL_FROM_STEP_2").type_name, "string");
}

/// "Legacy Format (Backward Compatibility)" and "Migration Guide".
#[test]
fn legacy_format() {
    let session = Session::of(&[
        "{}",
        r#"{"completionDate": "2025-01-15"}"#,
        r#"{"id": 12345}"#,
    ]);
    // RESULT_FROM_STEP_2_COMPLETION_DATE -> DATE_FROM_STEP_2
    assert_eq!(
        session.get("RESULT_FROM_STEP_2_COMPLETION_DATE"),
        (json!("2025-01-15"), "case_insensitive")
    );
    assert_eq!(session.get("DATE_FROM_STEP_2").0, json!("2025-01-15"));
    // PULL_REQUEST_ID_FROM_STEP_3_RESULT -> ID_FROM_STEP_3
    assert_eq!(
        session.get("PULL_REQUEST_ID_FROM_STEP_3_RESULT"),
        (json!(12345), "mapping")
    );
    assert_eq!(session.get("ID_FROM_STEP_3"), (json!(12345), "direct"));
}

/// "Example 1: Azure DevOps Workflow".
#[test]
fn azure_dev_ops_workflow() {
    let list = r#"{"content":[{"type":"text","text":"[{\"pullRequestId\": 501, \"createdDate\": \"2025-01-10\", \"closedDate\": \"2025-01-15T10:30:00Z\"}]"}]}"#;
    let session = Session::of(&[
        list,
        r#"{"value":[{"pullRequestId":612,"repository":{"id":"r-1"}},{"pullRequestId":613}]}"#,
    ]);
    // afterClosedDate=DATE_FROM_STEP_1
    assert_eq!(
        session.get("DATE_FROM_STEP_1"),
        (json!("2025-01-15T10:30:00Z"), "mapping")
    );
    // pullRequestId=ID_FROM_STEP_2: the words match a nested `id`, so the pull request is requested by its own name.
    assert_eq!(session.get("PULL_REQUEST_ID_FROM_STEP_2").0, json!(612));
}

/// "Example 2: Generic API Workflow".
#[test]
fn generic_api_workflow() {
    let session = Session::of(&[
        "User 12345: Mina Okafor <mina@okafor.example>",
        r#"{"projects": [{"id": "p-9", "url": "https://api.example.com/p/9"}]}"#,
    ]);
    // authorEmail=EMAIL_FROM_STEP_1
    assert_eq!(
        session.get("EMAIL_FROM_STEP_1"),
        (json!("mina@okafor.example"), "extracted")
    );
    // projectId=ID_FROM_STEP_2, projectUrl=URL_FROM_STEP_2
    assert_eq!(
        session.get("ID_FROM_STEP_2"),
        (json!("p-9"), "case_insensitive")
    );
    assert_eq!(
        session.get("URL_FROM_STEP_2"),
        (json!("https://api.example.com/p/9"), "case_insensitive")
    );
}

/// "Example 3: Multi-Source Data".
#[test]
fn multi_source_data() {
    let session = Session::of(&[
        "[{'id': 4001, 'name': 'Mina', 'created_at': '2024-01-03T08:10:00Z'}]",
        r#"{"rows": [1, 2]}"#,
    ]);
    // userIds=ID_FROM_STEP_1_ID, lastUpdate=DATE_FROM_STEP_1_DATE
    assert_eq!(
        session.get("ID_FROM_STEP_1_ID"),
        (json!(4001), "case_insensitive")
    );
    assert_eq!(
        session.get("DATE_FROM_STEP_1_DATE"),
        (json!("2024-01-03T08:10:00Z"), "typed")
    );
    // dataSource=JSON_FROM_STEP_2, reportTitle=TITLE_FROM_STEP_1
    assert_eq!(
        session.get("JSON_FROM_STEP_2"),
        (json!({"rows":[1,2]}), "extracted")
    );
    assert_eq!(session.get("TITLE_FROM_STEP_1"), (json!("Mina"), "mapping"));
}

/// "Missing Steps": `ID_FROM_STEP_99 → null (step 99 not found)`.
#[test]
fn missing_steps() {
    let session = Session::of(&[PULL]);
    let (reason, message) = session.none("ID_FROM_STEP_99");
    assert_eq!(reason, "step_not_found");
    assert!(message.starts_with("step 99 not found"), "{message}");
    assert!(
        Session::default()
            .none("ID_FROM_STEP_LAST")
            .1
            .contains("no steps yet")
    );
}

/// "Missing Fields": `NONEXISTENT_FROM_STEP_2 → null (field not found)`.
#[test]
fn missing_fields() {
    let session = Session::of(&[PULL, r#"{"titel": 1, "b": {"titles": 2}, "x": null}"#]);
    let (reason, message) = session.none("NONEXISTENT_FROM_STEP_2");
    assert_eq!(reason, "field_not_found");
    assert!(message.starts_with("field not found"), "{message}");
    assert_eq!(
        session.none("X_FROM_STEP_2").0,
        "field_not_found",
        "null is not a value"
    );
    let resolution = session.resolve("TITLE_TEXT_FROM_STEP_2");
    assert_eq!(resolution.nearest[..2], ["titles", "titel"]);
    assert_eq!(resolution.step, Some(2));
}

/// "Type Mismatches": `ID_FROM_STEP_2_URL → null (no URLs found in step 2)`.
#[test]
fn type_mismatches() {
    let session = Session::of(&[PULL, r#"{"id": 12345}"#]);
    let expected = ("type_mismatch", "no URLs found in step 2".to_owned());
    assert_eq!(session.none("ID_FROM_STEP_2_URL"), expected);
    // A field of another type does not count; the first value of the type does.
    assert_eq!(
        session.get("TITLE_FROM_STEP_1_URL"),
        (json!("https://example.com/pr/12345"), "typed")
    );
}

/// "Variable Naming": `AUTHOR_EMAIL_FROM_STEP_1` vs `EMAIL_FROM_STEP_1`, `ID_FROM_STEP_2_ID` vs `ID_FROM_STEP_2_NUMBER`.
#[test]
fn variable_naming() {
    let session = Session::of(&[
        r#"{"reviewer": {"email": "r@example.com"}, "author": {"email": "a@example.com"}}"#,
        r#"{"id": "abc", "n": 5}"#,
        r#"[{"author": {"email": "first@example.com"}}]"#,
    ]);
    assert_eq!(
        session.get("AUTHOR_EMAIL_FROM_STEP_1"),
        (json!("a@example.com"), "case_insensitive")
    );
    assert_eq!(
        session.get("author.email_FROM_STEP_1"),
        (json!("a@example.com"), "direct")
    );
    assert_eq!(
        session.get("EMAIL_FROM_STEP_1"),
        (json!("r@example.com"), "case_insensitive")
    );
    assert_eq!(session.get("ID_FROM_STEP_2_ID").0, json!("abc"));
    assert_eq!(session.get("ID_FROM_STEP_2_NUMBER"), (json!(5), "typed"));
    assert_eq!(
        session.get("AUTHOR_EMAIL_FROM_STEP_3").0,
        json!("first@example.com")
    );
    assert_eq!(
        session.get("[0].author.email_FROM_STEP_3"),
        (json!("first@example.com"), "direct")
    );
}

/// "Custom Field Mappings": `ticket` and `priority`; and a custom extractor, which variables ask for by its name.
#[test]
fn custom_field_mappings_and_extractors() {
    let list = |field: &str, aliases: &[&str]| FieldMapping {
        field: field.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
    };
    let mappings = [
        list("ticket", &["ticket", "ticketid", "issue", "issueid"]),
        list("priority", &["priority", "pri", "importance", "urgency"]),
    ];
    let incident = Extractor {
        name: "incident".to_owned(),
        pattern: Some("INC[0-9]{7}".to_owned()),
        ..Extractor::default()
    };
    let set = Arc::new(ExtractorSet::new(&[incident], &mappings).unwrap());
    let mut session = Session {
        set,
        ..Session::default()
    };
    session.add(
        1,
        r#"{"issueId": 62, "urgency": "high", "note": "see INC0048213"}"#,
    );
    assert_eq!(session.get("TICKET_FROM_STEP_1"), (json!(62), "mapping"));
    assert_eq!(
        session.get("PRIORITY_FROM_STEP_1"),
        (json!("high"), "mapping")
    );
    assert_eq!(
        session.get("INCIDENT_FROM_STEP_1"),
        (json!("INC0048213"), "extracted")
    );
    assert_eq!(
        session.get("NOTE_FROM_STEP_1_INCIDENT"),
        (json!("INC0048213"), "direct")
    );
    assert_eq!(
        session.resolve("INCIDENT_FROM_STEP_1").type_name,
        "incident"
    );
}

/// "When multiple values are found: first value is used by default, all values stored for advanced processing".
#[test]
fn multi_value_handling() {
    let session = Session::of(&[
        r#"[{"id":1,"author":{"id":9}},{"id":2,"author":{"id":9}},{"labels":["a","b"]}]"#,
    ]);
    let resolution = session.resolve("ID_FROM_STEP_1");
    assert_eq!(resolution.value, json!(1));
    assert_eq!(
        resolution.values,
        Some(vec![json!(1), json!(2), json!(9), json!(9)]),
        "shallow ones first"
    );
    assert_eq!(
        session.get("ALL_IDS_FROM_STEP_1"),
        (json!([1, 2]), "all"),
        "the items' own"
    );
    assert_eq!(session.get("ALL_ID_FROM_STEP_1").0, json!([1, 2]));
    assert_eq!(session.get("ALL_LABELS_FROM_STEP_1").0, json!(["a", "b"]));
    assert_eq!(session.none("ALL_SHOES_FROM_STEP_1").0, "field_not_found");
    let mails = Session::of(&["a@example.com b@example.com a@example.com"]);
    assert_eq!(
        mails.get("ALL_EMAILS_FROM_STEP_1").0,
        json!(["a@example.com", "b@example.com"])
    );
}

#[test]
fn counts_and_raw_and_combined_results() {
    let session = Session::of(&[
        r#"{"count": 24, "results": [1]}"#,
        r#"{"data": {"items": [1, null, 3]}}"#,
        "{\"a\":1}\n{\"a\":2}",
        "plain",
    ]);
    assert_eq!(session.get("COUNT_FROM_STEP_1"), (json!(24), "direct"));
    assert_eq!(session.get("COUNT_FROM_STEP_2"), (json!(3), "count"));
    assert_eq!(session.get("COUNT_FROM_STEP_3"), (json!(2), "count"));
    assert_eq!(session.none("COUNT_FROM_STEP_4").0, "field_not_found");
    assert_eq!(session.get("RESULT_FROM_STEP_4"), (json!("plain"), "raw"));
    assert_eq!(
        session.get("COMBINED_RESULTS_FROM_STEPS_3_TO_4"),
        (json!("{\"a\":1}\n{\"a\":2}\n\nplain"), "combined")
    );
    let (reason, message) = session.none("COMBINED_RESULTS_FROM_STEPS_1_TO_1000000");
    assert_eq!(
        (reason, message.starts_with("step 1000000 not found")),
        ("step_not_found", true)
    );
    let with_result = Session::of(&[r#"{"result": "ok"}"#]);
    assert_eq!(
        with_result.get("RESULT_FROM_STEP_1"),
        (json!(r#"{"result": "ok"}"#), "raw")
    );
    assert_eq!(
        with_result.get("RESULT_FROM_STEP_1_RESULT"),
        (json!("ok"), "direct")
    );
}

#[test]
fn relative_steps() {
    let mut session = Session::of(&[r#"{"id":1}"#, r#"{"id":2}"#, r#"{"id":3}"#]);
    assert_eq!(session.get("ID_FROM_STEP_LAST").0, json!(3));
    assert_eq!(session.get("ID_FROM_STEP_PREVIOUS").0, json!(3));
    session.current = Some(3);
    assert_eq!(session.get("ID_FROM_STEP_PREVIOUS").0, json!(2));
    assert_eq!(session.get("ID_FROM_STEP_LAST").0, json!(3));
    session.current = Some(1);
    assert_eq!(session.none("ID_FROM_STEP_PREVIOUS").0, "step_not_found");
}

#[test]
fn failed_steps_say_why() {
    let mut session = Session::default();
    session.failed(
        1,
        r#"{"content":[{"type":"text","text":"404 for order 70010: gone"}],"isError":true}"#,
        None,
    );
    let (reason, message) = session.none("ID_FROM_STEP_1");
    assert_eq!(reason, "step_failed", "the text of an error is not mined");
    assert!(message.starts_with("step 1 failed"), "{message}");
    assert_eq!(
        session.get("ERROR_FROM_STEP_1"),
        (json!("404 for order 70010: gone"), "outcome")
    );
    assert_eq!(
        session.get("ID_FROM_FAILED_STEP_1"),
        (json!("70010"), "extracted"),
        "unless it is asked for"
    );
    session.failed(
        2,
        r#"{"orderId": 70011}"#,
        Some("timed out after order 70010"),
    );
    let (reason, message) = session.none("ORDER_ID_FROM_STEP_2");
    assert_eq!(reason, "step_failed");
    assert_eq!(
        message,
        "step 2 failed: timed out after order 70010; ERROR_FROM_STEP_2 is its error, ORDER_ID_FROM_FAILED_STEP_2 \
         takes a value in spite of it"
    );
    let asked = session.resolve("ORDER_ID_FROM_FAILED_STEP_2");
    assert_eq!((asked.value, asked.attempt), (json!(70011), Some(2)));
    assert_eq!(
        session.none("NAME_FROM_FAILED_STEP_2").1,
        "step 2 failed and has no `NAME`: timed out after order 70010"
    );
    assert_eq!(
        session.get("STATUS_FROM_STEP_2"),
        (json!("failed"), "outcome")
    );
    session.add(3, r#"{"id": 1}"#);
    let (reason, message) = session.none("COMBINED_RESULTS_FROM_STEPS_2_TO_3");
    assert_eq!(reason, "step_failed");
    assert!(
        message.contains("COMBINED_RESULTS_FROM_FAILED_STEPS_2_TO_3"),
        "{message}"
    );
    assert_eq!(
        session.get("COMBINED_RESULTS_FROM_FAILED_STEPS_2_TO_3").0,
        json!("{\"orderId\": 70011}\n\n{\"id\": 1}")
    );
    // A name for failed steps takes the value of one that succeeded as well.
    assert_eq!(session.get("ID_FROM_FAILED_STEP_3").0, json!(1));
}

/// The place of each kind of value.
#[test]
fn a_value_is_told_with_its_place() {
    let session = Session::of(&[
        r#"{"value":[{"pullRequestId":5,"author":{"mail":"a@example.com"}}]}"#,
        "Owner: Zoë <zoe@example.com>, id 12345",
    ]);
    for (name, place) in [
        ("ID_FROM_STEP_1", "value[0].pullRequestId"),
        ("AUTHOR_MAIL_FROM_STEP_1", "value[0].author.mail"),
        ("AUTHOR_FROM_STEP_1_EMAIL", "value[0].author"),
        (
            "EMAIL_FROM_STEP_1",
            "email extractor, byte 47 of the result",
        ),
        ("COUNT_FROM_STEP_1", "length of value"),
        ("RESULT_FROM_STEP_1", "the whole result"),
        ("ALL_IDS_FROM_STEP_1", "value[0].pullRequestId"),
        ("OWNER_FROM_STEP_2", "Owner"),
        ("ID_FROM_STEP_2", "id extractor, byte 34 of the result"),
        (
            "COMBINED_RESULTS_FROM_STEPS_1_TO_2",
            "the results of steps 1 to 2",
        ),
    ] {
        let place = Some(place.to_owned());
        assert_eq!(session.resolve(name).found_at, place, "{name}");
    }
}

/// Each value is reserved before it is built: what exceeds the limit of the call is refused, and smaller values still fit.
#[test]
fn values_are_limited_together() {
    let long = "x".repeat(1000);
    let result =
        json!({"note": long, "list": [{"note": long}, {"note": long}], "id": 7}).to_string();
    for name in [
        "NOTE_FROM_STEP_1",
        "LIST_FROM_STEP_1",
        "RESULT_FROM_STEP_1",
        "RESULT_FROM_STEP_1_JSON",
        "ALL_NOTES_FROM_STEP_1",
        "NOTES_FROM_STEP_1",
        "COMBINED_RESULTS_FROM_STEPS_1_TO_1",
    ] {
        let session = Session::of(&[&result]);
        assert_ne!(session.get(name).0, Value::Null, "{name}");
        session.bytes_left.set(Some(900));
        let (reason, message) = session.none(name);
        assert_eq!(reason, "too_large", "{name}");
        assert!(message.contains("fewer"), "{message}");
        assert_eq!(session.get("ID_FROM_STEP_1").0, json!(7), "{name}");
    }
    let mut session = Session::of(&[&result]);
    session.failed(2, "", Some(&long));
    session.bytes_left.set(Some(900));
    assert_eq!(session.none("ERROR_FROM_STEP_2").0, "too_large");
    let resolver = Resolver {
        history: &session,
        set: &session.set,
        current_step: None,
        all_values: false,
        explain: false,
    };
    session.bytes_left.set(Some(6000));
    let Ok(list) = resolver.resolve_list("NOTE_FROM_STEP_1");
    assert_eq!(list.reason, None);
    session.bytes_left.set(Some(1500));
    let Ok(list) = resolver.resolve_list("LIST_NOTE_FROM_STEP_1");
    assert_eq!(
        (list.value, list.reason),
        (Value::Null, Some(Reason::TooLarge))
    );
}

/// The memory of a value counts all that is in it.
#[test]
fn memory_of_values_is_estimated() {
    let session = Session::of(&[r#"{"a":[1,2,3],"b":"text"}"#]);
    let step = session.steps.get(&1).unwrap();
    let nodes = step.parsed().nodes();
    let root = nodes.roots()[0];
    assert_eq!(nodes.held_bytes(root), 6 * 128 + step.raw.len());
    let number = nodes.children(root + 1).next().unwrap().0;
    assert_eq!(nodes.held_bytes(number), 128 + 1);
    assert_eq!(nodes.held_bytes(99), 0);
}

#[test]
fn malformed_names_are_told_so() {
    let resolution = Session::of(&[PULL]).resolve("ID_FROM_STEP_0");
    assert_eq!(resolution.reason, Some(Reason::MalformedName));
    assert_eq!(resolution.step, None);
}

#[test]
fn a_reply_names_step_attempt_and_position() {
    let resolution = Session::of(&[PULL]).resolve("{{TITLE_FROM_STEP_1}}");
    assert_eq!(
        (resolution.step, resolution.attempt, resolution.position),
        (Some(1), Some(1), Some(101))
    );
    assert_eq!(resolution.type_name, "string");
    assert_eq!(resolution.name, "{{TITLE_FROM_STEP_1}}");
}

proptest! {
    /// At equal depth a name wins over an alias, and a shallow match over a deep one; extracted values come last.
    #[test]
    fn the_shallowest_match_wins(direct in any::<bool>(), cased in any::<bool>(), mapped in any::<bool>(), deep in any::<bool>(), extracted in any::<bool>()) {
        let mut object = serde_json::Map::new();
        if extracted { object.insert("note".into(), json!("on 2025-01-05")); }
        if deep { object.insert("inner".into(), json!({"date": "2025-01-04"})); }
        if mapped { object.insert("closedDate".into(), json!("2025-01-03")); }
        if cased { object.insert("Da-te".into(), json!("2025-01-02")); }
        if direct { object.insert("date".into(), json!("2025-01-01")); }
        let session = Session::of(&[&Value::Object(object).to_string()]);
        let expected = [
            (direct, "2025-01-01", "direct"),
            (cased, "2025-01-02", "case_insensitive"),
            (mapped, "2025-01-03", "mapping"),
            (deep, "2025-01-04", "case_insensitive"),
            (extracted, "2025-01-05", "extracted"),
        ];
        let expected = expected.into_iter().find(|(there, _, _)| *there);
        match expected {
            Some((_, value, strategy)) => prop_assert_eq!(session.get("DATE_FROM_STEP_1"), (json!(value), strategy)),
            None => prop_assert_eq!(session.none("DATE_FROM_STEP_1").0, "field_not_found"),
        }
    }

    /// Every top-level field of any object is found directly by its own name.
    #[test]
    fn every_field_is_found(key in "[a-z][a-z0-9_]{0,10}", value in any::<i64>()) {
        let raw = json!({"other": {key.clone(): 0}, key.clone(): value}).to_string();
        let name = format!("{}_FROM_STEP_1", key.to_uppercase());
        prop_assume!(!key.starts_with("all_") && key != "other" && key != "result" && key != "count");
        prop_assert_eq!(Session::of(&[&raw]).get(&name), (json!(value), "direct"));
    }
}
