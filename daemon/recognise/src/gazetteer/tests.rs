//! Tests of known names in texts: whole words in any case, independent of the order of additions.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn known(name: &str) -> KnownName {
    KnownName::new("device", &canonical_key("device", name), name)
}

fn found(gazetteer: &Gazetteer, text: &str) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    gazetteer.search(text, |start, end, name| {
        found.push((start, end, name.name.to_string()))
    });
    found.sort();
    found
}

#[test]
fn whole_words_in_any_case() {
    let gazetteer = Gazetteer::new(
        [
            "sw-1",
            "sw-10",
            "Zürich Core",
            "core",
            "core sw",
            "@scope/pkg",
            "#905",
        ]
        .map(known),
    );
    let words = |text| {
        found(&gazetteer, text)
            .into_iter()
            .map(|(_, _, name)| name)
            .collect::<Vec<_>>()
    };
    assert_eq!(words("SW-1, sw-10; sw-100"), ["sw-1", "sw-10"]);
    assert_eq!(words("the ZÜRICH CORE router"), ["Zürich Core", "core"]);
    assert_eq!(words("core switch"), ["core"]);
    assert_eq!(words("use @scope/pkg not xscope/pkg"), ["@scope/pkg"]);
    assert_eq!(
        words("cable #905 or 905"),
        ["#905"; 0],
        "a number is looked up, not searched for"
    );
    assert_eq!(words("score cores hardcore core-x"), [""; 0]);
}

#[test]
fn a_name_of_several_is_looked_up_only_if_they_are_one() {
    let vlan = |key: &str| KnownName::new("vlan", key, "mgmt").alias("10");
    let gazetteer = Gazetteer::new([vlan("ams/mgmt"), known("10")]);
    assert_eq!(
        gazetteer.lookup("vlan", "10").map(|name| &*name.key),
        Some("ams/mgmt")
    );
    let gazetteer = gazetteer.with([vlan("zrh/mgmt")]);
    assert_eq!(gazetteer.lookup("vlan", "10"), None);
    assert_eq!(gazetteer.lookup("vlan", "11"), None);
}

#[test]
fn parts_stay_few_and_nothing_is_lost() {
    let mut gazetteer = Gazetteer::default();
    for from in 0..200 {
        gazetteer = gazetteer.with((0..20).map(|n| known(&format!("sw-{}", from * 20 + n))));
        assert!(gazetteer.parts.len() <= 6);
    }
    assert_eq!(gazetteer.len(), 4000);
    assert_eq!(gazetteer.with([known("sw-7")]).len(), 4000);
    let text: String = (0..4000).map(|n| format!("sw-{n} ")).collect();
    assert_eq!(found(&gazetteer, &text).len(), 4000);
}

fn name() -> impl Strategy<Value = String> {
    let parts = [
        "sw", "a", "b-1", " ", "-", "É", "ß", "İ", "x", "/", "#", "10", "_",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 1..5)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn learned_bit_by_bit_or_at_once(
        batches in prop::collection::vec(prop::collection::vec(name(), 0..12), 0..6),
        text in prop::collection::vec(name(), 0..20),
    ) {
        let text = text.join(" ");
        let learned = batches.iter().fold(Gazetteer::default(), |gazetteer, batch| {
            gazetteer.with(batch.iter().map(|name| known(name)))
        });
        let at_once = Gazetteer::new(batches.iter().flatten().map(|name| known(name)));
        prop_assert_eq!(learned.len(), at_once.len());
        prop_assert_eq!(found(&learned, &text), found(&at_once, &text));
        for (start, end, name) in found(&learned, &text) {
            let word = text.get(start..end).unwrap();
            prop_assert_eq!(word.to_lowercase(), name.to_lowercase());
        }
    }
}
