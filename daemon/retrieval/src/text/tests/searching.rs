//! Tests of search results.

use super::*;

#[test]
fn what_was_added_is_found_at_once_and_after_settling() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(
        folder.path(),
        &["The cat sat.", "Dogs run in circles.", "Running a cat."],
    );
    for _ in 0..2 {
        assert_eq!(positions(&index, "cats"), [1, 3]);
        assert_eq!(positions(&index, "run"), [3, 2]);
        assert!(positions(&index, "elephant").is_empty());
        index.flush().unwrap();
    }
}

#[test]
fn there_is_no_syntax() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["alpha beta", "alpha", "beta"]);
    for text in [
        "alpha AND beta",
        "+alpha -beta",
        "\"alpha beta\"",
        "(alpha OR beta) [",
        "title:alpha beta*~^2",
    ] {
        assert_eq!(positions(&index, text).len(), 3, "{text}");
    }
    for text in [
        "",
        "the of and",
        "\" ' \\ * ( ) : ~ ^ [ ] { } ! ? / AND",
        "\0\u{feff}",
    ] {
        let found = index.search(&query(text), None).unwrap();
        assert_eq!(
            (found.total, found.hits, found.terms.words),
            (0, Vec::new(), Vec::new()),
            "{text}"
        );
    }
}

#[test]
fn a_huge_question_is_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["w5 x", "w900 x"]);
    let many: String = (0..200_000).map(|at| format!("w{at} ")).collect();
    let found = index.search(&query(&many), None).unwrap();
    assert!(found.terms.cut);
    assert_eq!(found.terms.words.len(), search_words_max());
    assert_eq!(found.hits[0].key >> 20, 1);
    let same = "x ".repeat(500_000);
    let found = index.search(&query(&same), None).unwrap();
    assert!(found.terms.cut);
    assert_eq!((found.terms.words.len(), found.total), (1, 2));
    assert!(!index.search(&query("x"), None).unwrap().terms.cut);
}

fn search_words_max() -> usize {
    super::super::search::WORDS_MAX
}

#[test]
fn identifiers_are_found_by_any_spelling_and_by_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "call parseHttpRequest first",
        "the parse_http_request function",
        "nothing here",
    ];
    let index = documents(folder.path(), &texts);
    for text in [
        "parseHttpRequest",
        "parse_http_request",
        "parse-http-request",
        "parsehttprequest",
        "http",
    ] {
        let mut found = positions(&index, text);
        found.sort_unstable();
        assert_eq!(found, [1, 2], "{text}");
    }
}

#[test]
fn accents_scripts_and_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "Müller trinkt Café crème",
        "東京都の天気",
        "Ελλάδα и Ёлка",
        "host 10.0.0.12 on 2026-01-31",
    ];
    let index = documents(folder.path(), &texts);
    for (text, position) in [
        ("muller cafe", 1),
        ("MÜLLER", 1),
        ("東京", 2),
        ("都", 2),
        ("気", 2),
        ("ελλαδα", 3),
        ("елка", 3),
        ("10.0.0.12", 4),
        ("2026-01-31", 4),
    ] {
        assert_eq!(positions(&index, text), [position], "{text}");
    }
    assert!(positions(&index, "京東").is_empty());
}

#[test]
fn a_typo_or_a_beginning_finds_the_word_but_ranks_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "kubernetes cluster",
        "kubernetse cluster",
        "postgres cluster",
        "retrieval of configuration",
    ];
    let index = documents(folder.path(), &texts);
    assert_eq!(positions(&index, "kubernetes"), [1, 2]);
    assert_eq!(positions(&index, "kubernetse"), [2, 1]);
    assert_eq!(positions(&index, "kubrnetes"), [1]);
    assert_eq!(positions(&index, "postgers"), [3]);
    assert_eq!(positions(&index, "retreival"), [4]);
    assert_eq!(positions(&index, "config"), [4]);
    assert_eq!(positions(&index, "configurati"), [4]);
    let found = index.search(&query("postgers"), None).unwrap();
    let [word] = &found.terms.words[..] else {
        panic!()
    };
    assert_eq!(
        (word.units, word.variants[0].quality),
        (0, MatchQuality::Typo)
    );
    assert_eq!(
        (word.variants[0].term.as_str(), word.variants[0].units),
        ("postgr", 1)
    );
}

#[test]
fn words_that_enough_units_have_are_taken_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(
        folder.path(),
        &["form", "form", "form", "from", "forms", "fork"],
    );
    let found = index.search(&query("form"), None).unwrap();
    assert_eq!((found.total, found.terms.words[0].units), (4, 4));
    assert_eq!(found.terms.words[0].variants, []);
}

#[test]
fn talk_is_found_by_what_came_before_it_and_ranked_by_both() {
    let folder = tempfile::tempdir().unwrap();
    let index = TextIndex::open(folder.path(), 1).unwrap();
    let said = [
        "which database shall we use",
        "postgres",
        "yes, postgres it is, the database",
    ];
    for (at, text) in said.iter().enumerate() {
        let position = at as u64 + 1;
        let unit = unit(Kind::Message, position, 0, 1);
        index
            .apply(&[add(unit, text, &said[..at])], position)
            .unwrap();
    }
    assert_eq!(positions(&index, "database"), [3, 1, 2]);
    let documents_only = Query {
        classes: &[Class::Documents],
        ..query("database")
    };
    assert_eq!(index.search(&documents_only, None).unwrap().total, 0);
}

#[test]
fn filters_count_and_keys_asked_for_get_their_scores() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["a1 x", "a1 x x", "a1", "x"]);
    let keys: Vec<u64> = [3, 1, 9].map(|position| key(position, 0)).to_vec();
    let asked = Query {
        limit: 1,
        also: &keys,
        ..query("x")
    };
    let filter = Filter {
        passes: &|unit| unit.group > 2,
        fingerprint: 2,
    };
    let found = index.search(&asked, Some(filter)).unwrap();
    assert_eq!((found.total, found.hits[0].key), (1, key(4, 0)));
    assert_eq!(found.also[0], 0.0);
    assert!(found.also[1] > 0.0);
    assert_eq!(found.also[2], 0.0);
    let none = index.search(&Query { limit: 0, ..asked }, None).unwrap();
    assert_eq!((none.total, none.hits.len()), (3, 0));
}

#[test]
fn removals_are_effective_at_once_and_tell_what_went() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["x one", "x two", "x three", "x four"]);
    index.flush().unwrap();
    let fresh = unit(Kind::Document, 5, 0, 2);
    index.apply(&[add(fresh, "x five", &[])], 5).unwrap();
    let gone = index
        .apply(
            &[Change::RemoveGroup {
                group: 2,
                before: 5,
            }],
            6,
        )
        .unwrap();
    assert_eq!(gone, [key(2, 0)]);
    assert_eq!(positions(&index, "two five"), [5]);
    let gone = index
        .apply(
            &[
                Change::RemovePosition { position: 1 },
                Change::RemovePosition { position: 5 },
            ],
            7,
        )
        .unwrap();
    assert_eq!(gone, [key(1, 0), key(5, 0)]);
    for _ in 0..2 {
        assert_eq!(positions(&index, "x"), [3, 4]);
        assert!(!index.contains(key(1, 0)).unwrap());
        assert_eq!(index.unit(key(3, 0)).unwrap().unwrap().group, 3);
        index.flush().unwrap();
    }
}

#[test]
fn matches_are_the_words_of_the_question_in_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["Runners run userName.", "東京都"]);
    let found = index
        .search(&query("running user 京都 runnrs"), None)
        .unwrap();
    let shown = |text: &str| -> Vec<String> {
        let places = index.matches(text, &found.terms);
        places
            .into_iter()
            .map(|place| text[place].to_owned())
            .collect()
    };
    assert_eq!(
        shown("Runners run userName; she ran."),
        ["Runners", "run", "userName"]
    );
    assert_eq!(shown("in 東京都!"), ["京都"]);
    // A stem may begin otherwise than its word, and be a single letter.
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["lying, dying x"]);
    let found = index.search(&query("lies die x"), None).unwrap();
    let text = "lying and dying, ties, x-ray";
    let places = index.matches(text, &found.terms).into_iter();
    let shown: Vec<&str> = places.map(|place| &text[place]).collect();
    assert_eq!(shown, ["lying", "dying", "x"]);
    let none = index.search(&query("the"), None).unwrap();
    assert!(index.matches("the cat", &none.terms).is_empty());
}

/// Typos are looked up for a limited number of words, and never for long words, which have thousands of neighbours.
#[test]
fn typos_are_looked_for_in_few_words() {
    let folder = tempfile::tempdir().unwrap();
    let long = "abcdefghijklmnopqrstuvwxyz";
    let index = documents(
        folder.path(),
        &["kubernetes cluster", "postgres cluster", long],
    );
    let with_typo = |question: &str| {
        let found = index.search(&query(question), None).unwrap();
        let typos = |word: &&Word| {
            word.variants
                .iter()
                .any(|one| one.quality == MatchQuality::Typo)
        };
        found.terms.words.iter().filter(typos).count()
    };
    // Every word is a different typo of the same word.
    let typos: Vec<String> = ('a'..='z')
        .filter(|one| *one != 'k')
        .map(|one| format!("{one}ubernetes"))
        .collect();
    assert_eq!(with_typo(&typos.join(" ")), 16);
    let numbers: Vec<String> = (0..40).map(|number| format!("x{number}")).collect();
    assert_eq!(with_typo(&format!("{} postgers", numbers.join(" "))), 1);
    assert_eq!(with_typo(&long.replacen("cd", "dc", 1)), 0);
}

/// The name of a programming language counts little beside other words, and fully alone.
#[test]
fn a_language_is_hardly_a_word_of_a_question_about_code() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "python notes python",
        "def read_csv(path): open file",
        "something else",
    ];
    let index = documents(folder.path(), &texts);
    assert_eq!(positions(&index, "python read csv file"), [2, 1]);
    assert_eq!(positions(&index, "python"), [1]);
    let found = index.search(&query("python read csv file"), None).unwrap();
    assert!(found.terms.asks_for_code());
    assert!(
        !index
            .search(&query("python notes"), None)
            .unwrap()
            .terms
            .asks_for_code()
    );
}

/// No score reaches the bound of its class, which counts words that no text has.
#[test]
fn the_bound_is_the_score_of_a_perfect_match() {
    let folder = tempfile::tempdir().unwrap();
    let index = documents(folder.path(), &["alpha beta gamma", "alpha"]);
    let share = |text: &str| {
        let found = index.search(&query(text), None).unwrap();
        found.hits[0].score / found.bounds[0]
    };
    assert!(
        (0.0..1.0).contains(&share("alpha beta")),
        "{}",
        share("alpha beta")
    );
    assert!(share("alpha beta") > share("alpha qwzxv plmok"));
}
