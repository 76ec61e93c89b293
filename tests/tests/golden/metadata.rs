//! Stored metadata as types.

use lored::events::Event;

use super::{chained, checkpoint_events, events, hex, others};

/// Stored metadata decodes to types and encodes to the same bytes. Forgotten payloads have none.
#[test]
fn metadata_reads_back() {
    let mut read = 0;
    let stamped = others().into_iter().flatten();
    for (name, event) in stamped
        .chain(chained(events()))
        .chain(chained(checkpoint_events()))
    {
        let Some(payload) = &event.payload else {
            continue;
        };
        let meta = Event::of(&event).unwrap();
        let (kind, bytes) = meta
            .unwrap_or_else(|| panic!("{name} is not known"))
            .encode();
        assert_eq!(event.header.kind, kind, "{name}");
        assert_eq!(hex(&bytes), hex(&payload.meta), "{name}");
        read += 1;
    }
    assert!(read > 20, "{read} events have metadata");
}
