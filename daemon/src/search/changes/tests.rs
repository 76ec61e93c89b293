//! Tests of the changes after a part of a session is forgotten.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

use lored_retrieval::text::{Class, Query, TextIndex};

use super::*;
use crate::engine::tests::{Fixture, TestCall, create, forgetting_of, record_long};

/// Lengths of the words in the steps; each step has one of these words.
const LETTERS: std::ops::Range<u16> = 3..43;

/// Returns the changes of all events after a position.
fn after(fixture: &Fixture, blobs: &Blobs, position: u64) -> Vec<Changes> {
    let log = Log::new(&fixture.rows);
    let mut found = Vec::new();
    let mut recent = RecentTexts::default();
    log.walk(Position(position + 1), &mut |event, _| {
        found.push(changes(&log, blobs, &event, &mut recent)?);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    found
}

/// Applies changes to a text index, including the events that are indexed again, a few events at a time.
fn apply(index: &TextIndex, fixture: &Fixture, blobs: &Blobs, all: &[Changes]) {
    for one in all {
        index.apply(&one.text, 0).unwrap();
        for some in one.again.chunks(7) {
            let again = added_anew(&Log::new(&fixture.rows), blobs, some).unwrap();
            index.apply(&again.text, 0).unwrap();
        }
    }
}

/// Returns the hits of each word, with scores.
fn hits(index: &TextIndex) -> Vec<Vec<(u64, f32)>> {
    let found = |length: u16| {
        let query = Query {
            text: &"x".repeat(length.into()),
            classes: &Class::ALL,
            limit: 1000,
            also: &[],
        };
        let found = index.search(&query, None).unwrap();
        found.hits.iter().map(|hit| (hit.key, hit.score)).collect()
    };
    LETTERS.map(found).collect()
}

fn open(folder: &Path, name: &str) -> TextIndex {
    TextIndex::open(&folder.join(name), 1).unwrap()
}

/// Two agents alternate in a session, and the events of one are forgotten. Each event with forgotten context is
/// indexed again once, and the index equals a rebuilt one.
#[test]
fn what_stood_beside_many_forgotten_pieces_is_added_anew_once() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
    let mut fixture = Fixture::new();
    let mut asks = vec![TestCall::new(create("s-1"))];
    for number in 0..200_u16 {
        let agent = if number % 2 == 0 { "a" } else { "b" };
        let length = LETTERS.start + number % (LETTERS.end - LETTERS.start);
        asks.push(record_long("s-1", length).by(agent));
    }
    assert!(fixture.group(asks).iter().all(Result::is_ok));
    let kept = open(folder.path(), "kept");
    apply(&kept, &fixture, &blobs, &after(&fixture, &blobs, 0));
    let (before, end) = (hits(&kept), fixture.tail.position.0);

    fixture.one(forgetting_of("b")).unwrap();
    let reported = after(&fixture, &blobs, end);
    let again: Vec<u64> = reported
        .iter()
        .flat_map(|one| one.again.iter().map(|(position, _)| position.0))
        .collect();
    let different: BTreeSet<u64> = again.iter().copied().collect();
    assert_eq!(
        (again.len(), different.len()),
        (99, 99),
        "all but the first"
    );
    apply(&kept, &fixture, &blobs, &reported);
    let again = open(folder.path(), "again");
    apply(&again, &fixture, &blobs, &after(&fixture, &blobs, 0));
    assert_eq!(kept.units().unwrap(), again.units().unwrap());
    assert_eq!(kept.counts().units(), 100);
    assert_eq!(hits(&kept), hits(&again));
    assert_ne!(hits(&kept), before);
}
