//! Flips one bit in any file of a store.

use super::*;

/// After one flipped bit anywhere in a journal of 100 acknowledged batches, the store is complete or the verdict is
/// damage. The served state is one that the store once had.
#[test]
fn no_flipped_bit_in_a_journal_is_silent() {
    let fixture = Fixture::new(100);
    let mut random = Random(42);
    let mut damages = 0;
    for _ in 0..600 {
        let bit = random.below(fixture.len() * 8);
        let damaged_store = fixture.damaged_store();
        sample::flip(&damaged_store.journal(), bit);
        let (state, recovery_report) = damaged_store.start(Some(fixture.watermark())).unwrap();
        let at = format!("byte {} bit {}", bit / 8, bit % 8);
        assert!(fixture.states.contains(&state), "{at}");
        match recovery_report {
            RecoveryReport::Damage(_) => damages += 1,
            RecoveryReport::Clean | RecoveryReport::TornTail(_) => {
                assert!(state == fixture.states[100], "{at}: {recovery_report:?}")
            }
        }
    }
    assert!(damages > 500, "{damages}");
}

/// A block of zeros or garbage over 100 acknowledged batches, or a journal cut anywhere, is never silent.
#[test]
fn no_lost_block_is_silent() {
    let fixture = Fixture::new(100);
    let mut random = Random(43);
    for nth in 0..200 {
        let at = random.below(fixture.len());
        let damaged_store = fixture.damaged_store();
        let count = (1 + random.below(4096)).min(fixture.len() - at);
        let block = if nth % 2 == 0 {
            vec![0; count as usize]
        } else {
            random.bytes(count)
        };
        let file = OpenOptions::new()
            .write(true)
            .open(damaged_store.journal())
            .unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &block, at).unwrap();
        if nth % 5 == 0 {
            sample::truncate(&damaged_store.journal(), at);
        }
        let (state, recovery_report) = damaged_store.start(Some(fixture.watermark())).unwrap();
        assert!(fixture.states.contains(&state), "{count} bytes at {at}");
        assert!(
            matches!(recovery_report, RecoveryReport::Damage(_)) || state == fixture.states[100],
            "{count} bytes at {at}"
        );
    }
}

/// After one flipped bit near an unacknowledged last batch, everything up to the watermark exists, or it is damage.
#[test]
fn no_flipped_bit_near_the_tail_is_silent() {
    let fixture = Fixture::new(5);
    for bit in fixture.bounds[3] * 8..fixture.len() * 8 {
        if bit % 3 != 0 {
            continue;
        }
        let damaged_store = fixture.damaged_store();
        sample::flip(&damaged_store.journal(), bit);
        let (state, recovery_report) = damaged_store.start(Some(fixture.watermark() - 2)).unwrap();
        let in_last = bit / 8 >= fixture.bounds[4];
        match recovery_report {
            RecoveryReport::Clean => assert_eq!(state, fixture.states[5], "bit {bit}"),
            RecoveryReport::TornTail(_) => {
                assert!(in_last && state == fixture.states[4], "bit {bit}")
            }
            RecoveryReport::Damage(_) => assert!(fixture.states.contains(&state), "bit {bit}"),
        }
    }
}

/// Lists all files below a folder except journals.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    files.retain(|path| path.extension().is_none_or(|end| end != "jnl"));
    files.sort();
    files
}

/// One flipped bit in any file other than a journal is refused before fjall acts on it, is an error when read, or
/// has no effect. It never gives a wrong or smaller store. In a manifest it could otherwise hide the keyspace's
/// journal rows, and in a table's end it would end the process.
#[test]
fn no_flipped_bit_in_another_file_is_silent() {
    let (source, whole) = flushed();
    let mut random = Random(3);
    let (mut refused, mut harmless) = (0, 0);
    for path in files(&source.store()) {
        let name = path.strip_prefix(source.store()).unwrap();
        let is_table = name.components().any(|part| part.as_os_str() == "tables");
        let len = std::fs::metadata(&path).unwrap().len();
        // Every byte of the small files and of the tables' ends; a sample of the verified blocks.
        for byte in (0..len).filter(|byte| !is_table || byte + 600 > len || byte % 17 == 0) {
            let damaged_store = DamagedStore {
                folder: tempfile::tempdir().unwrap(),
            };
            sample::copy(&source.store(), &damaged_store.store());
            sample::flip(
                &damaged_store.store().join(name),
                byte * 8 + random.below(8),
            );
            match damaged_store.start(Some(14)) {
                Err(_) => refused += 1,
                Ok((state, recovery_report)) => {
                    assert_eq!(
                        (&state, recovery_report),
                        (&whole, RecoveryReport::Clean),
                        "{} byte {byte}",
                        name.display()
                    );
                    harmless += 1;
                }
            }
        }
    }
    assert!(refused > 2000 && harmless > 20, "{refused} {harmless}");
}
