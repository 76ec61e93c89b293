//! Variable names in all written forms, and invalid names.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<Name, NameError> {
    parse(text, &ExtractorSet::default())
}

fn field(field: &str, step: u32, of: Option<&str>) -> Name {
    Name::Field {
        field: field.into(),
        step: StepRef::Number(step),
        of: of.map(Into::into),
        failed: false,
    }
}

#[test]
fn the_generic_format() {
    for (text, name, step) in [
        ("ID_FROM_STEP_2", "ID", 2),
        ("DATE_FROM_STEP_1", "DATE", 1),
        ("TITLE_FROM_STEP_3", "TITLE", 3),
        ("STATUS_FROM_STEP_2", "STATUS", 2),
        ("AUTHOR_FROM_STEP_1", "AUTHOR", 1),
        ("BRANCH_FROM_STEP_4", "BRANCH", 4),
        ("AUTHOR_EMAIL_FROM_STEP_1", "AUTHOR_EMAIL", 1),
        ("id_from_step_1000000", "id", STEP_MAX),
        ("author.email_FROM_STEP_1", "author.email", 1),
    ] {
        assert_eq!(read(text), Ok(field(name, step, None)), "{text}");
    }
}

#[test]
fn the_typed_format() {
    for (text, name, step, of) in [
        ("ID_FROM_STEP_2_ID", "ID", 2, "id"),
        ("DATE_FROM_STEP_1_DATE", "DATE", 1, "date"),
        ("URL_FROM_STEP_3_URL", "URL", 3, "url"),
        ("ID_FROM_STEP_2_NUMBER", "ID", 2, "number"),
        ("x_from_step_9_Email", "x", 9, "email"),
    ] {
        assert_eq!(read(text), Ok(field(name, step, Some(of))), "{text}");
    }
}

#[test]
fn the_legacy_formats() {
    assert_eq!(
        read("RESULT_FROM_STEP_2_COMPLETION_DATE"),
        Ok(field("COMPLETION_DATE", 2, None))
    );
    assert_eq!(
        read("PULL_REQUEST_ID_FROM_STEP_3_RESULT"),
        Ok(field("PULL_REQUEST_ID", 3, None))
    );
    assert_eq!(
        read("RESULT_FROM_STEP_2_DATE"),
        Ok(field("DATE", 2, None)),
        "not the type"
    );
    assert_eq!(
        read("RESULT_FROM_STEP_2"),
        Ok(Name::Result {
            step: StepRef::Number(2),
            failed: false
        })
    );
    assert_eq!(
        read("RESULT_FROM_STEP_2_RESULT"),
        Ok(field("RESULT", 2, None)),
        "the field of this name"
    );
}

#[test]
fn lists_counts_and_ranges() {
    let step = StepRef::Number(2);
    assert_eq!(
        read("ALL_IDS_FROM_STEP_2"),
        Ok(Name::All {
            field: "IDS".into(),
            step,
            of: None,
            failed: false
        })
    );
    assert_eq!(
        read("COUNT_FROM_STEP_2"),
        Ok(Name::Count {
            step,
            failed: false
        })
    );
    assert_eq!(
        read("FILE_COUNT_FROM_STEP_2"),
        Ok(field("FILE_COUNT", 2, None))
    );
    assert_eq!(
        read("COMBINED_RESULTS_FROM_STEPS_1_TO_3"),
        Ok(Name::Combined {
            from: StepRef::Number(1),
            to: StepRef::Number(3),
            failed: false
        })
    );
    assert_eq!(read("all_from_step_2"), Ok(field("all", 2, None)));
}

#[test]
fn steps_may_be_relative() {
    let last = Name::Field {
        field: "ID".into(),
        step: StepRef::Last,
        of: None,
        failed: false,
    };
    assert_eq!(read("ID_FROM_STEP_LAST"), Ok(last));
    let previous = Name::Field {
        field: "ID".into(),
        step: StepRef::Previous,
        of: Some("url".into()),
        failed: false,
    };
    assert_eq!(read("ID_from_STEP_previous_URL"), Ok(previous));
}

#[test]
fn failed_steps_are_asked_for_by_name() {
    let step = StepRef::Number(2);
    let failed = true;
    for (text, name) in [
        (
            "Detail_from_failed_step_2",
            Name::Field {
                field: "Detail".into(),
                step,
                of: None,
                failed,
            },
        ),
        (
            "{{URL_FROM_FAILED_STEP_2_URL}}",
            Name::Field {
                field: "URL".into(),
                step,
                of: Some("url".into()),
                failed,
            },
        ),
        (
            "ALL_IDS_FROM_FAILED_STEP_2",
            Name::All {
                field: "IDS".into(),
                step,
                of: None,
                failed,
            },
        ),
        (
            "RESULT_FROM_FAILED_STEP_2_DETAIL",
            Name::Field {
                field: "DETAIL".into(),
                step,
                of: None,
                failed,
            },
        ),
        ("RESULT_FROM_FAILED_STEP_2", Name::Result { step, failed }),
        ("COUNT_FROM_FAILED_STEP_2", Name::Count { step, failed }),
        (
            "COMBINED_RESULTS_FROM_FAILED_STEPS_2_TO_LAST",
            Name::Combined {
                from: step,
                to: StepRef::Last,
                failed,
            },
        ),
    ] {
        assert_eq!(read(text), Ok(name), "{text}");
    }
    assert_eq!(read("FAILED_FROM_STEP_2"), Ok(field("FAILED", 2, None)));
    let two = read("A_FROM_STEP_1_FROM_FAILED_STEP_2").unwrap_err();
    assert!(two.to_string().contains("one name for each"), "{two}");
}

#[test]
fn what_people_put_around_a_name_is_taken_off() {
    for text in [
        "{ID_FROM_STEP_2}",
        "{{ID_FROM_STEP_2}}",
        "{{ ID_FROM_STEP_2 }}",
        "`ID_FROM_STEP_2`",
        " ID_FROM_STEP_2 (the pull request)",
        "`{ID_FROM_STEP_2}` (from the list (newest))",
        "**ID_FROM_STEP_2**",
        "**`ID_FROM_STEP_2`** (the pull request)",
        "${ID_FROM_STEP_2}",
        "${{ ID_FROM_STEP_2 }}",
        "$ID_FROM_STEP_2",
        "<ID_FROM_STEP_2>",
        "\"ID_FROM_STEP_2\"",
        "'ID_FROM_STEP_2'",
    ] {
        assert_eq!(read(text), Ok(field("ID", 2, None)), "{text}");
    }
}

#[test]
fn what_is_no_name_is_told_what_would_be() {
    for (text, hint) in [
        ("ID", "FIELD_FROM_STEP_N"),
        ("", "FIELD_FROM_STEP_N"),
        ("ID_FROM_STEP_0", "from 1 to 1000000"),
        ("ID_FROM_STEP_1000001", "from 1 to 1000000"),
        ("ID_FROM_STEP_99999999999999999999", "from 1 to 1000000"),
        ("ID_FROM_STEP_-1", "from 1 to 1000000"),
        ("ID_FROM_STEP_", "LAST or PREVIOUS"),
        ("ID_FROM_STEP_two", "LAST or PREVIOUS"),
        ("_FROM_STEP_2", "ID_FROM_STEP_2"),
        ("ID_FROM_STEP_2_", "ID_FROM_STEP_2"),
        ("ID_FROM_STEP_2_COLOUR", "COLOUR_FROM_STEP_2"),
        ("ID_FROM_STEP_2_FROM_STEP_3", "one name for each"),
        (
            "IDS_FROM_STEPS_1_TO_2",
            "COMBINED_RESULTS_FROM_STEPS_1_TO_3",
        ),
        (
            "COMBINED_RESULTS_FROM_STEPS_3",
            "COMBINED_RESULTS_FROM_STEPS_1_TO_3",
        ),
        (
            "COMBINED_RESULTS_FROM_STEPS_3_TO_1",
            "COMBINED_RESULTS_FROM_STEPS_1_TO_3",
        ),
        (&"X".repeat(300), "at most 256 bytes"),
    ] {
        let refusal = read(text).unwrap_err();
        assert!(refusal.to_string().contains(hint), "{text}: {refusal}");
    }
}

proptest! {
    /// A formatted name parses to an equal name.
    #[test]
    fn names_round_trip(text in "(ALL_|RESULT|COUNT)?[A-Za-z_.]{0,12}_FROM_(FAILED_)?STEPS?_([1-9][0-9]{0,5}|LAST|previous)(_TO_[1-9])?(_[A-Za-z]{1,8}|_URL|_RESULT)?") {
        if let Ok(name) = read(&text) {
            prop_assert_eq!(read(&name.to_string()), Ok(name));
        }
    }

    /// No text makes the parser panic.
    #[test]
    fn any_text_is_read(text in any::<String>(), number in any::<u64>()) {
        prop_assert!(read(&text).is_err() || has_marker(&text));
        let _ = read(&format!("{text}_FROM_STEP_{number}_{text}"));
    }
}
