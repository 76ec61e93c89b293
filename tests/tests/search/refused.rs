//! Invalid queries and filters, and odd but valid ones.

use serde_json::{Value, json};
use tests::{has_words, serve};

use super::{add, folder};

/// Errors name the problem and the valid values.
#[test]
fn refusals_say_what_would_be_right() {
    let (home, daemon) = serve!();
    let docs = folder(&home, "docs", &[("a.md", "Some text.")]);
    add(&daemon, &docs, json!({}));
    let docs = docs.display().to_string();
    daemon.refuses(include_str!("refused.txt"), &[("$docs", &docs)]);
}

/// Odd queries return some or no results, and do not affect others.
#[test]
fn odd_queries_are_answered() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[
            ("a.md", "Plain words about a lighthouse."),
            ("ru.md", "Маяк стоит на берегу моря."),
            ("zh.md", "灯塔在海边。"),
            ("code.rs", "fn parse_http_request() {}\nstruct HttpServer;"),
        ],
    );
    add(&daemon, &docs, json!({}));
    let first = |query: &str| -> Value {
        let args = json!({"query": query, "search_type": "text"});
        daemon.call("search_documents", args)["results"][0]["file_name"].clone()
    };
    assert_eq!(first("\"lighthouse\" AND -words OR (NOT"), "a.md");
    assert_eq!(first("маяк"), "ru.md");
    assert_eq!(first("灯塔"), "zh.md");
    assert_eq!(first("http request"), "code.rs");
    assert_eq!(first("HttpServer"), "code.rs");
    let stop = daemon.call(
        "search_documents",
        json!({"query": "the of and", "search_type": "text"}),
    );
    assert_eq!(stop["total"], 0);
    has_words(&stop["warnings"][0], &["stop words"]);
    let long = format!("{} lighthouse", "word ".repeat(200_000));
    for search_type in ["text", "vector", "hybrid", "semantic"] {
        let reply = daemon.call(
            "search_documents",
            json!({"query": long, "search_type": search_type}),
        );
        assert_eq!(reply["search_type_used"], search_type);
    }
    let none = daemon.call(
        "search_documents",
        json!({"query": "lighthouse", "filters": {"context_id": "doc"}}),
    );
    assert_eq!(none["total"], 0);
    assert_eq!(none["nearest_contexts"], json!(["docs"]));
}
