//! Packs use search results: documents, and much earlier messages.

use serde_json::{Value, json};
use tests::{Daemon, serve};

use super::{add, folder};

fn say(daemon: &Daemon, content: &str) -> Value {
    let args = json!({"session": "s1", "sender": "user", "content": content});
    daemon.call("record_message", args)["message"].clone()
}

fn pieces<'r>(reply: &'r Value, kind: &str) -> Vec<&'r Value> {
    let sections = reply["sections"].as_array().unwrap().iter();
    let pieces = sections.filter_map(|section| section["pieces"].as_array());
    pieces
        .flatten()
        .filter(|piece| piece["kind"] == kind)
        .collect()
}

/// A message gets the passages of documents about it, and earlier messages. `why` lists both, and a changed
/// document makes another pack.
#[test]
fn a_message_draws_on_documents_and_on_what_was_said() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[
            (
                "reset.md",
                "# Router\n\n## Reset\n\nHold the reset button of the router for ten seconds.\n",
            ),
            ("lunch.md", "# Lunch\n\nSoup is served at noon.\n"),
        ],
    );
    add(&daemon, &docs, json!({}));
    daemon.call("create_session", json!({"session": "s1"}));
    let early = say(
        &daemon,
        "The router in the cellar has a broken reset button.",
    );
    for number in 0..8 {
        say(&daemon, &format!("Something else, number {number}."));
    }
    let ask =
        json!({"session": "s1", "message": "How does one reset the router?", "max_tokens": 3000});
    let pack = daemon.call("enrich_message", ask.clone());
    let found = pieces(&pack, "document");
    assert_eq!(found.len(), 1, "{pack:#}");
    let prompt = pack["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("From context files and documents:\n[reset.md / "),
        "{prompt}"
    );
    assert!(prompt.contains("/ Reset]\n"), "{prompt}");
    assert!(prompt.contains("Hold the reset button"), "{prompt}");
    assert!(!prompt.contains("Soup"), "{prompt}");
    let said = pieces(&pack, "message");
    assert!(said.iter().any(|piece| piece["id"] == early), "{prompt}");

    let why = daemon.call("why", json!({"pack": pack["pack"]}));
    let rested = why["pack"]["rests_on"].as_array().unwrap().iter();
    let document = rested
        .clone()
        .find(|one| one["kind"] == "document")
        .unwrap();
    assert_eq!(document["id"], found[0]["id"]);
    assert_eq!(document["event"], "DocumentTaken");

    assert_eq!(daemon.call("enrich_message", ask.clone())["cached"], true);
    std::fs::write(
        docs.join("reset.md"),
        "# Router\n\nNever reset the router.\n",
    )
    .unwrap();
    tests::until("the pack follows the document", super::LIMIT, || {
        let pack = daemon.call("enrich_message", ask.clone());
        pack["prompt"]
            .as_str()
            .unwrap()
            .contains("Never reset")
            .then_some(())
    });

    let task = json!({"query": "reset the router", "session": "s1", "max_tokens": 3000});
    let pack = daemon.call("context_pack", task);
    assert_eq!(pieces(&pack, "document").len(), 1, "{pack:#}");
}
