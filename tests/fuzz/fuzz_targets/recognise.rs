//! Entities: any text is searched with the built-in packs and with any valid pack; all matches are within the text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored_recognise::{
    Gazetteer, Knowledge, KnownName, MATCHES_MAX, NAME_BYTES_MAX, PackSet, TextSource,
    canonical_key, recognise,
};

static BUILT_IN: LazyLock<PackSet> =
    LazyLock::new(|| PackSet::built_in().expect("the built-in packs are right"));

// The first line is a known name; a text that parses as a pack is a pack, too.
fuzz_target!(|text: &str| {
    let name = text.lines().next().unwrap_or_default();
    let key = canonical_key("device", name);
    let gazetteer = Gazetteer::new([KnownName::new("device", &key, name)]);
    let knowledge = Knowledge {
        gazetteers: &[&gazetteer],
        source: TextSource::Person,
        ..Knowledge::default()
    };
    let own = PackSet::parse("fuzz.toml", text).ok();
    for packs in [Some(&*BUILT_IN), own.as_ref()].into_iter().flatten() {
        let recognised = recognise(packs, text, &knowledge);
        assert!(recognised.matches.len() <= MATCHES_MAX);
        for hit in &recognised.matches {
            assert!(text.get(hit.start..hit.end).is_some(), "{hit:?}");
            assert!(hit.name.len() <= NAME_BYTES_MAX);
            if let Some(data) = hit.data {
                assert!(data.json(text).is_some_and(|json| json.starts_with('{')));
            }
        }
    }
});
