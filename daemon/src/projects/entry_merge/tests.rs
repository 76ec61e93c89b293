//! Tests of merges by entry: tables, and any order of appends and saves of old buffers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::projects::append;
use crate::projects::template::Layers;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static LAYERS: LazyLock<Layers> = LazyLock::new(Layers::built_in);

fn template(name: &str) -> Arc<Template> {
    Arc::clone(&LAYERS.get(name).unwrap().template)
}

fn merged(base: &str, edited: &str, newest: &str) -> EntryMerge {
    let template = template("features");
    merge_entries(
        base,
        edited,
        newest,
        Some(&template),
        Duration::from_secs(2),
    )
}

const A: &str = "## A\n\n- **Status**: Active\n- **Usage**: a\n";
const B: &str = "## B\n\n- **Status**: Planned\n- **Usage**: b\n";
const N: &str = "## N\n\n- **Status**: Active\n- **Usage**: n\n";

fn file(entries: &[&str]) -> String {
    format!("# Features\n\n{}", entries.join("\n"))
}

#[test]
fn entries_of_both_sides_are_there() {
    let base = file(&[A, B]);
    let changed = A.replace("Usage**: a", "Usage**: better");
    let other = A.replace("Active", "Deprecated");
    let cases = [
        // The edit changed one entry, an agent appended another.
        (
            file(&[&changed, B]),
            file(&[A, B, N]),
            file(&[&changed, B, N]),
        ),
        // Both appended.
        (
            file(&[A, B, &N.replace('N', "H")]),
            file(&[A, B, N]),
            file(&[A, B, N, &N.replace('N', "H")]),
        ),
        // The edit removed an entry that nobody changed.
        (file(&[A]), file(&[A, B, N]), file(&[A, N])),
        // An agent removed one.
        (file(&[&changed, B]), file(&[A]), file(&[&changed])),
        // Both added the same.
        (file(&[A, B, N]), file(&[A, B, N]), file(&[A, B, N])),
        // The edit moved an entry.
        (file(&[B, A]), file(&[A, B, N]), file(&[B, N, A])),
    ];
    for (edited, newest, wanted) in cases {
        let merge = merged(&base, &edited, &newest);
        assert_eq!(merge.text, wanted, "{edited}\n--\n{newest}");
        assert_eq!(merge.conflicts, [""; 0]);
    }
    // Different lines of one entry.
    let both = changed.replace("Active", "Deprecated");
    let merge = merged(&file(&[A, B]), &file(&[&changed, B]), &file(&[&other, B]));
    // The changed lines touch, so that is a conflict; the entry has the lines of the edit.
    assert_eq!(
        (merge.text, merge.conflicts.len()),
        (file(&[&changed, B]), 1)
    );
    assert_ne!(both, changed);
}

#[test]
fn what_one_side_removed_and_the_other_changed_stays() {
    let base = file(&[A, B]);
    let changed = B.replace("Planned", "Active");
    let merge = merged(&base, &file(&[A]), &file(&[A, &changed]));
    assert_eq!(
        (merge.text, merge.conflicts),
        (file(&[A, &changed]), vec!["B".to_owned()])
    );
    let merge = merged(&base, &file(&[A, &changed]), &file(&[A]));
    assert_eq!(
        (merge.text, merge.conflicts),
        (file(&[A, &changed]), vec!["B".to_owned()])
    );
}

#[test]
fn different_entries_with_one_name_are_both_there() {
    let (mine, yours) = (N.replace(": n", ": mine"), N.replace(": n", ": yours"));
    let merge = merged(&file(&[A]), &file(&[A, &mine]), &file(&[A, &yours]));
    assert!(
        merge.text.contains("mine") && merge.text.contains("yours"),
        "{}",
        merge.text
    );
    assert_eq!(merge.conflicts, ["N"]);
}

fn base(edited: &str, candidates: &[(&str, bool)]) -> usize {
    let candidates: Vec<Candidate> = candidates
        .iter()
        .map(|(content, is_by_hand)| Candidate {
            content: (*content).to_owned(),
            is_by_hand: *is_by_hand,
        })
        .collect();
    base_of(edited, &candidates, false, Some(&template("features")))
}

/// A person adds an entry at the end of an older buffer. What all entries have in common is no evidence that the buffer
/// is as new as an agent's last entry.
#[test]
fn an_entry_at_the_end_of_an_older_buffer() {
    let hand = A.replace("## A", "## Hand").replace(": a\n", ": hand\n");
    let (one, two) = (file(&[A]), file(&[A, N]));
    let edited = file(&[A, &hand]);
    assert_eq!(base(&edited, &[(&two, false), (&one, false)]), 1);
    let alike = N.replace("## N", "## Hand");
    let edited = file(&[A, &alike]);
    assert_eq!(base(&edited, &[(&two, false), (&one, false)]), 1);
    let merge = merged(&one, &edited, &two);
    assert_eq!(merge.kept, ["N"]);
    assert!(merge.text.contains("## Hand"), "{}", merge.text);
}

/// A person edits, an agent's entries are merged into it, and the person removes one of these.
#[test]
fn an_entry_is_removed_after_an_edit() {
    let better = A.replace("Usage**: a", "Usage**: better");
    let (one, two) = (file(&[A, B]), file(&[A, B, N]));
    let (hand, merge) = (file(&[&better, B]), file(&[&better, B, N]));
    let candidates = [
        (&*merge, false),
        (&*hand, true),
        (&*two, false),
        (&*one, false),
    ];
    let removed = file(&[&better, N]);
    assert_eq!(base(&removed, &candidates), 0);
    // The buffer of the first edit, saved again.
    assert_eq!(base(&hand, &candidates), 1);
}

/// One line of an entry that differs from both versions: the edit may have been made from either.
#[test]
fn one_line_that_both_changed() {
    let (agent, hand) = (
        A.replace("Usage**: a", "Usage**: agent"),
        A.replace("Usage**: a", "Usage**: hand"),
    );
    let candidates = [file(&[&agent]), file(&[A])].map(|content| Candidate {
        content,
        is_by_hand: false,
    });
    let template = template("features");
    for (is_fresh, index) in [(false, 0), (true, 1)] {
        let found = base_of(&file(&[&hand]), &candidates, is_fresh, Some(&template));
        assert_eq!(found, index, "{is_fresh}");
    }
}

#[test]
fn the_version_of_a_buffer_is_found() {
    let (one, two) = (file(&[A]), file(&[A, N]));
    let changed = A.replace("Usage**: a", "Usage**: better");
    // The buffer is older than the entry.
    assert_eq!(base(&file(&[&changed]), &[(&two, false), (&one, false)]), 1);
    // It has the entry.
    assert_eq!(
        base(&file(&[&changed, N]), &[(&two, false), (&one, false)]),
        0
    );
    // The entry was removed, and nothing else changed.
    assert_eq!(base(&one, &[(&two, false), (&one, false)]), 0);
    // An entry in the middle was removed: the last one shows that the buffer is new.
    let three = file(&[A, B, N]);
    let two = file(&[A, B]);
    assert_eq!(
        base(
            &file(&[&changed, N]),
            &[(&three, false), (&two, false), (&one, false)]
        ),
        0
    );
    // The same buffer is saved twice; an agent appended between.
    let hand = file(&[&changed]);
    let then = file(&[&changed, N]);
    assert_eq!(
        base(&hand, &[(&then, false), (&hand, true), (&one, false)]),
        1
    );
    // Only people wrote: what they removed is removed.
    assert_eq!(
        base(
            "just a line\n",
            &[(&one, true), ("just another line\n", true)]
        ),
        0
    );
    // Everything was rewritten.
    assert_eq!(
        base("# Other\n\n## X\n\nx\n", &[(&two, false), (&one, false)]),
        0
    );
    assert_eq!(base("", &[(&two, false), ("", false)]), 0);
}

/// What happens to a file: an agent appends, a person opens it, edits the buffer, or saves it.
#[derive(Clone, Debug)]
enum Action {
    Append,
    Open,
    EditLine(usize),
    AddEntry,
    DeleteEntry(usize),
    Save,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => Just(Action::Append),
        1 => Just(Action::Open),
        3 => any::<usize>().prop_map(Action::EditLine),
        1 => Just(Action::AddEntry),
        1 => any::<usize>().prop_map(Action::DeleteEntry),
        3 => Just(Action::Save),
    ]
}

fn titles(text: &str, template: &Template) -> Vec<String> {
    let parts = parts(text, Some(template));
    parts
        .iter()
        .filter(|part| part.is_entry)
        .map(|part| part.title.clone())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every appended entry is in the file after any order of appends and saves of older buffers, unless a person
    /// deleted it from a buffer that had it. So is every entry that the person added.
    #[test]
    fn entries_survive_saves_of_old_buffers(
        name in prop::sample::select(vec!["features", "bugs", "session_summary"]),
        actions in prop::collection::vec(action(), 1..40),
    ) {
        let template = template(name);
        let mut first = append::prepare("", "The first one", &template, "2026-01-01").unwrap();
        let with_body = |text: String| format!("{text}\n\n### Added\n\n- x\n");
        first.text = with_body(first.text);
        let mut log = append::append("", &first, &template).unwrap();
        let (mut buffer, mut base) = (log.clone(), log.clone());
        let mut wanted: Vec<String> = titles(&log, &template);
        for (turn, action) in actions.into_iter().enumerate() {
            match action {
                Action::Append => {
                    let entry = append::prepare(&log, &format!("Entry {turn}"), &template, "2026-01-02");
                    let mut entry = entry.unwrap();
                    entry.text = with_body(entry.text);
                    log = append::append(&log, &entry, &template).unwrap();
                    for title in titles(&entry.text, &template) {
                        wanted.push(title);
                    }
                    if name == "bugs" {
                        wanted.push(entry.text.lines().next().unwrap().trim_start_matches('#').trim().to_owned());
                    }
                }
                Action::Open => (buffer, base) = (log.clone(), log.clone()),
                Action::EditLine(at) => {
                    let count = buffer.matches("- x").count();
                    if count > 0 {
                        let (place, _) = buffer.match_indices("- x").nth(at % count).unwrap();
                        buffer.insert_str(place + 3, &format!(" {turn}"));
                    }
                }
                Action::AddEntry => {
                    let entry = format!("By hand {turn}");
                    let entry = append::prepare(&buffer, &entry, &template, "2026-01-03").unwrap();
                    buffer = append::append(&buffer, &entry, &template).unwrap();
                }
                Action::DeleteEntry(at) => {
                    let parts = parts(&buffer, Some(&template));
                    let entries: Vec<&Part<'_>> = parts.iter().filter(|part| part.is_entry).collect();
                    if entries.len() > 1 {
                        let gone = entries[at % entries.len()];
                        wanted.retain(|title| *title != gone.title);
                        buffer.replace_range(gone.start..gone.start + gone.text.len(), "");
                    }
                }
                Action::Save => {
                    let merge = merge_entries(&base, &buffer, &log, Some(&template), Duration::from_secs(2));
                    wanted.extend(titles(&buffer, &template));
                    log = merge.text;
                    // The editor goes on with its buffer.
                    base.clone_from(&buffer);
                }
            }
            let there = titles(&log, &template);
            for title in &wanted {
                let is_there = there.contains(title);
                prop_assert!(is_there, "{title} is gone from {there:?}");
            }
        }
    }
}
