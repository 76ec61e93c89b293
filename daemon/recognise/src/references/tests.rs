//! Tests of references over several turns of a conversation.

use crate::tests::PACKS;
use crate::{Knowledge, Mention, RecognitionMethod, listing, mentions, recognise};

/// Returns the entities that the last of several texts refers to.
fn resolved(texts: &[&str]) -> Vec<String> {
    let (mut recent, mut last_listing) = (Vec::<Mention>::new(), Vec::new());
    let mut referred = Vec::new();
    for text in texts {
        let knowledge = Knowledge {
            recent: &recent,
            listing: &last_listing,
            references: true,
            ..Knowledge::default()
        };
        let matches = recognise(&PACKS, text, &knowledge).matches;
        let references = matches
            .iter()
            .filter(|hit| hit.how == RecognitionMethod::Reference);
        referred = references.map(|hit| hit.name.clone()).collect();
        let mut latest = mentions(&matches);
        latest.reverse();
        recent.splice(0..0, latest);
        last_listing = listing(&matches).unwrap_or(last_listing);
    }
    referred
}

const TWO: &str = "switch-nyc-01 and router-la-02 at AMS1 are up";
const NONE: [&str; 0] = [];

#[test]
fn the_last_of_a_kind() {
    assert_eq!(resolved(&[TWO, "Restart that device"]), ["router-la-02"]);
    assert_eq!(resolved(&[TWO, "Restart the switch"]), ["switch-nyc-01"]);
    assert_eq!(resolved(&[TWO, "What is in this site?"]), ["AMS1"]);
    assert_eq!(
        resolved(&["10.0.0.1 and fe80::1", "ping that IP"]),
        ["fe80::1"]
    );
    assert_eq!(
        resolved(&["switch-nyc-01 is down", "What is its status? Is it old?"]),
        ["switch-nyc-01"]
    );
    assert_eq!(
        resolved(&["switch-nyc-01 is down, restart it"]),
        ["switch-nyc-01"]
    );
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
    assert_eq!(
        resolved(&["sw-nyc-01, sw-nyc-02, sw-nyc-03", "both"]),
        ["sw-nyc-02", "sw-nyc-03"]
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
