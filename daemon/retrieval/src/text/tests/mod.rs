//! Tests of the text index.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod oracle;
mod property;
mod safety;
mod searching;

use std::sync::Arc;

use super::*;

/// Creates a unit of a document, or of talk in session 100 + `group`.
fn unit(kind: Kind, position: u64, number: u32, group: u64) -> IndexedText {
    let session = match kind.class() {
        Class::Documents => 0,
        Class::Talk => 100 + group,
    };
    IndexedText {
        key: key(position, number),
        kind,
        group,
        session,
        number,
        time: position,
    }
}

fn add(unit: IndexedText, text: &str, before: &[&str]) -> Change {
    let before = before.iter().map(|text| Arc::from(*text));
    Change::Add(NewText {
        unit,
        text: text.to_owned(),
        before: Some(before.collect()),
    })
}

/// Creates an index with one document for each text, at the positions 1, 2, 3, …
fn documents(folder: &std::path::Path, texts: &[&str]) -> TextIndex {
    let index = TextIndex::open(folder, 1).unwrap();
    for (at, text) in texts.iter().enumerate() {
        let position = at as u64 + 1;
        let unit = unit(Kind::Document, position, 0, position);
        index.apply(&[add(unit, text, &[])], position).unwrap();
    }
    index
}

fn query(text: &str) -> Query<'_> {
    Query {
        text,
        classes: &Class::ALL,
        limit: 10,
        also: &[],
    }
}

fn positions(index: &TextIndex, text: &str) -> Vec<u64> {
    let found = index.search(&query(text), None).unwrap();
    assert_eq!(found.total, found.hits.len() as u64);
    found.hits.iter().map(|hit| hit.key >> 20).collect()
}
