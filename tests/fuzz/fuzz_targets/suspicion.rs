//! Any text has findings in order, at character boundaries; what a user may not say, a document may not say either.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_suspicion::{FINDINGS_MAX, Origin, scan};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for origin in [Origin::User, Origin::Agent, Origin::Tool, Origin::Document] {
        let found = scan(&text, origin);
        assert!(found.len() <= FINDINGS_MAX);
        assert!(found.is_sorted_by_key(|finding| finding.range.start));
        for finding in &found {
            assert!(text.get(finding.range.clone()).is_some());
        }
        assert_eq!(scan(&text, origin), found);
    }
    if !scan(&text, Origin::User).is_empty() {
        assert!(!scan(&text, Origin::Document).is_empty());
    }
});
