//! Files of a store beside its tables: a journal and a head of arbitrary bytes are read, or refused, without ever
//! taking more memory than they have bytes.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored::store::head::Head;
use lored::store::journal::{Standing, Survey};

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
    let survey = Survey::read(&FOLDER, |standing, _, item| {
        kept += u64::from(standing == Standing::Kept);
        assert!(item.key.len() + item.value.len() <= bytes.len());
    });
    if let Ok(survey) = survey {
        assert!(survey.batches <= kept && survey.wounds.len() <= 1);
        let _ = survey.tail();
    }
    let head = FOLDER.join("head");
    std::fs::write(&head, bytes).expect("a file is written");
    let _ = Head::peek(&head);
    if let Ok((mut head, found)) = Head::open(&head, [7; 16]) {
        head.record(found).expect("a slot is written");
    }
});
