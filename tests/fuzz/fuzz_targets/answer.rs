//! Answers of other MCP servers: any content is an object, empty, or an error that can be reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::upstream::{Answer, Candidate};

fuzz_target!(|texts: &str| {
    let texts: Vec<String> = texts.split('\0').map(str::to_owned).collect();
    let structured = serde_json::from_str(&texts[0]).ok();
    let in_words = Answer {
        texts,
        ..Answer::default()
    };
    let in_form = Answer {
        structured,
        ..Answer::default()
    };
    for answer in [in_words, in_form] {
        match answer.candidate("sw-1", true) {
            Ok(Some(Candidate { name, .. })) => assert!(!name.is_empty()),
            Ok(None) => {}
            Err(reported) => assert!(!reported.is_empty() && reported.len() < 4096),
        }
    }
});
