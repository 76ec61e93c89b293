//! Files of a store outside its tables: a journal and a durable watermark of arbitrary bytes are read or refused,
//! and use no more memory than their length.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored::store::journal::{BatchState, JournalScan};
use lored::store::watermark::WatermarkFile;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("lored-fuzz-store-{}", std::process::id()));
    for keyspace in 0..16 {
        std::fs::create_dir_all(folder.join(format!("keyspaces/{keyspace}")))
            .expect("a folder is made");
    }
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let journal = FOLDER.join("0.jnl");
    std::fs::write(&journal, bytes).expect("a file is written");
    let mut kept = 0;
    let scan = JournalScan::read(&FOLDER, |state, _, item| {
        kept += u64::from(state == BatchState::Kept);
        assert!(item.key.len() + item.value.len() <= bytes.len());
    });
    if let Ok(scan) = scan {
        assert!(scan.batches <= kept && scan.corruptions.len() <= 1);
        let _ = scan.tail();
    }
    let head = FOLDER.join("head");
    std::fs::write(&head, bytes).expect("a file is written");
    let _ = WatermarkFile::peek(&head);
    if let Ok((mut head, found)) = WatermarkFile::open(&head, [7; 16]) {
        head.record(found).expect("a slot is written");
    }
});
