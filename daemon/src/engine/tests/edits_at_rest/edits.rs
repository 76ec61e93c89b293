//! What a program does to the files of a store behind the daemon's back.

use super::*;

/// Its name, where it is noticed, and what it does to the data folder.
pub type Edit = (&'static str, Noticed, fn(&Original, &DataFolder));

/// Position 2 is a step of `s-1` with a key, 4 one of the session that was forgotten.
pub const EDITS: &[Edit] = &[
    ("another body", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            flip(&mut events[1].payload.as_mut().unwrap().body)
        });
    }),
    ("another body with its hash", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            flip(&mut events[1].payload.as_mut().unwrap().body);
            hash_again(&mut events[1]);
        });
    }),
    (
        "another body with the whole chain",
        Noticed::AtStart,
        |_, at| {
            edit_events(at, |events| {
                flip(&mut events[1].payload.as_mut().unwrap().body);
                hash_again(&mut events[1]);
                chain_again(events);
                set_head(at, events);
            });
        },
    ),
    ("another salt", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            flip(&mut events[1].payload.as_mut().unwrap().salt)
        });
    }),
    ("other metadata", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            flip(&mut events[1].payload.as_mut().unwrap().meta)
        });
    }),
    ("another author", Noticed::OnRead, |_, at| {
        edit_events(at, |events| in_header(&mut events[1], "tests/1", "tests/2"));
    }),
    (
        "another author with the whole chain",
        Noticed::AtStart,
        |_, at| {
            edit_events(at, |events| {
                in_header(&mut events[1], "tests/1", "tests/2");
                chain_again(events);
                set_head(at, events);
            });
        },
    ),
    ("another session", Noticed::OnRead, |_, at| {
        edit_events(at, |events| in_header(&mut events[1], "s-1", "s-9"));
    }),
    ("another kind", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            in_header(&mut events[1], "StepRecorded", "ToolRecorded")
        });
    }),
    ("another time", Noticed::OnRead, |_, at| {
        edit_events(at, |events| {
            let at = events[1]
                .header_bytes
                .windows(4)
                .position(|part| part == b"time");
            events[1].header_bytes[at.unwrap() + 12] ^= 1;
        });
    }),
    ("another key", Noticed::OnRead, |_, at| {
        edit_events(at, |events| events[1].key = Some("other".to_owned()));
    }),
    ("another link", Noticed::OnRead, |_, at| {
        edit_events(at, |events| flip(&mut events[1].link.0));
    }),
    ("no seal", Noticed::OnRead, |_, at| {
        edit_events(at, |events| events[1].seal = None);
    }),
    ("no seals", Noticed::AtStart, |_, at| {
        edit_events(at, |events| {
            events.iter_mut().for_each(|event| event.seal = None)
        });
    }),
    ("another seal", Noticed::OnRead, |_, at| {
        edit_events(at, |events| flip(events[1].seal.as_mut().unwrap()));
    }),
    ("the seal of another event", Noticed::OnRead, |_, at| {
        edit_events(at, |events| events[1].seal = events[0].seal);
    }),
    ("seals of another key", Noticed::AtStart, |_, at| {
        let id = Store::identify(&at.store()).unwrap();
        let sealer = crate::store::seal::Sealer::new(&SealKey::new([9; 32]), id, 1);
        edit_events(at, |events| {
            events.iter_mut().for_each(|event| event.seal_with(&sealer))
        });
    }),
    ("a content that is gone", Noticed::Verified, |_, at| {
        edit_events(at, |events| {
            events[1].payload = None;
            events[1].key = None;
        });
    }),
    (
        "two events in each other's place",
        Noticed::OnRead,
        |_, at| {
            edit_rows(at, LOG, |rows| {
                assert!(rows.len() > 2);
                let first = rows[0].1.clone();
                rows[0].1 = std::mem::replace(&mut rows[1].1, first);
            });
        },
    ),
    ("an event twice", Noticed::AtStart, |_, at| {
        edit_rows(at, LOG, |rows| {
            let last = rows.last().unwrap().clone();
            let end = u64::from_be_bytes(last.0.clone().try_into().unwrap()) + 1;
            rows.push((end.to_be_bytes().to_vec(), last.1));
        });
    }),
    (
        "an event more, with its chain",
        Noticed::AtStart,
        |_, at| {
            edit_events(at, |events| {
                let (mut forged, end) = (events[1].clone(), events.len() as u64 + 1);
                forged.header.position = Position(end);
                let at = forged
                    .header_bytes
                    .windows(8)
                    .position(|part| part == b"position");
                forged.header_bytes[at.unwrap() + 8] = end as u8;
                events.push(forged);
                chain_again(events);
            });
        },
    ),
    ("an event less at the end", Noticed::AtStart, |_, at| {
        edit_events(at, |events| drop(events.pop()));
    }),
    (
        "an event less at the end, and the head",
        Noticed::AtStart,
        |_, at| {
            edit_events(at, |events| {
                events.pop();
                set_head(at, events);
            });
        },
    ),
    ("an event less in between", Noticed::Verified, |_, at| {
        edit_events(at, |events| drop(events.remove(4)));
    }),
    ("the first event less", Noticed::Verified, |_, at| {
        edit_events(at, |events| drop(events.remove(0)));
    }),
    ("half a record", Noticed::OnRead, |_, at| {
        edit_rows(at, LOG, |rows| rows[0].1.truncate(20));
    }),
    ("an older copy", Noticed::AtStart, |of, at| {
        replace(&at.data, &of.dir.path().join("after"));
    }),
    (
        "an older copy with what was forgotten",
        Noticed::AtStart,
        |of, at| {
            replace(&at.data, &of.dir.path().join("before"));
        },
    ),
    ("another store", Noticed::AtStart, |of, at| {
        let other = of.folder("other");
        // Another clock gives another id.
        drop(opened_at(&other, &Clock::fixed(START, 7)).unwrap());
        replace(&at.data, &other.data);
    }),
    ("no store", Noticed::AtStart, |_, at| {
        std::fs::remove_dir_all(at.store()).unwrap();
    }),
    ("no data folder", Noticed::AtStart, |_, at| {
        std::fs::remove_dir_all(&at.data).unwrap();
    }),
    ("no head", Noticed::AtStart, |_, at| {
        std::fs::remove_file(at.watermark_path()).unwrap();
    }),
    ("no seal file", Noticed::AtStart, |_, at| {
        let id = Store::identify(&at.store()).unwrap();
        std::fs::remove_file(SealFile::path(&at.seals, id)).unwrap();
    }),
    ("no key", Noticed::AtStart, |_, at| {
        std::fs::remove_file(at.seal_key()).unwrap();
    }),
    ("another key of the seals", Noticed::AtStart, |_, at| {
        flip_file(&at.seal_key())
    }),
    (
        "forgotten content back, without its tombstone",
        Noticed::Verified,
        |of, at| {
            let before = DataFolder::new(of.dir.path().join("before"), of.dir.path().join("state"));
            let old = rows(&store(&before), LOG);
            edit_view(at, "sessions", |rows| {
                rows.retain(|(key, _)| !key.windows(3).any(|part| part == SECRET.as_bytes()));
            });
            let store = store(at);
            let mut tx = Transaction::new(&store);
            old.iter()
                .for_each(|(key, record)| tx.put(LOG, key, record));
            store.commit(&tx.into_changes(), true).unwrap();
        },
    ),
    ("a row of a view", Noticed::Verified, |_, at| {
        edit_view(at, "steps", |rows| flip_last(rows))
    }),
    ("a row of the sessions", Noticed::Verified, |_, at| {
        edit_view(at, "sessions", |rows| flip_last(rows))
    }),
    ("a row less", Noticed::Verified, |_, at| {
        edit_view(at, "steps", |rows| drop(rows.pop()))
    }),
    ("a row more", Noticed::Verified, |_, at| {
        edit_view(at, "steps", |rows| rows.push((vec![200; 9], vec![1])));
    }),
    ("a key that was never used", Noticed::Verified, |_, at| {
        edit_rows(at, INDEX, |rows| flip_last(rows));
    }),
];
