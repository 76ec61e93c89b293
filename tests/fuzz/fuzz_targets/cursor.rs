//! Small values that callers write: cursors, ids, times and positions round-trip or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lore::protocol::{AsOf, CheckpointId, CursorName, Position, SessionId};
use lored::clock::{format_time, parse_time};
use lored::operation::cursor::{Cursor, List};
use lored::store::StoreId;

fuzz_target!(|text: &str| {
    let store = StoreId([0x1a; 16]);
    for list in List::ALL {
        if let Ok(cursor) = Cursor::read(text, "cursor", list, store, Position(u64::MAX)) {
            let again = Cursor::read(
                &cursor.text(list, store),
                "cursor",
                list,
                store,
                Position(u64::MAX),
            );
            assert_eq!(again.ok(), Some(cursor));
        }
    }
    if let Some(time) = parse_time(text) {
        assert_eq!(parse_time(&format_time(time)), Some(time));
    }
    let quoted = serde_json::to_string(text).expect("a text is JSON");
    for json in [text, &quoted] {
        let _ = serde_json::from_str::<AsOf>(json);
        let _ = serde_json::from_str::<CheckpointId>(json);
        let _ = serde_json::from_str::<CursorName>(json);
        let _ = serde_json::from_str::<SessionId>(json);
    }
});
