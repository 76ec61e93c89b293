//! Tests of mentions by pack patterns, known names, fields and limits.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod bounds;
mod code;
mod json;
mod judged;
mod netbox;

use super::*;
use std::sync::LazyLock;

pub(super) static PACKS: LazyLock<PackSet> = LazyLock::new(|| PackSet::built_in().unwrap());

/// Returns the matches of both built-in packs in a text, each as `kind name`.
fn found(text: &str) -> Vec<String> {
    let recognised = recognise(&PACKS, text, &Knowledge::default());
    words(&recognised.matches)
}

fn words(matches: &[Match]) -> Vec<String> {
    let word = |hit: &Match| format!("{} {}", hit.kind, hit.name);
    matches.iter().map(word).collect()
}

/// Asserts that each text mentions exactly the listed entities.
fn check(cases: &[(&str, &[&str])]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(text, wanted)| found(text) != *wanted)
        .map(|(text, wanted)| format!("{text:?}: {:?}, wanted {wanted:?}", found(text)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn two_devices_are_found_in_order() {
    let text = "switch-nyc-01 and router-la-02";
    let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
    assert_eq!(
        words(&matches),
        ["device switch-nyc-01", "device router-la-02"]
    );
    assert_eq!(
        matches
            .iter()
            .map(|hit| (hit.start, hit.end))
            .collect::<Vec<_>>(),
        [(0, 13), (18, 30)]
    );
    assert!(
        matches
            .iter()
            .all(|hit| hit.confidence == 0.8 && hit.how == RecognitionMethod::Pattern)
    );
}

#[test]
fn prose_mentions_nothing() {
    for text in [
        "A well-known, end-to-end approach that is state-of-the-art, up-to-date and step-by-step.",
        "On 2026-11-22 at 12:30:45 we released v1.2.3, then 2.0.0-rc.1 and 10.4.",
        "The id is 6f27f631-46ab-4c0e-9d3b-0a1b2c3d4e5f.",
        "UTF-8, SHA-256, ISO-8859-1, x86-64, COVID-19, GPT-4, MP3, IPv4, IPv6 and TLS1.",
        "It takes 3-4 days; see pages 10-12. I/O and/or TCP/IP. 50/50. 1/2.",
        "e.g. this, i.e. that, etc. What? No... Yes!",
        "The server is down and the switch was replaced; check the rack and the site.",
        "A site is a place; a vrf is a table; the tenant pays; contact us; the cluster is up.",
        "fn main() { let x = a::b; std::mem::swap(&mut a, &mut b); }",
        "Please restart the web-based server-side client-side pre-release re-run.",
        "We use Python 3.11 and Node 20 on Debian 12, claude-opus-4 and gpt-4-turbo.",
        "The meeting is at 10:00, room B12, floor 3. Cost: $5 or €7, 20% off.",
        "deadbeef cafebabe 1234567 20261122 facade decade",
        "1.2.3.4.5 and 300.1.1.1 and 10.0.0.0/33 are none.",
        "top-of-rack, out-of-band, day-0, layer-2, level-3, 24-port, 100-gigabit",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_known_is_found_by_name_slug_and_number() {
    let site = KnownName::new("site", "amsterdam ams1", "Amsterdam AMS1");
    let vlan = KnownName::new("vlan", "amsterdam ams1/acme-web", "acme-web");
    let session = Gazetteer::new([
        site.clone(),
        site.alias("ams1"),
        vlan.alias("100"),
        KnownName::new("device_role", "server", "Server"),
    ]);
    let project = Gazetteer::new([
        KnownName::new("cluster", "ams1", "ams1"),
        KnownName::new("virtual_machine", "gitlab", "gitlab"),
        KnownName::new("virtual_machine", "git-lab-1", "git-lab-1"),
    ]);
    let knowledge = Knowledge {
        gazetteers: &[&session],
        project: Some(&project),
        ..Knowledge::default()
    };
    // One bare word, such as `gitlab`, is not carried over from another session.
    let text = "GitLab at AMS1 (amsterdam ams1) in VLAN 100 on a server, not ams1-x; git-lab-1";
    let matches = recognise(&PACKS, text, &knowledge).matches;
    let keys: Vec<String> = matches
        .iter()
        .map(|hit| format!("{} {}", hit.kind, hit.key))
        .collect();
    let wanted = [
        "site amsterdam ams1",
        "site amsterdam ams1",
        "vlan amsterdam ams1/acme-web",
        "virtual_machine git-lab-1",
    ];
    assert_eq!(keys, wanted);
    assert_eq!(matches[0].name, "Amsterdam AMS1");
    assert_eq!(matches[0].how, RecognitionMethod::Known);
    assert_eq!(matches[2].how, RecognitionMethod::Pattern);
}

/// Returns the finds of a person's text in a session that knows some devices and symbols.
fn said(text: &str, past: &[Arc<PastText>]) -> TextMentions {
    let known = |kind: &str, name: &str| KnownName::new(kind, &canonical_key(kind, name), name);
    let session = Gazetteer::new([
        known("device", "ams1-core-01"),
        known("device", "ams1-core-02"),
        known("file_path", "tests/test_total.py"),
        known("symbol", "build_row"),
        known("branch", "main"),
        known("virtual_machine", "netbox"),
        known("tenant", "Acme Retail"),
        known("vlan", "acme-web"),
    ]);
    let knowledge = Knowledge {
        gazetteers: &[&session],
        past,
        source: TextSource::Person,
        ..Knowledge::default()
    };
    recognise(&PACKS, text, &knowledge)
}

#[test]
fn a_part_or_a_misspelling_refers_to_the_known_name() {
    for (text, wanted, how) in [
        (
            "is core-1 fine?",
            "device ams1-core-01",
            RecognitionMethod::Near,
        ),
        (
            "is ams1-core-1 fine?",
            "device ams1-core-01",
            RecognitionMethod::Near,
        ),
        (
            "is ams1-cor-02 fine?",
            "device ams1-core-02",
            RecognitionMethod::Near,
        ),
        (
            "run test_totl.py",
            "file_path tests/test_total.py",
            RecognitionMethod::Near,
        ),
        (
            "a test for build_rw?",
            "symbol build_row",
            RecognitionMethod::Near,
        ),
        (
            "does acme know?",
            "tenant Acme Retail",
            RecognitionMethod::Near,
        ),
        (
            "is ams1-core-03 there?",
            "device ams1-core-03",
            RecognitionMethod::Pattern,
        ),
    ] {
        let found = said(text, &[]);
        assert_eq!(words(&found.matches), [wanted], "{text}");
        let hit = &found.matches[0];
        assert_eq!(hit.how, how, "{text}");
        assert!(
            hit.confidence >= 0.7 && hit.confidence <= 1.0,
            "{text} {}",
            hit.confidence
        );
    }
    // Two are as near: both are possible, and none is new.
    let found = said("is core fine? and ams1-core?", &[]);
    assert_eq!(words(&found.matches), [""; 0]);
}

#[test]
fn everyday_words_need_evidence() {
    for text in [
        "My main worry is the total, did the test pass?",
        "the `total` is red",
        "NetBox is a fine program",
    ] {
        assert_eq!(words(&said(text, &[]).matches), [""; 0], "{text}");
    }
    assert_eq!(
        words(&said("rebase it on main", &[]).matches),
        ["branch main"]
    );
    assert_eq!(
        words(&said("restart netbox", &[]).matches),
        ["virtual_machine netbox"]
    );
    // Marked as code in two texts.
    let first = said("the `total` is red", &[]);
    assert_eq!(first.marked, ["total"]);
    let past = [Arc::new(PastText::of(
        TextSource::Person,
        &first.matches,
        &first.marked,
    ))];
    assert_eq!(
        words(&said("what calls `total`?", &past).matches),
        ["symbol total"]
    );
}

#[test]
fn an_everyday_word_counts_once_another_system_confirms_it() {
    let session = Gazetteer::new([KnownName::new("site", "home", "home")]);
    let confirmed = std::collections::HashSet::from([("site".to_owned(), "home".to_owned())]);
    let finds = |text: &str, confirmed| {
        let knowledge = Knowledge {
            gazetteers: &[&session],
            confirmed,
            source: TextSource::Person,
            ..Knowledge::default()
        };
        words(&recognise(&PACKS, text, &knowledge).matches)
    };
    let text = "which racks does home have?";
    assert_eq!(finds(text, None), [""; 0]);
    assert_eq!(finds(text, Some(&confirmed)), ["site home"]);
    assert_eq!(finds("Home again, at last", Some(&confirmed)), [""; 0]);
}
