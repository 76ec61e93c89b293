//! What is different, shown by making one context into the other.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::canonical::Canonical;

/// Changes as one line each.
fn lines(old: &str, new: &str) -> Vec<String> {
    let found = difference(old, new, usize::MAX);
    assert_eq!(found.left_out, 0);
    let line = |change: &Change| match (change.old, change.new) {
        (Some(old), Some(new)) => format!("~ {} {old} {new}", change.pointer),
        (Some(old), None) => format!("- {} {old}", change.pointer),
        (None, new) => format!("+ {} {}", change.pointer, new.unwrap()),
    };
    found.changes.iter().map(line).collect()
}

#[test]
fn each_place_that_differs_is_named() {
    // Values of `a`.
    for (old, new, expected) in [
        ("1", "1", &[][..]),
        ("1", "1.0", &["~ /a 1 1.0"]),
        (
            "0.12345678901234567",
            "0.12345678901234568",
            &["~ /a 0.12345678901234567 0.12345678901234568"],
        ),
        (
            r#"{"b":{"c":1},"d":"x"}"#,
            r#"{"b":{"c":2},"d":"x"}"#,
            &["~ /a/b/c 1 2"],
        ),
        ("{}", "[]", &["~ /a {} []"]),
        ("[1,2,3]", "[1,2,3,4]", &["+ /a/3 4"]),
        ("[1,2,3]", "[0,1,2,3]", &["+ /a/0 0"]),
        ("[1,2,3]", "[1,9,8,2,3]", &["+ /a/1 9", "+ /a/2 8"]),
        ("[1,2,3,4]", "[1,4]", &["- /a/2 3", "- /a/1 2"]),
        ("[1,1,1]", "[1,1]", &["- /a/2 1"]),
        ("[1,[2,3],4]", "[1,[2],4]", &["- /a/1/1 3"]),
        ("[1,2,3]", "[1,5,6,3]", &["~ /a/1 2 5", "+ /a/2 6"]),
        ("[]", r#"[{"b":"[,]"}]"#, &[r#"+ /a/0 {"b":"[,]"}"#]),
    ] {
        let of = |value| format!(r#"{{"a":{value}}}"#);
        assert_eq!(lines(&of(old), &of(new)), expected, "{old} {new}");
    }
    for (old, new, expected) in [
        (
            r#"{"a":1,"b":2}"#,
            r#"{"b":3,"c":4}"#,
            &["- /a 1", "~ /b 2 3", "+ /c 4"][..],
        ),
        (r#"{"a":null}"#, "{}", &["- /a null"]),
        (r#"{"":{"":1}}"#, r#"{"":{"":2}}"#, &["~ // 1 2"]),
        (
            r#"{"a/b~1":1,"\"\n":1}"#,
            r#"{"a/b~1":2,"\"\n":2}"#,
            &["~ /\"\n 1 2", "~ /a~1b~01 1 2"],
        ),
    ] {
        assert_eq!(lines(old, new), expected, "{old} {new}");
    }
}

#[test]
fn what_is_no_json_is_compared_as_a_whole() {
    assert_eq!(lines("{\"a", "{\"b"), ["~  {\"a {\"b"]);
    assert_eq!(lines("", "{}"), ["~   {}"]);
}

#[test]
fn contexts_as_deep_as_they_may_be_are_taken_apart_to_the_end() {
    let deep = |value: &str| {
        let json = r#"{"a":"#.repeat(DEPTH_MAX) + value + &"}".repeat(DEPTH_MAX);
        Canonical::of(&json).unwrap().text
    };
    let place = "/a".repeat(DEPTH_MAX);
    assert_eq!(lines(&deep("1"), &deep("2")), [format!("~ {place} 1 2")]);
    // Deeper ones, which no context is, end the walk where the limit is.
    let deeper = |value| format!("{}{value}{}", "[".repeat(1000), "]".repeat(1000));
    let (old, new) = (deeper(1), deeper(2));
    let found = difference(&old, &new, 1);
    assert_eq!(found.changes[0].pointer, "/0".repeat(DEPTH_MAX));
}

#[test]
fn keys_alone_are_compared_in_their_order() {
    let old = Canonical::of(r#"{"same":[1],"gone":1,"other":{"a":1},"😀":1,"\ufb33":1}"#).unwrap();
    let new = Canonical::of(r#"{"same":[1],"here":1,"other":{"a":1.0},"\ufb33":2}"#).unwrap();
    let found = key_difference(old.members(), new.members());
    assert_eq!(found.added, ["here"]);
    assert_eq!(found.removed, ["gone", "😀"]);
    assert_eq!(found.changed, ["other", "\u{fb33}"]);
}

/// Applies a change the way RFC 6902 does, after looking whether it says what was there.
fn apply(value: &mut Value, change: &Change) {
    let parsed = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    if let (Some(old), Some(new)) = (change.old, change.new) {
        let place = value.pointer_mut(&change.pointer).unwrap();
        assert_eq!(*place, parsed(old));
        *place = parsed(new);
        return;
    }
    let (parent, token) = change.pointer.rsplit_once('/').unwrap();
    let token = token.replace("~1", "/").replace("~0", "~");
    match (value.pointer_mut(parent).unwrap(), change.new) {
        (Value::Object(object), Some(new)) => {
            assert_eq!(object.insert(token, parsed(new)), None);
        }
        (Value::Object(object), None) => {
            assert_eq!(object.shift_remove(&token), change.old.map(parsed));
        }
        (Value::Array(array), Some(new)) => {
            array.insert(token.parse().unwrap(), parsed(new));
        }
        (Value::Array(array), None) => {
            assert_eq!(
                Some(array.remove(token.parse().unwrap())),
                change.old.map(parsed)
            );
        }
        (other, _) => panic!("{change:?} in {other}"),
    }
}

/// Few keys and few values, so that two contexts have much in common.
fn contexts() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        (0..3).prop_map(|number| json!(number)),
        "[ab]".prop_map(|text| json!(text)),
        Just(serde_json::from_str("1.0").unwrap()),
    ];
    let value = scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            objects(inner),
        ]
    });
    objects(value)
}

fn objects(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let members = proptest::collection::btree_map("[ab/~0]{0,2}", value, 0..5);
    members.prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn the_difference_applied_to_the_first_gives_the_second(
        first in contexts(),
        second in contexts(),
        limit in 0_usize..6,
    ) {
        let canonical = |value: &Value| Canonical::of(&value.to_string()).unwrap();
        let (old, new) = (canonical(&first), canonical(&second));
        let found = difference(&old.text, &new.text, usize::MAX);
        prop_assert_eq!(found.left_out, 0);
        prop_assert_eq!(found.changes.is_empty(), old.text == new.text);
        prop_assert_eq!(&difference(&old.text, &old.text, 9), &ContextDiff::default());
        let mut value = first;
        for change in &found.changes {
            apply(&mut value, change);
        }
        prop_assert_eq!(&value, &second);
        prop_assert_eq!(&canonical(&value), &new);

        let shortened = difference(&old.text, &new.text, limit);
        let kept = limit.min(found.changes.len());
        prop_assert_eq!(&shortened.changes[..], &found.changes[..kept]);
        prop_assert_eq!(shortened.left_out, found.changes.len() - kept);

        // The keys are the first tokens of the pointers.
        let keys = key_difference(old.members(), new.members());
        let mut named: Vec<_> = [keys.added, keys.removed, keys.changed].concat();
        named.sort_unstable();
        let first_token = |change: &Change| {
            let token = change.pointer.split('/').nth(1).unwrap();
            token.replace("~1", "/").replace("~0", "~")
        };
        let tokens: BTreeSet<String> = found.changes.iter().map(first_token).collect();
        prop_assert_eq!(named, tokens.iter().collect::<Vec<_>>());
    }
}
