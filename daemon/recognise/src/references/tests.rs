//! Tests of references over several turns of a conversation.

use crate::tests::PACKS;
use std::sync::Arc;

use crate::{Knowledge, PastText, RecognitionMethod, TextSource, recognise};

/// Returns the entities that the last of several texts of a person means; earlier texts are of an agent.
fn resolved(texts: &[&str]) -> Vec<String> {
    references(texts).0
}

/// Returns the entities that the last text means, and those that it may mean.
fn references(texts: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut past: Vec<Arc<PastText>> = Vec::new();
    let mut referred = (Vec::new(), Vec::new());
    for (at, text) in texts.iter().enumerate() {
        let is_last = at + 1 == texts.len();
        let source = if is_last || at % 2 == 1 {
            TextSource::Person
        } else {
            TextSource::Agent
        };
        let knowledge = Knowledge {
            past: &past,
            source,
            ..Knowledge::default()
        };
        let found = recognise(&PACKS, text, &knowledge);
        let references = found
            .matches
            .iter()
            .filter(|hit| hit.how == RecognitionMethod::Reference);
        let possible = found.possible.iter();
        referred = (
            references.map(|hit| hit.name.clone()).collect(),
            possible.map(|one| one.mention.name.clone()).collect(),
        );
        past.insert(
            0,
            PastText::of(source, &found.matches, &found.marked).into(),
        );
    }
    referred
}

const TWO: &str = "switch-nyc-01 and router-la-02 at AMS1 are up";
const NONE: [&str; 0] = [];

#[test]
fn the_last_of_a_kind() {
    // Two devices are as near: neither is meant.
    assert_eq!(resolved(&[TWO, "Restart that device"]), NONE);
    assert_eq!(
        resolved(&[
            "switch-nyc-01 is up; it feeds router-la-02",
            "Restart that device"
        ]),
        ["switch-nyc-01"]
    );
    assert_eq!(resolved(&[TWO, "Restart the switch"]), ["switch-nyc-01"]);
    assert_eq!(resolved(&[TWO, "What is in this site?"]), ["AMS1"]);
    assert_eq!(resolved(&["sw-1 has fe80::1", "ping that IP"]), ["fe80::1"]);
    assert_eq!(
        resolved(&["switch-nyc-01 is down", "What is its status? Is it old?"]),
        ["switch-nyc-01"]
    );
    // The text names it: "it" adds no mention.
    assert_eq!(resolved(&["switch-nyc-01 is down, restart it"]), NONE);
    assert_eq!(resolved(&[TWO, "the same router"]), ["router-la-02"]);
}

#[test]
fn by_the_order_of_the_last_listing() {
    assert_eq!(resolved(&[TWO, "the first device"]), ["switch-nyc-01"]);
    assert_eq!(resolved(&[TWO, "the second one"]), ["router-la-02"]);
    assert_eq!(resolved(&[TWO, "the latter"]), ["router-la-02"]);
    assert_eq!(
        resolved(&["sw-nyc-01, rtr-la-01, sw-nyc-02", "the second switch"]),
        ["sw-nyc-02"]
    );
    assert_eq!(
        resolved(&["rtr-la-01, sw-nyc-02, rtr-la-07", "the last router"]),
        ["rtr-la-07"]
    );
    assert_eq!(
        resolved(&[TWO, "restart the first switch", "and the other one"]),
        ["router-la-02"]
    );
    assert_eq!(resolved(&[TWO, "the third one"]), NONE);
    // A later text that is not a listing does not replace it.
    assert_eq!(
        resolved(&[TWO, "Thanks, fw-09 is fine", "the first one"]),
        ["switch-nyc-01"]
    );
}

#[test]
fn several_at_once() {
    let both = ["switch-nyc-01", "router-la-02"];
    assert_eq!(resolved(&[TWO, "restart both"]), both);
    assert_eq!(resolved(&[TWO, "restart both devices"]), both);
    assert_eq!(resolved(&[TWO, "are they up?"]), both);
    assert_eq!(resolved(&[TWO, "these devices"]), both);
    assert_eq!(
        resolved(&["sw-nyc-01 is up", "sw-nyc-02 is up", "restart both"]),
        ["sw-nyc-01", "sw-nyc-02"]
    );
    // There is no list of two.
    assert_eq!(
        resolved(&["sw-nyc-01, sw-nyc-02, sw-nyc-03", "restart both"]),
        NONE
    );
}

#[test]
fn what_is_no_reference() {
    assert_eq!(
        resolved(&["restart that device, it is down"]),
        NONE,
        "nothing was mentioned"
    );
    assert_eq!(
        resolved(&[TWO, "the device switch-nyc-01 is up"]),
        NONE,
        "it is named"
    );
    assert_eq!(resolved(&[TWO, "the IT department"]), NONE);
    assert_eq!(resolved(&[TWO, "the switch-over was smooth"]), NONE);
    assert_eq!(
        resolved(&[TWO, "the rack is full"]),
        NONE,
        "none was mentioned"
    );
}

/// "their" means an organisation only if the turn lists nothing else.
#[test]
fn whose_it_is() {
    let both = ["ams1-srv-04".to_owned(), "ams1-srv-05".to_owned()];
    let ask = "What are their addresses?";
    for texts in [
        &["tenant Acme Corp owns ams1-srv-04 and ams1-srv-05.", ask][..],
        &[
            "ams1-srv-04 and ams1-srv-05 belong to tenant Acme Corp.",
            ask,
        ],
        &[
            "Hello.",
            "Tenant Acme Corp owns ams1-srv-04 and ams1-srv-05.",
            "Fine.",
            ask,
        ],
    ] {
        let (meant, possible) = references(texts);
        assert_eq!(meant, NONE, "{texts:?}");
        assert_eq!(possible, both, "{texts:?}");
    }
    for texts in [
        &[
            "The tenant Acme Corp called about ams1-srv-04.",
            "What is their phone number?",
        ][..],
        &[
            "Hello.",
            "Who owns ams1-srv-04?",
            "The tenant Acme Corp.",
            "What are their prefixes?",
        ],
        &[
            "Hello.",
            "ams1-srv-04, ams1-srv-05",
            "Both up.",
            "Thanks.",
            "The tenant Acme Corp called.",
            "What are their prefixes?",
        ],
    ] {
        assert_eq!(resolved(texts), ["Acme Corp"], "{texts:?}");
    }
}
