//! Hosts: any bytes are read as a payload and as a transcript of any host, twice with the same keys, and within limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_hosts::transcript::{FileState, read_line, records};
use lored_hosts::{Host, INJECTED_BYTES_MAX, OWN_MARKS, events, json, read, render};

// The first byte is the host.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let host = Host::ALL[usize::from(*first) % Host::ALL.len()];
    let names: Vec<&str> = events::names(host).map(|(name, _)| name).collect();
    let name = names.get(usize::from(*first) / Host::ALL.len()).copied();

    let event = read(host, name.unwrap_or_default(), bytes, &OWN_MARKS);
    let again = read(host, name.unwrap_or_default(), bytes, &OWN_MARKS);
    assert_eq!(event, again);
    for made in &event.observations {
        assert!(made.is_same(made));
        assert!(made.key.as_str().len() <= 350 && made.content_key.as_str().len() <= 350);
    }
    let text = String::from_utf8_lossy(bytes);
    let output = render(event.host, &event.name, &text);
    assert!(output.exit_code == 0 && output.stdout.len() <= 6 * INJECTED_BYTES_MAX + 200);
    assert!(output.stdout.is_empty() || json::read(&output.stdout).is_ok());

    let mut state = FileState::new(host);
    for record in records(host, bytes) {
        for made in read_line(&mut state, record, &OWN_MARKS) {
            assert!(made.is_same(&made));
        }
    }
    // What serde_json reads, ours reads; small texts as a whole.
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes) {
        let read = json::read(bytes).expect("JSON is read");
        assert!(read.left_out > 0 || read.value == value);
    }
});
