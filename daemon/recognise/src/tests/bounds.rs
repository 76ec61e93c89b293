//! Tests of limits: truncation is reported, and spans are valid for any text.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use proptest::prelude::*;

#[test]
fn a_long_text_is_searched_to_its_bound() {
    let text = format!(
        "switch-nyc-01 {} router-la-02",
        "é ".repeat(TEXT_BYTES_MAX / 3)
    );
    let recognised = recognise(&PACKS, &text, &Knowledge::default());
    assert_eq!(words(&recognised.matches), ["device switch-nyc-01"]);
    let searched = recognised.searched_bytes.unwrap();
    assert!(searched <= TEXT_BYTES_MAX && searched > TEXT_BYTES_MAX - NAME_BYTES_MAX);
}

#[test]
fn json_that_is_cut_off_is_read_as_far_as_it_goes() {
    let object = |n: usize| {
        format!(
            r#"{{"url": "https://n/api/dcim/devices/{n}/", "id": {n}, "name": "d{n}", "comments": "{}"}}"#,
            "x".repeat(4000)
        )
    };
    let objects: Vec<String> = (0..400).map(object).collect();
    let text = format!(r#"{{"results": [{}]}}"#, objects.join(", "));
    assert!(text.len() > TEXT_BYTES_MAX);
    let recognised = recognise(&PACKS, &text, &Knowledge::default());
    let devices = recognised
        .matches
        .iter()
        .filter(|hit| hit.how == RecognitionMethod::Json)
        .count();
    let whole = TEXT_BYTES_MAX / objects[0].len();
    assert!(devices.abs_diff(whole) <= 2, "{devices} of {whole}");
    assert!(recognised.searched_bytes.is_some());
}

#[test]
fn a_hundred_thousand_entities_are_counted() {
    let names: Vec<String> = (0..100_000).map(|n| format!("sw-{n:05}")).collect();
    let session = Gazetteer::new(
        names
            .iter()
            .map(|name| KnownName::new("device", name, name)),
    );
    let knowledge = Knowledge {
        gazetteers: &[&session],
        ..Knowledge::default()
    };
    let text = names.join(" ");
    let recognised = recognise(&PACKS, &text, &knowledge);
    assert_eq!(
        (recognised.matches.len(), recognised.more),
        (MATCHES_MAX, 100_000 - MATCHES_MAX)
    );
    assert_eq!(recognised.matches[0].name, "sw-00000");
}

#[test]
fn repeated_mentions_go_first() {
    let text = format!(
        "{}router-la-02 switch-nyc-01",
        "switch-nyc-01 ".repeat(MATCHES_MAX)
    );
    let recognised = recognise(&PACKS, &text, &Knowledge::default());
    assert_eq!(recognised.more, 2);
    assert!(words(&recognised.matches).contains(&"device router-la-02".to_owned()));
}

#[test]
fn names_are_shown_safely_and_are_not_long() {
    let text = "{\"device\": {\"name\": \"sw\\u202e-1\\u0007\"}}";
    let matches = recognise(&PACKS, text, &Knowledge::default()).matches;
    assert_eq!(
        (matches[0].name.as_str(), matches[0].key.as_str()),
        ("sw\\u{202e}-1\\u{7}", "sw-1")
    );
    let text = format!("{{\"device\": {{\"name\": \"{}\"}}}}", "x".repeat(257));
    assert_eq!(found(&text), [""; 0]);
    assert_eq!(found(&format!("/{}", "x/".repeat(200))), [""; 0]);
}

#[test]
fn deep_and_broken_json_is_text() {
    let deep = format!(
        "{}\"switch-nyc-01\"{}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(found(&deep), ["device switch-nyc-01"]);
    let open = format!("{} switch-nyc-01", "{\"a\":".repeat(100_000));
    assert_eq!(found(&open), ["device switch-nyc-01"]);
    assert_eq!(found("{\"device\": {\"name\": \"sw-9\"}"), ["device sw-9"]);
}

fn piece() -> impl Strategy<Value = String> {
    let known = [
        "switch-nyc-01",
        "10.0.0.1/24",
        "2001:db8::1",
        "AMS1",
        "`",
        "\"",
        "{\"device\":",
        "{\"name\":\"x-1\"}",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\u00e9",
        "\\",
        "é",
        "\u{202e}",
        " ",
        "\n",
        "it ",
        "that device",
        "both ",
        "the first switch",
        "the other one",
        "VLAN 100",
        "https://a.example.com/x",
        "#12",
        "İ",
        "ß",
        "site ",
        "tenant Acme",
        "sw 1",
        "{\"text\":\"{\\\"site\\\":\\\"nyc\\\"}\"}",
    ];
    prop_oneof![
        8 => prop::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn spans_are_within_the_text_and_do_not_overlap(pieces in prop::collection::vec(piece(), 0..24)) {
        let text = pieces.concat();
        let session = Gazetteer::new(["sw 1", "é", "x-1", "İstanbul", "acme", "switch-nyc-01"].map(|name| KnownName::new("tenant", name, name)));
        let mention = |name: &str| Mention { kind: "device".into(), key: name.to_owned(), name: name.to_owned() };
        let past_mention = |name: &str| PastMention {
            words: vec!["core".to_owned()],
            ..PastMention::new(mention(name), 80)
        };
        let past = [Arc::new(PastText {
            source: TextSource::Agent,
            mentions: ["a-1", "b-2"].map(past_mention).to_vec(),
            marked: vec!["total".to_owned()],
        })];
        let knowledge = Knowledge {
            gazetteers: &[&session],
            past: &past,
            objects: Some("site"),
            source: TextSource::Person,
            ..Knowledge::default()
        };
        let matches = recognise(&PACKS, &text, &knowledge).matches;
        let mut last: Option<&Match> = None;
        for hit in &matches {
            let word = text.get(hit.start..hit.end);
            prop_assert!(word.is_some_and(|word| !word.is_empty()), "{hit:?}");
            prop_assert!(hit.name.len() <= NAME_BYTES_MAX && !hit.key.is_empty());
            prop_assert!(!hit.name.chars().any(char::is_control));
            prop_assert!(hit.confidence > 0.0 && hit.confidence <= 1.0);
            if let Some(last) = last {
                let is_plural = last.how == RecognitionMethod::Reference && hit.how == RecognitionMethod::Reference;
                let same = is_plural && (last.start, last.end) == (hit.start, hit.end);
                prop_assert!(last.end <= hit.start || same, "{last:?} {hit:?}");
            }
            if let Some(data) = hit.data {
                let json = data.json(&text).unwrap();
                prop_assert!(json.starts_with('{'), "{json}");
            }
            last = Some(hit);
        }
        prop_assert_eq!(&matches, &recognise(&PACKS, &text, &knowledge).matches);
    }
}
