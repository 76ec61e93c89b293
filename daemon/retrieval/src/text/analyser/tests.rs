//! Tests of the analyser.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

fn terms(text: &str) -> Vec<String> {
    Analyser::new().terms(text, AnalysisMode::Index)
}

#[test]
fn words_are_lower_case_stems_without_stop_words() {
    assert_eq!(
        terms("The Runners were running; they've RUN!"),
        ["runner", "run", "run"]
    );
    assert_eq!(
        terms("don't stop the café's naïve Straße"),
        ["don", "stop", "cafe", "naiv", "strass"]
    );
}

#[test]
fn compounds_give_their_parts_and_the_whole() {
    for (text, wanted) in [
        ("userName", &["user", "name", "usernam"][..]),
        ("user_name", &["user", "name", "usernam"]),
        ("HTTPServer", &["http", "server", "httpserver"]),
        ("mod.rs", &["mod", "rs", "modr"]),
        ("is_alive", &["aliv", "isal"]),
        ("sha256", &["sha256"]),
        ("3.14", &["3", "14", "3.14"]),
        ("2026-01-31", &["2026", "01", "31", "2026-01-31"]),
        ("end. Next", &["end", "next"]),
        ("__init__", &["init"]),
        ("a--b", &["b"]),
    ] {
        assert_eq!(terms(text), wanted, "{text}");
    }
}

#[test]
fn unspaced_scripts_give_pairs() {
    assert_eq!(terms("東京都"), ["東京", "京都", "都"]);
    assert_eq!(terms("a東b"), ["東", "b"]);
    let asked = Analyser::new().terms("東京都", AnalysisMode::Query);
    assert_eq!(asked, ["東京", "京都"]);
}

#[test]
fn marks_stay_with_their_letters() {
    assert_eq!(
        terms("cafe\u{301} हिन्दी ﬁne ＡＢ"),
        ["cafe", "हिन्दी", "fine", "ab"]
    );
}

#[test]
fn long_words_are_cut() {
    let long = "x".repeat(10_000);
    assert_eq!(terms(&long)[0].len(), TERM_CHARACTERS_MAX);
    assert_eq!(terms(&format!("{long}tail")), terms(&long));
}

#[test]
fn typos_are_one_edit_away() {
    let mut near = Vec::new();
    neighbours("cat", &mut |word| near.push(word.to_owned()));
    for word in ["at", "cart", "bat", "act", "cats"] {
        assert!(near.iter().any(|known| known == word), "{word}");
    }
    for word in ["cat", "dog", "carts", "tac"] {
        assert!(near.iter().all(|known| known != word), "{word}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_terms_with_places_in_it(text in "\\PC{0,60}") {
        Analyser::new().tokens(&text, AnalysisMode::Index, &mut |token| {
            assert!(!token.term.is_empty() && !token.term.contains('\n'));
            assert!(token.term.chars().count() <= 4 * TERM_CHARACTERS_MAX);
            assert!(!text[token.range].is_empty());
            true
        });
    }
}
