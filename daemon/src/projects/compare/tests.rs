//! Comparing loses nothing: small cases, and properties of arbitrary texts.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use proptest::prelude::*;

use super::LONGEST;

mod unified {
    use super::super::unified::*;
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        unified(old, new, ["a", "b"], 1, LONGEST).text
    }

    #[test]
    fn shapes() {
        assert_eq!(diff("same\n", "same\n"), "");
        assert_eq!(
            diff("one\ntwo\nthree\nfour\n", "one\ntwo\nTHREE\nfour\n"),
            "--- a\n+++ b\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n"
        );
        assert_eq!(diff("", "x\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            diff("x", "x\n"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"
        );
        assert_eq!(
            diff("x\r\n", "x\n"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\r\n+x\n"
        );
        let labelled = unified("", "x\n", ["a\n+b", "c"], 3, LONGEST).text;
        assert!(labelled.starts_with("--- a +b\n+++ c\n@@"), "{labelled}");
    }

    #[test]
    fn counts() {
        let difference = unified("a\nb\nc\n", "a\nB\nc\nd\n", ["", ""], 3, LONGEST);
        assert_eq!((difference.added, difference.removed), (2, 1));
    }

    /// Without time the result is coarse but correct.
    #[test]
    fn out_of_time() {
        let old: String = (0..20_000).map(|n| format!("{}\n", n % 7)).collect();
        let new: String = (0..20_000).map(|n| format!("{}\n", n % 11)).collect();
        let difference = unified(&old, &new, ["a", "b"], 3, Duration::ZERO);
        assert_eq!(applied(&old, &difference.text), new);
    }

    /// Applies the patch with an independent implementation.
    fn applied(old: &str, patch: &str) -> String {
        if patch.is_empty() {
            return old.to_owned();
        }
        diffy::apply(old, &diffy::Patch::from_str(patch).unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn applies(
            old in "([a-d]{0,2}(\n|\r\n|\r)){0,40}[a-c]?",
            new in "([a-d]{0,2}(\n|\r\n|\r)){0,40}[a-c]?",
            context in 1..4_usize,
        ) {
            let difference = unified(&old, &new, ["old", "new"], context, LONGEST);
            prop_assert_eq!(applied(&old, &difference.text), new.as_str());
            let back = unified(&new, &old, ["new", "old"], context, LONGEST);
            prop_assert_eq!(applied(&new, &back.text), old.as_str());
            prop_assert_eq!(
                old.split_inclusive('\n').count() + difference.added,
                new.split_inclusive('\n').count() + difference.removed
            );
        }
    }
}

mod merge {
    use super::super::merge::*;
    use super::*;

    const LABELS: [&str; 2] = ["ours", "theirs"];

    fn merged(base: &str, ours: &str, theirs: &str) -> Merge {
        merge(base, ours, theirs, LABELS, LONGEST)
    }

    fn clean(text: &str) -> Merge {
        Merge::Clean(text.to_owned())
    }

    fn conflicts(count: usize, text: &str) -> Merge {
        let text = text.to_owned();
        Merge::Conflicts { count, text }
    }

    #[test]
    fn changes_that_do_not_touch() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(
            merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"),
            clean("A\nb\nc\nd\nE\n")
        );
        assert_eq!(
            merged(base, "a\nc\nd\ne\n", "a\nb\nc\nd\ne\nf\n"),
            clean("a\nc\nd\ne\nf\n")
        );
        assert_eq!(
            merged(base, "0\na\nb\nc\nd\ne\n", "a\nb\nc\n"),
            clean("0\na\nb\nc\n")
        );
        assert_eq!(
            merged(base, "a\nb\nX\nd\ne\n", "a\nb\nX\nd\n"),
            clean("a\nb\nX\nd\n")
        );
    }

    #[test]
    fn changes_that_touch() {
        assert_eq!(
            merged("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n"),
            conflicts(
                1,
                "a\n<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\nc\n"
            )
        );
        assert_eq!(
            merged("a\n", "a\nsame\nx\nend\n", "a\nsame\ny\nend\n"),
            conflicts(
                1,
                "a\nsame\n<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\nend\n"
            )
        );
        assert_eq!(
            merged("a\nb\n", "b\n", "A\nb\n"),
            conflicts(1, "<<<<<<< ours\n=======\nA\n>>>>>>> theirs\nb\n")
        );
        assert_eq!(
            merged("a\nb\nc\nd\n", "1\nb\nc\n3\n", "2\nb\nc\n4\n"),
            conflicts(
                2,
                "<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\nb\nc\n\
                 <<<<<<< ours\n3\n=======\n4\n>>>>>>> theirs\n"
            )
        );
    }

    /// Line endings are preserved, and markers use the ending of the text. A last line without an ending gets one only
    /// before a marker.
    #[test]
    fn endings() {
        assert_eq!(
            merged("a\r\nb\nc", "A\r\nb\nc", "a\r\nb\nC"),
            clean("A\r\nb\nC")
        );
        assert_eq!(
            merged("a\r\n", "x", "y\r\nz"),
            conflicts(1, "<<<<<<< ours\nx\n=======\ny\r\nz\n>>>>>>> theirs\n")
        );
        assert_eq!(
            merged("a\r\n", "b\r\n", "c\r\n"),
            conflicts(1, "<<<<<<< ours\r\nb\r\n=======\r\nc\r\n>>>>>>> theirs\r\n")
        );
        let labelled = merge("a", "b", "c", ["o\n>>>>>>> x", "t"], LONGEST);
        let expected = "<<<<<<< o >>>>>>> x\nb\n=======\nc\n>>>>>>> t\n";
        assert_eq!(labelled, conflicts(1, expected));
    }

    /// Without time there are more conflicts, but nothing is lost.
    #[test]
    fn out_of_time() {
        let text =
            |modulus| -> String { (0..20_000).map(|n| format!("{}\n", n % modulus)).collect() };
        let (base, ours, theirs) = (text(5), text(7), text(11));
        let merge = merge(&base, &ours, &theirs, LABELS, Duration::ZERO);
        let Merge::Conflicts { text, .. } = &merge else {
            panic!("{merge:?}")
        };
        let (our_side, their_side) = sides(text);
        assert_eq!((our_side, their_side), (ours, theirs));
    }

    /// Resolves all conflicts of a text for each side.
    fn sides(text: &str) -> (String, String) {
        let (mut ours, mut theirs) = (String::new(), String::new());
        let (mut in_ours, mut in_theirs) = (true, true);
        for line in text.split_inclusive('\n') {
            match line {
                "<<<<<<< ours\n" => in_theirs = false,
                "=======\n" => (in_ours, in_theirs) = (false, true),
                ">>>>>>> theirs\n" => in_ours = true,
                line => {
                    ours.push_str(if in_ours { line } else { "" });
                    theirs.push_str(if in_theirs { line } else { "" });
                }
            }
        }
        (ours, theirs)
    }

    /// Few different lines, so that many of them match by accident.
    fn text() -> impl Strategy<Value = String> {
        "([a-d]\n|[ab]\r\n){0,30}[a-c]?"
    }

    proptest! {
        #[test]
        fn one_side_alone(base in text(), x in text()) {
            for merge in [merge, woven] {
                let merged = |a: &str, b: &str| merge(&base, a, b, LABELS, LONGEST);
                prop_assert_eq!(merged(&x, &base), clean(&x));
                prop_assert_eq!(merged(&base, &x), clean(&x));
                prop_assert_eq!(merged(&x, &x), clean(&x));
            }
        }

        /// The sides can be swapped; a clean merge is the same both ways.
        #[test]
        fn both_ways(base in text(), ours in text(), theirs in text()) {
            match (merged(&base, &ours, &theirs), merged(&base, &theirs, &ours)) {
                (Merge::Clean(one), Merge::Clean(other)) => prop_assert_eq!(one, other),
                (Merge::Conflicts { count: one, .. }, Merge::Conflicts { count: other, .. }) => {
                    prop_assert_eq!(one, other);
                }
                (one, other) => prop_assert!(false, "{one:?} {other:?}"),
            }
        }

        /// Changes with unchanged lines between them merge cleanly.
        #[test]
        fn apart(
            [first, second] in [text(), text()],
            head in 1..20_usize,
            middle in 1..20_usize,
            tail in 1..20_usize,
        ) {
            let unique = |part: &str, count: usize| -> String {
                (0..count).map(|n| format!("{part} {n}\n")).collect()
            };
            let (head, middle, tail) =
                (unique("head", head), unique("middle", middle), unique("tail", tail));
            let ended = |text: &str| format!("{text}|\n");
            let (first, second) = (ended(&first), ended(&second));
            let base = format!("{head}x\n{middle}y\n{tail}");
            let ours = format!("{head}{first}{middle}y\n{tail}");
            let theirs = format!("{head}x\n{middle}{second}{tail}");
            let both = format!("{head}{first}{middle}{second}{tail}");
            prop_assert_eq!(merged(&base, &ours, &theirs), clean(&both));
        }

        /// If both sides changed everything, the result contains each side completely.
        #[test]
        fn nothing_is_lost(ours in "([a-d]\n){1,30}", theirs in "([a-d]\n){1,30}") {
            prop_assume!(ours != theirs);
            let merge = merged("base\n", &ours, &theirs);
            let Merge::Conflicts { count: 1, text } = &merge else {
                return Err(TestCaseError::fail(format!("{merge:?}")));
            };
            prop_assert_eq!(sides(text), (ours, theirs));
        }
    }
}
