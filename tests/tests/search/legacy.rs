//! The eight legacy tools of servers for work items: each has the result of its newer replacement.

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, Home, McpHost, McpRevision, has_words, home};

use super::{add, chunks, folder};

/// Lists the eight, each with suitable arguments and its maximum number of results.
fn eight() -> [(&'static str, Value, u64); 8] {
    [
        ("search_work_items", json!({"query": "login"}), 20),
        ("search_by_work_item", json!({"work_item_id": "WI-123"}), 10),
        ("semantic_search", json!({"query": "login"}), 15),
        ("search_by_chunk", json!({"chunk_pattern": "login.md"}), 15),
        ("search_file_chunks", json!({"file_name": "login.md"}), 20),
        (
            "search_chunk_range",
            json!({"file_name": "login.md", "start": 0, "end": 99}),
            20,
        ),
        ("get_work_item_list", json!({}), 0),
        ("get_work_item_summary", json!({}), 0),
    ]
}

/// Creates two work items; the first has a file of many chunks, and a name.
fn work_items(home: &Home) -> Daemon {
    let daemon = home.start();
    let sections: String = (0..30)
        .map(|number| format!("# Part {number}\n\nWhat the login does in part {number}.\n\n"))
        .collect();
    let long = format!("---\ncontext_id: WI-123\ncontext_name: Login page\n---\n{sections}");
    let short = "---\ncontext_id: BUG-7\n---\n# Crash\n\nThe login crashes on Mondays.\n";
    let docs = folder(home, "docs", &[("login.md", &long), ("crash.md", short)]);
    add(&daemon, &docs, json!({}));
    daemon
}

fn contexts(reply: &Value) -> Vec<&str> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["context_id"].as_str().unwrap())
        .collect()
}

/// Searches, over all work items and over one, selected by its id or its name.
#[test]
fn work_items_are_searched() {
    let home = home!();
    let daemon = work_items(&home);
    let all = daemon.call("search_work_items", json!({"query": "login crashes"}));
    assert_eq!(all["search_type_used"], "hybrid");
    assert_eq!(all["results"].as_array().unwrap().len(), 5);
    assert_eq!(contexts(&all)[0], "BUG-7");
    assert!(all["results"][0]["content"].is_string());

    let by_id = json!({"query": "login", "work_item_id": "WI-123", "search_type": "text"});
    let by_name = json!({"query": "login", "work_item_id": "Login page", "search_type": "text"});
    let newer = json!({"query": "login", "filters": {"context_id": "WI-123"},
        "search_type": "text", "max_results": 5});
    let newer = daemon.call("search_documents", newer);
    for args in [by_id, by_name] {
        let found = daemon.call("search_work_items", args);
        assert_eq!(chunks(&found), chunks(&newer));
        assert_eq!(found["total"], newer["total"]);
    }
    let one = json!({"query": "login", "work_item_id": "BUG-7"});
    let found = daemon.call("search_by_work_item", one);
    assert_eq!(contexts(&found), ["BUG-7"]);
    let targets = json!({"query": "login", "work_item_id": "BUG-7"});
    let targets = daemon.call("semantic_search", targets);
    assert_eq!(targets["search_type_used"], "semantic");
    assert_eq!(contexts(&targets), ["BUG-7"]);
    let none = json!({"query": "login", "work_item_id": "WI-124"});
    let none = daemon.call("search_work_items", none);
    assert_eq!(none["total"], 0);
    assert_eq!(none["nearest_contexts"][0], "WI-123");
}

/// Without a query chunks are in document order; with one the same chunks are ranked.
#[test]
fn chunks_are_read_in_their_order() {
    let home = home!();
    let daemon = work_items(&home);
    let total = daemon.call("get_index_summary", json!({}))["total_chunks"].as_u64();
    let total = total.unwrap();
    let named = |numbers: std::ops::Range<u64>| -> Vec<String> {
        numbers
            .map(|number| format!("login.md_chunk_{number}"))
            .collect()
    };
    let file = daemon.call("search_file_chunks", json!({"file_name": "login.md"}));
    assert_eq!(chunks(&file), named(0..5));
    assert_eq!(file["total"].as_u64(), Some(total - 1));
    let item = daemon.call("search_by_work_item", json!({"work_item_id": "Login page"}));
    assert_eq!(chunks(&item), named(0..5));
    let range = json!({"file_name": "login.md", "start": 2, "end": 4});
    let range = daemon.call("search_chunk_range", range);
    assert_eq!(chunks(&range), named(2..5));
    assert_eq!(range["total"], 3);
    let one = json!({"chunk_pattern": "login.md_chunk_3"});
    let one = daemon.call("search_by_chunk", one);
    assert_eq!(chunks(&one), named(3..4));
    has_words(&one["results"][0]["content"], &["login"]);
    let some = json!({"chunk_pattern": "login.md_chunk_1*", "max_results": 15});
    let some = daemon.call("search_by_chunk", some);
    let wanted = ["login.md_chunk_1".to_owned()]
        .into_iter()
        .chain(named(10..20));
    let wanted: Vec<String> = wanted.collect();
    assert_eq!(chunks(&some), wanted);
    let best = json!({"file_name": "login.md", "query": "part 17", "max_results": 1});
    let best = daemon.call("search_file_chunks", best);
    assert_eq!(chunks(&best), named(17..18));
}

/// The lists and counts equal those of the newer operations.
#[test]
fn lists_and_summaries_are_the_newer_ones() {
    let home = home!();
    let daemon = work_items(&home);
    assert_eq!(
        daemon.call("get_work_item_list", json!({})),
        daemon.call("get_document_contexts", json!({}))
    );
    assert_eq!(
        daemon.call("get_work_item_summary", json!({})),
        daemon.call("get_index_summary", json!({"detail_level": "detailed"}))
    );
}

/// Too many results, invalid ranges and empty names are refused.
#[test]
fn bounds_are_those_of_the_old_tools() {
    let home = home!();
    let daemon = work_items(&home);
    for (name, args, most) in eight().into_iter().filter(|(_, _, most)| *most > 0) {
        let mut args = args;
        args["max_results"] = json!(most);
        daemon.call(name, args.clone());
        for wrong in [0, most + 1] {
            args["max_results"] = json!(wrong);
            let refused = daemon.refusal(name, args.clone());
            assert_eq!(refused.code, Code::InvalidInput, "{name} {wrong}");
        }
    }
    for (name, args) in [
        ("search_work_items", json!({"query": " "})),
        ("search_by_work_item", json!({"work_item_id": ""})),
        ("search_by_chunk", json!({"chunk_pattern": ""})),
        ("search_file_chunks", json!({"file_name": ""})),
        (
            "search_chunk_range",
            json!({"file_name": "login.md", "start": 4, "end": 2}),
        ),
    ] {
        let refused = daemon.refusal(name, args);
        assert_eq!(refused.code, Code::InvalidInput, "{name}");
    }
}

/// Hosts that request `legacy` see the eight in addition to the core, and call them as tools.
#[test]
fn the_profile_lists_them() {
    let home = home!();
    let daemon = work_items(&home);
    let mut lines = McpHost::connect(&daemon, McpRevision::Older);
    for (profile, has) in [("legacy", true), ("full", false), ("core,documents", false)] {
        let params = json!({"_meta": {"lore/tools": profile}});
        let listed = lines.request("tools/list", params);
        let tools = listed["result"]["tools"].as_array().unwrap();
        for (name, _, _) in eight() {
            let is_there = tools.iter().any(|tool| tool["name"] == name);
            assert_eq!(is_there, has, "{profile} {name}");
        }
    }
    for (name, args, _) in eight() {
        let result = lines.call(name, &args);
        assert_eq!(result["isError"], false, "{name}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!text.is_empty() && !text.starts_with('{'), "{name}: {text}");
    }
}
