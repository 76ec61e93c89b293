//! Tests of the commands on given checkpoints.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::engine::Command;
use crate::engine::tests::{Fixture, TestCall, choice_of, content_piece, create, save};
use crate::events::checkpoints::{CheckpointEvent, CheckpointKey, CheckpointSaved, DeletionCause};
use crate::log::{OBJECTS, Position};
use crate::sessions::PreparedSession;

fn key(id: u8) -> CheckpointKey {
    CheckpointKey::of([id; 16])
}

/// A session `s` in which contents were saved one after another, as checkpoints 1, 2, …
fn given(contents: &[u8]) -> Fixture {
    let mut fixture = Fixture::new();
    done(&mut fixture, create("s"));
    for (at, content) in contents.iter().enumerate() {
        done(&mut fixture, saving(at as u8 + 1, *content));
    }
    fixture
}

fn saving(id: u8, content: u8) -> SaveCheckpoint {
    SaveCheckpoint {
        limits: crate::checkpoints::Limits {
            per_session_max: 3,
            ..crate::checkpoints::Limits::default()
        },
        ..save(id, choice_of("s"), &[Some(content)], false)
    }
}

fn deleting(ids: &[u8], cause: DeletionCause) -> DeleteCheckpoints {
    let checkpoints = ids.iter().map(|id| key(*id)).collect();
    DeleteCheckpoints::new("s", checkpoints, cause, [0; 16])
}

fn marking(key: &str) -> MarkKey {
    MarkKey {
        session: "s".to_owned(),
        key: key.to_owned(),
        is_unmarked: false,
        body: Some(empty_body([0; 16])),
    }
}

fn done(fixture: &mut Fixture, command: impl Command + 'static) {
    fixture.one(TestCall::new(command)).unwrap();
}

fn left(fixture: &Fixture) -> Vec<CheckpointKey> {
    let all = view::all(&fixture.rows, "s").unwrap();
    all.into_iter().map(|row| row.checkpoint).collect()
}

fn saved(fixture: &Fixture) -> CheckpointSaved {
    crate::events::meta(fixture.events().last().unwrap()).unwrap()
}

/// An unchanged context is not recorded, also within a group, unless the save is forced.
#[test]
fn an_unchanged_context_is_no_event() {
    let mut fixture = given(&[0]);
    let (again, other, same) = (saving(2, 0), saving(3, 1), saving(4, 1));
    let reports = [
        again.report.clone(),
        other.report.clone(),
        same.report.clone(),
    ];
    let outcomes = fixture.group([again, other, same].map(TestCall::new).into());
    assert!(outcomes[0].is_err() && outcomes[1].is_ok() && outcomes[2].is_err());
    let unchanged = |report: &Report| match report.result().instead.take() {
        Some(SaveSkipped::Unchanged(row)) => Some(row.checkpoint),
        Some(SaveSkipped::Stale) | None => None,
    };
    assert_eq!(
        reports.each_ref().map(unchanged),
        [Some(key(1)), None, Some(key(3))]
    );
    let forced = SaveCheckpoint {
        is_forced: true,
        ..saving(5, 1)
    };
    done(&mut fixture, forced);
    assert_eq!(left(&fixture), [key(1), key(3), key(5)]);
    assert_eq!(saved(&fixture).new_bytes, 0, "nothing new is stored");
}

/// A save that expects another latest checkpoint is refused with both ids; a correct one succeeds in the same group.
#[test]
fn a_save_on_another_latest_is_refused() {
    let mut fixture = given(&[0, 1]);
    let expecting = |id, content, expected| {
        TestCall::new(SaveCheckpoint {
            expected: Some(key(expected)),
            ..saving(id, content)
        })
    };
    let outcomes = fixture.group(vec![
        expecting(3, 2, 1),
        expecting(4, 2, 2),
        expecting(5, 3, 2),
        expecting(6, 1, 2),
    ]);
    let codes: Vec<Option<Code>> = outcomes
        .iter()
        .map(|outcome| outcome.as_ref().err().map(|refusal| refusal.code))
        .collect();
    assert_eq!(
        codes,
        [
            Some(Code::Conflict),
            None,
            Some(Code::Conflict),
            Some(Code::Conflict)
        ]
    );
    let message = &outcomes[2].as_ref().unwrap_err().message;
    assert!(message.contains(&key(4).to_string()), "{message}");
    assert!(message.contains(&key(2).to_string()), "{message}");
}

/// A delta whose base was deleted after the preparation is stale. A delta whose object was added in the meantime shares
/// it, whatever its chain.
#[test]
fn a_save_prepared_on_what_has_gone_is_stale() {
    let mut fixture = given(&[0]);
    let delta = |id| SaveCheckpoint {
        pieces: vec![content_piece(0, 1, true)],
        ..saving(id, 1)
    };
    let gone = delta(2);
    let report = gone.report.clone();
    let outcomes = fixture.group(vec![
        TestCall::new(deleting(&[1], DeletionCause::Asked)),
        TestCall::new(gone),
        TestCall::new(saving(3, 1)),
        TestCall::new(SaveCheckpoint {
            is_forced: true,
            ..delta(4)
        }),
    ]);
    assert!(outcomes[1].is_err());
    assert_eq!(report.result().instead, Some(SaveSkipped::Stale));
    outcomes[3].as_ref().unwrap();
    let chain = &saved(&fixture).parts[0].chain;
    assert_eq!(
        chain.iter().map(|link| link.hash).collect::<Vec<_>>(),
        [Hash::of(&[1])]
    );
    let absent = SaveCheckpoint {
        pieces: vec![ContextPiece {
            packed: None,
            ..content_piece(0, 2, false)
        }],
        ..saving(5, 2)
    };
    let report = absent.report.clone();
    assert!(fixture.one(TestCall::new(absent)).is_err());
    assert_eq!(report.result().instead, Some(SaveSkipped::Stale));
}

/// Beyond the limit the oldest unnamed checkpoint is deleted in the same commit. Named ones, and the newest with a
/// critical key, stay. If all are exempt, the save is refused.
#[test]
fn the_oldest_unnamed_one_goes_first() {
    let mut fixture = given(&[0, 1]);
    let named = |id, content| SaveCheckpoint {
        is_kept: true,
        ..saving(id, content)
    };
    done(&mut fixture, named(3, 2));
    done(&mut fixture, saving(4, 3));
    assert_eq!(left(&fixture), [key(2), key(3), key(4)]);
    let kinds = fixture.kinds();
    assert_eq!(
        kinds[kinds.len() - 2..],
        ["CheckpointsDeleted", "CheckpointSaved"]
    );
    // `key-0` is in every context but the next, so 4 stays the newest with it.
    done(&mut fixture, marking("key-0"));
    let without = |id| SaveCheckpoint {
        limits: saving(0, 0).limits,
        ..save(id, choice_of("s"), &[None, Some(id)], false)
    };
    done(&mut fixture, without(5));
    assert_eq!(left(&fixture), [key(3), key(4), key(5)]);
    done(&mut fixture, without(6));
    assert_eq!(left(&fixture), [key(3), key(4), key(6)]);
    let outcomes = fixture.group(vec![
        TestCall::new(SaveCheckpoint {
            is_kept: true,
            ..without(7)
        }),
        TestCall::new(without(8)),
    ]);
    outcomes[0].as_ref().unwrap();
    let refused = outcomes[1].as_ref().unwrap_err();
    assert_eq!(refused.code, Code::StorageQuotaExceeded);
    assert_eq!(left(&fixture), [key(3), key(4), key(7)]);
}

/// A deletion frees unused objects, bases last, and reports their size. A clean-up skips exempt checkpoints; a
/// requested deletion of an unknown one is refused.
#[test]
fn a_deletion_frees_what_nothing_else_uses() {
    let mut fixture = given(&[0]);
    let delta = SaveCheckpoint {
        pieces: vec![content_piece(0, 1, true)],
        ..saving(2, 1)
    };
    done(&mut fixture, delta);
    let delete = |fixture: &mut Fixture, ids: &[u8], cause| {
        let command = deleting(ids, cause);
        let report = command.report.clone();
        let outcome = fixture.one(TestCall::new(command)).map(|_| ());
        let freed = report.result().freed_bytes;
        (outcome.map_err(|refusal| refusal.code), freed)
    };
    assert_eq!(
        delete(&mut fixture, &[1], DeletionCause::Asked),
        (Ok(()), 0),
        "its object is a base"
    );
    assert_eq!(fixture.rows.len(OBJECTS), 2);
    assert_eq!(
        delete(&mut fixture, &[1], DeletionCause::Asked),
        (Err(Code::CheckpointNotFound), 0)
    );
    assert_eq!(
        delete(&mut fixture, &[2], DeletionCause::Asked),
        (Ok(()), 11 + 10)
    );
    assert_eq!(fixture.rows.len(OBJECTS), 0);
    let named = SaveCheckpoint {
        is_kept: true,
        ..saving(3, 0)
    };
    done(&mut fixture, named);
    assert_eq!(
        delete(&mut fixture, &[3, 4], DeletionCause::Quota),
        (Err(Code::Internal), 0)
    );
    assert_eq!(left(&fixture), [key(3)]);
}

/// A damaged delta is replaced by its whole value for every checkpoint with it; deleting these checkpoints removes the
/// value and its old base.
#[test]
fn a_mended_delta_leaves_no_base_over() {
    let mut fixture = given(&[0]);
    let delta = SaveCheckpoint {
        pieces: vec![content_piece(0, 1, true)],
        ..saving(2, 1)
    };
    done(&mut fixture, delta);
    let base_of = |fixture: &Fixture| {
        let object = objects::get(&fixture.rows, &Hash::of(&[1])).unwrap();
        object.unwrap().base()
    };
    assert_eq!(base_of(&fixture), Some(Hash::of(&[0])));
    let mut mended = content_piece(0, 1, false);
    mended.packed.as_mut().unwrap().is_repair = true;
    let again = SaveCheckpoint {
        pieces: vec![mended],
        is_forced: true,
        ..saving(3, 1)
    };
    done(&mut fixture, again);
    assert_eq!(base_of(&fixture), None);
    done(&mut fixture, deleting(&[1, 2], DeletionCause::Asked));
    assert_eq!(base_of(&fixture), None, "the third one holds it");
    done(&mut fixture, deleting(&[3], DeletionCause::Asked));
    assert_eq!(fixture.rows.len(OBJECTS), 0);
}

/// When the newest holder of a critical key is deleted, the next existing one replaces it.
#[test]
fn the_next_holder_takes_the_place() {
    let mut fixture = given(&[0, 1, 2]);
    done(&mut fixture, marking("key-0"));
    let holder = |fixture: &Fixture| view::critical_keys(&fixture.rows, "s").unwrap()[0].1;
    assert_eq!(holder(&fixture), Position(4));
    let delete = |id, next| {
        TestCall::new(DeleteCheckpoints {
            holders: vec![("key-0".to_owned(), next)],
            ..deleting(&[id], DeletionCause::Asked)
        })
    };
    fixture.one(delete(3, 3)).unwrap();
    assert_eq!(holder(&fixture), Position(3));
    fixture.one(delete(2, 999)).unwrap();
    assert_eq!(holder(&fixture), Position(0));
}

/// A fork creates a session with the same objects and marks; a taken id is refused.
#[test]
fn a_fork_copies_nothing() {
    let mut fixture = given(&[0]);
    let forking = |session: &str| SaveCheckpoint {
        choice: PreparedSession::fresh(
            Some(session.to_owned()),
            crate::sessions::SessionSelector::default(),
            &bench_clock(),
        ),
        pieces: vec![ContextPiece {
            packed: None,
            ..content_piece(0, 0, false)
        }],
        fork: Some(Fork {
            from: key(1),
            marks: vec![("key-0".to_owned(), empty_body([1; 16]))],
        }),
        ..saving(2, 0)
    };
    let refused = fixture.one(TestCall::new(forking("s"))).unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    done(&mut fixture, forking("t"));
    let kinds = fixture.kinds();
    assert_eq!(
        kinds[kinds.len() - 3..],
        ["SessionCreated", "KeyMarked", "CheckpointSaved"]
    );
    let fork = saved(&fixture);
    assert_eq!((fork.new_bytes, fork.forked_from), (0, Some(key(1))));
    assert_eq!(fork.critical, ["key-0"]);
    assert_eq!(view::critical_keys(&fixture.rows, "t").unwrap().len(), 1);
    assert_eq!(fixture.rows.len(OBJECTS), 1);
}

fn bench_clock() -> crate::clock::Clock {
    crate::clock::Clock::fixed(0, 1)
}

/// Byte limits include other saves of the same group.
#[test]
fn quotas_hold_within_a_group() {
    let mut fixture = given(&[]);
    let narrow = |id, content| {
        TestCall::new(SaveCheckpoint {
            limits: crate::checkpoints::Limits {
                session_bytes_max: 21,
                ..crate::checkpoints::Limits::default()
            },
            ..saving(id, content)
        })
    };
    let outcomes = fixture.group(vec![narrow(1, 0), narrow(2, 1), narrow(3, 2)]);
    outcomes[1].as_ref().unwrap();
    let refused = outcomes[2].as_ref().unwrap_err();
    let wanted = serde_json::json!({
        "limit": "session", "currentBytes": 21, "askedBytes": 12, "maximumBytes": 21,
    });
    assert_eq!(refused.details.as_deref(), Some(&wanted));
}

/// The number of critical keys is limited.
#[test]
fn marks_are_limited() {
    let mut fixture = given(&[]);
    let max = crate::checkpoints::Limits::MARKS_MAX;
    let marks = (0..max)
        .map(|at| TestCall::new(marking(&format!("k{at}"))))
        .collect();
    assert!(fixture.group(marks).iter().all(Result::is_ok));
    let refused = fixture.one(TestCall::new(marking("one more"))).unwrap_err();
    assert_eq!(refused.code, Code::StorageQuotaExceeded);
    done(&mut fixture, marking("k0"));
    let last = CheckpointEvent::of(fixture.events().last().unwrap()).unwrap();
    assert!(matches!(last, Some(CheckpointEvent::KeyMarked(_))));
}
