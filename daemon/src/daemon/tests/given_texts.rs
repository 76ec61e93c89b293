//! The texts that models were given: kept as they were, with what each part rests on, until what they repeat is forgotten.

use super::capture::{AT, CLAUDE, Fixture, added, from_session, payload, said, with_a_decision};
use super::*;

const NEEDS: &str = "How are prices stored, as floats or integer cents?";

/// Returns the packs of a memory, with their texts, in the order of the log.
async fn packs(memory: &Fixture) -> Vec<Value> {
    let log = memory
        .call(None, "read_events", json!({"from": 1, "limit": 500}))
        .await;
    let events = log["events"].as_array().unwrap();
    let mut packs = Vec::new();
    for event in events.iter().filter(|event| event["kind"] == "PackMade") {
        let args = json!({"position": event["position"], "text": true});
        packs.push(memory.call(None, "why", args).await["pack"].clone());
    }
    packs
}

/// Returns the parts of a text, each with the position of its source.
fn parts(pack: &Value) -> Vec<(String, u64)> {
    let text = pack["text"]["text"].as_str().unwrap();
    let parts = pack["text"]["parts"].as_array().unwrap().iter();
    let parts = parts.map(|part| {
        let at = |name: &str| part[name].as_u64().unwrap() as usize;
        let source = &pack["rests_on"][at("source")];
        let position = source["position"].as_u64().unwrap();
        (text[at("start")..at("end")].to_owned(), position)
    });
    parts.collect()
}

async fn event(memory: &Fixture, position: u64) -> String {
    let args = json!({"from": position, "limit": 1});
    memory.call(None, "read_events", args).await["events"][0].to_string()
}

#[tokio::test]
async fn an_injected_text_is_kept_as_it_was_given_with_its_sources() {
    let (memory, dir) = with_a_decision().await;
    let ask = from_session("c-2", said(&dir, "p3", NEEDS));
    let text = added(&memory.hook(CLAUDE, &ask, AT).await);
    let start = payload("SessionStart", &dir, json!({"source": "startup"}));
    let brief = added(&memory.hook(CLAUDE, &from_session("c-3", start), AT).await);
    let packs = packs(&memory).await;
    assert_eq!(packs.len(), 2);
    for (pack, text) in packs.iter().zip([&text, &brief]) {
        assert!(text.contains(pack["text"]["text"].as_str().unwrap()));
        let parts = parts(pack);
        let decision = parts
            .iter()
            .find(|(part, _)| part.contains("integer cents"));
        let (part, position) = decision.unwrap();
        assert!(part.starts_with("- "), "a whole line: {part}");
        assert!(event(&memory, *position).await.contains("integer cents"));
    }
    // Without `text`, the text is left out.
    let without = json!({"pack": packs[0]["pack"]});
    let without = memory.call(None, "why", without).await;
    assert!(without["pack"]["text"].is_null(), "{without}");
}

#[tokio::test]
async fn the_text_of_a_pack_names_what_had_no_space_by_its_events() {
    let (memory, dir) = with_a_decision().await;
    for count in 0..30 {
        let text = format!("Price rule {count}: round the price of article {count} to full cents.");
        let say = said(&dir, &format!("q{count}"), &text);
        memory.hook(CLAUDE, &say, AT + count).await;
    }
    let ask = json!({"message": NEEDS, "max_tokens": 400});
    let made = memory.call(Some("claude:c-1"), "enrich_message", ask).await;
    let pack = packs(&memory).await.pop().unwrap();
    assert_eq!(pack["text"]["text"], made["prompt"]);
    let of_sections = made["sections"].as_array().unwrap().iter();
    let pieces: usize = of_sections
        .map(|section| section["pieces"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(parts(&pack).len(), pieces);
    for (part, position) in parts(&pack) {
        let said = part.lines().last().unwrap().to_owned();
        let event = event(&memory, position).await.replace("\\\"", "\"");
        assert!(
            said.starts_with("```") || event.contains(&said),
            "{part}\n{event}"
        );
    }
    let left_out = pack["text"]["left_out"].as_array().unwrap();
    assert!(!left_out.is_empty(), "{pack}");
    for one in left_out {
        assert_eq!(one["why"], "budget");
        let event = event(&memory, one["position"].as_u64().unwrap()).await;
        assert!(event.contains("ice"), "{event}");
    }
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_text_that_another_session_was_given() {
    let (memory, dir) = with_a_decision().await;
    let ask = from_session("c-2", said(&dir, "p3", NEEDS));
    added(&memory.hook(CLAUDE, &ask, AT).await);
    let own = memory.call(
        Some("claude:c-2"),
        "enrich_message",
        json!({"message": "What is next?"}),
    );
    own.await;
    let before = packs(&memory).await;
    assert!(before.iter().all(|pack| pack["text"].is_object()));
    let session = &before[0]["rests_on"][0]["session"];
    assert_ne!(session, &before[0]["session"]);
    memory
        .call(None, "forget_session", json!({"session": session}))
        .await;
    let after = packs(&memory).await;
    assert_eq!(after.len(), 2, "the pack itself names no more than ids");
    assert!(after[0]["text"].is_null(), "{}", after[0]);
    assert_eq!(
        after[1]["text"], before[1]["text"],
        "it rests on its own session alone"
    );
    let verified = memory.call(None, "verify_log", json!({})).await;
    assert_eq!(verified["ok"], true, "{verified}");
}
