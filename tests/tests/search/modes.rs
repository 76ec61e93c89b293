//! The four search modes: their descriptions in replies, and the calculation of scores.

use serde_json::{Value, json};
use tests::{Daemon, Home, has_words, home, until};

use super::{LIMIT, add, folder, ids};

fn library(home: &Home) -> Daemon {
    let daemon = home.start();
    let docs = folder(
        home,
        "docs",
        &[
            (
                "cars.md",
                "# Vehicles\n\nAn automobile has four wheels. The engine needs oil. Drivers need a licence.",
            ),
            (
                "bread.md",
                "# Baking\n\nBread rises slowly. Yeast needs warmth. Flour comes from wheat.",
            ),
            (
                "sea.md",
                "# Ocean\n\nWhales sing under water. Ships cross the sea. Salt stays behind.",
            ),
        ],
    );
    add(&daemon, &docs, json!({}));
    daemon
}

fn search(daemon: &Daemon, args: Value) -> Value {
    daemon.call("search_documents", args)
}

/// Semantic search finds documents without any word of the query; each mode returns its name and the reason for it.
#[test]
fn each_mode_says_what_it_did() {
    let home = home!();
    let daemon = library(&home);
    let query = "which car motor liquid";
    let reply = search(&daemon, json!({"query": query, "search_type": "text"}));
    assert_eq!(reply["total"], 0, "{reply:#}");
    assert!(reply.get("model").is_none());
    for search_type in ["vector", "hybrid", "semantic"] {
        let reply = search(&daemon, json!({"query": query, "search_type": search_type}));
        assert_eq!(reply["results"][0]["file_name"], "cars.md", "{search_type}");
        assert_eq!(reply["search_type_used"], search_type);
        assert!(reply.get("reason").is_none());
        has_words(&reply["model"], &["first tier"]);
    }
    let reply = search(&daemon, json!({"query": query}));
    assert_eq!(reply["search_type"], "hybrid");
}

/// A caption quotes the answering sentences exactly, with their positions.
#[test]
fn captions_and_highlights_quote_exactly() {
    let home = home!();
    let daemon = library(&home);
    let args = json!({"query": "what does yeast need", "search_type": "semantic"});
    let reply = search(&daemon, args);
    let best = &reply["results"][0];
    assert_eq!(best["file_name"], "bread.md");
    let content = best["content"].as_str().unwrap();
    let slice = |range: &Value| {
        let at = |end: &str| range[end].as_u64().unwrap() as usize;
        &content[at("start")..at("end")]
    };
    let ranges = best["caption"]["ranges"].as_array().unwrap();
    let quoted: Vec<&str> = ranges.iter().map(slice).collect();
    assert!(quoted.contains(&"Yeast needs warmth."), "{quoted:?}");
    assert_eq!(best["caption"]["text"], quoted.join(" … "));
    let highlights = best["highlights"].as_array().unwrap();
    let words: Vec<String> = highlights
        .iter()
        .map(|it| slice(it).to_lowercase())
        .collect();
    assert!(words.contains(&"yeast".to_owned()), "{words:?}");
    assert!(words.contains(&"needs".to_owned()), "{words:?}");
}

/// Explained scores add up.
#[test]
fn scores_are_explained() {
    let home = home!();
    let daemon = library(&home);
    for (search_type, fusion) in [
        ("hybrid", "z_scores"),
        ("hybrid", "rrf"),
        ("semantic", "z_scores"),
    ] {
        let args = json!({"query": "engine oil", "search_type": search_type, "fusion": fusion, "explain": true});
        let reply = search(&daemon, args);
        for result in reply["results"].as_array().unwrap() {
            let scores = &result["scores"];
            let part = |ranked_list: &str| scores[ranked_list]["part"].as_f64().unwrap_or(0.0);
            let sum = part("text") + part("vector");
            let fused = scores["fused"]
                .as_f64()
                .unwrap_or_else(|| panic!("{result:#}"));
            let score = result["score"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&score), "{result:#}");
            assert!((sum - fused).abs() < 1e-9, "{result:#}");
        }
        let best = &reply["results"][0];
        assert_eq!(best["file_name"], "cars.md");
        assert_eq!(best["scores"]["text"]["rank"], 1);
        assert!(
            best["scores"]["terms"]
                .as_array()
                .unwrap()
                .contains(&json!("oil"))
        );
    }
}

/// Rare words are found with a typo and by their prefix.
#[test]
fn typos_and_beginnings_of_rare_words() {
    let home = home!();
    let daemon = library(&home);
    for query in ["automobil", "autombile", "AUTOMOBILES"] {
        let reply = search(&daemon, json!({"query": query, "search_type": "text"}));
        assert_eq!(reply["results"][0]["file_name"], "cars.md", "{query}");
    }
}

/// The second tier replaces the first once every chunk has its vector, and replies say so.
#[test]
fn the_second_tier_takes_over() {
    let home = home!();
    home.configure("[search]\nsecond_tier = true\n");
    let daemon = library(&home);
    until("the second tier ranks", LIMIT, || {
        let reply = search(&daemon, json!({"query": "whales in the ocean"}));
        assert_eq!(reply["results"][0]["file_name"], "sea.md");
        let model = reply["model"].as_str().unwrap();
        model.contains("second tier").then_some(())
    });
}

/// Equal queries return equal results, in pages and at once.
#[test]
fn pages_are_stable() {
    let home = home!();
    let daemon = library(&home);
    for search_type in ["text", "vector", "hybrid", "semantic"] {
        let ask = |most: u64, next: Value| {
            search(
                &daemon,
                json!({"query": "water needs wheels", "search_type": search_type,
                    "max_results": most, "next": next}),
            )
        };
        let all = ids(&ask(50, Value::Null));
        let mut paged = Vec::new();
        let mut next = Value::Null;
        loop {
            let reply = ask(1, next);
            paged.extend(ids(&reply));
            match reply.get("next") {
                Some(more) => next = more.clone(),
                None => break,
            }
        }
        assert_eq!(paged, all, "{search_type}");
    }
}
