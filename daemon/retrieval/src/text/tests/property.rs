//! After any history, an index returns bit-identical results to a scan of all units.

use proptest::prelude::*;

use super::oracle::Oracle;
use super::*;

const WORDS: &[&str] = &[
    "alpha",
    "alphas",
    "alphabet",
    "beta",
    "betas",
    "betta",
    "gamma",
    "gammas",
    "gammon",
    "delta",
    "user_name",
    "userName",
    "parseHttpRequest",
    "über",
    "東京都庁",
    "the",
    "of",
    "run",
    "running",
    "10.0.0.1",
    "configuration",
    "config",
];

const QUESTIONS: &[&str] = &[
    "alpha",
    "beta gamma delta",
    "alpah betas the",
    "conf run run",
    "username",
    "東京 10.0.0.1",
    "configurati gamon",
    "alpha beta gamma delta user_name run über config parse",
    "the of",
    "nothing",
];

#[derive(Clone, Debug)]
enum Step {
    Add {
        kind: Kind,
        group: u64,
        texts: Vec<Vec<usize>>,
    },
    RemoveGroup(u64, u64),
    RemoveSession(u64, u64),
    RemovePosition(u64),
    /// A new version of a document replaces the older ones.
    Replace(u64, Vec<usize>),
    Settle,
    /// The process restarts.
    Reopen,
    /// The log is replayed from some positions back.
    Again(u64),
    LetGo,
}

fn text() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..WORDS.len(), 0..12)
}

fn happening() -> impl Strategy<Value = Step> {
    let kind = proptest::sample::select(Kind::ALL.to_vec());
    let texts = proptest::collection::vec(text(), 1..5);
    prop_oneof![
        8 => (kind, 0_u64..4, texts)
            .prop_map(|(kind, group, texts)| Step::Add { kind, group, texts }),
        1 => (0_u64..4, 0_u64..30).prop_map(|(group, back)| Step::RemoveGroup(group, back)),
        1 => (99_u64..104, 0_u64..30)
            .prop_map(|(session, back)| Step::RemoveSession(session, back)),
        1 => (0_u64..30).prop_map(Step::RemovePosition),
        2 => (0_u64..4, text()).prop_map(|(group, text)| Step::Replace(group, text)),
        2 => Just(Step::Settle),
        1 => Just(Step::Reopen),
        1 => (0_u64..10).prop_map(Step::Again),
        1 => Just(Step::LetGo),
    ]
}

fn written(words: &[usize]) -> String {
    let words: Vec<&str> = words.iter().map(|at| WORDS[*at]).collect();
    words.join(" ")
}

/// Returns the event of a step.
fn event(happening: &Step, position: u64) -> Vec<Change> {
    match happening {
        Step::Add { kind, group, texts } => texts
            .iter()
            .enumerate()
            .map(|(number, text)| {
                let before: Vec<String> = texts[..number]
                    .iter()
                    .map(|words| written(words) + "\n")
                    .collect();
                let before: Vec<&str> = before.iter().map(String::as_str).collect();
                let unit = unit(*kind, position, number as u32, *group);
                add(unit, &written(text), &before)
            })
            .collect(),
        Step::RemoveGroup(group, back) => vec![Change::RemoveGroup {
            group: *group,
            before: position.saturating_sub(*back),
        }],
        Step::RemoveSession(session, back) => vec![Change::RemoveSession {
            session: if *session == 99 { 0 } else { *session },
            before: position.saturating_sub(*back),
        }],
        Step::RemovePosition(back) => vec![Change::RemovePosition {
            position: position.saturating_sub(*back),
        }],
        Step::Replace(group, text) => vec![
            Change::RemoveGroup {
                group: *group,
                before: position,
            },
            add(
                unit(Kind::Document, position, 0, *group),
                &written(text),
                &[],
            ),
        ],
        Step::Settle | Step::Reopen | Step::Again(_) | Step::LetGo => Vec::new(),
    }
}

fn bits(ranked: &[(u64, f32)]) -> Vec<(u64, u32)> {
    ranked
        .iter()
        .map(|(key, score)| (*key, score.to_bits()))
        .collect()
}

fn check(index: &TextIndex, oracle: &Oracle) {
    let keys = index.units().unwrap();
    assert_eq!(keys, oracle.keys());
    assert_eq!(index.counts().units(), keys.len() as u64);
    let also: Vec<u64> = keys.iter().copied().step_by(3).chain([7]).collect();
    for text in QUESTIONS {
        for classes in [&Class::ALL[..], &[Class::Talk], &[Class::Documents]] {
            let wanted = oracle.search(text, classes);
            let asked = Query {
                text,
                classes,
                limit: 1000,
                also: &also,
            };
            let found = index.search(&asked, None).unwrap();
            let hits: Vec<(u64, f32)> = found.hits.iter().map(|hit| (hit.key, hit.score)).collect();
            assert_eq!(bits(&hits), bits(&wanted), "{text} {classes:?}");
            assert_eq!(found.total, wanted.len() as u64);
            for (key, score) in also.iter().zip(&found.also) {
                let known = wanted.iter().find(|(known, _)| known == key);
                assert_eq!(*score, known.map_or(0.0, |(_, score)| *score));
            }
            let few = Query {
                limit: 3,
                also: &[],
                ..asked
            };
            let odd = |unit: &IndexedText| unit.position() % 2 == 1;
            let filter = Filter {
                passes: &odd,
                fingerprint: 1,
            };
            // The units that pass are kept by the index from then on, and looked at again where some were added.
            let among: Vec<u64> = index
                .units()
                .unwrap()
                .into_iter()
                .filter(|key| position_of(*key) % 2 == 1)
                .collect();
            let selected = index.selected(filter).unwrap();
            let mut selected: Vec<u64> = selected
                .iter()
                .flat_map(|part| part.keys().to_vec())
                .collect();
            selected.retain(|key| index.contains(*key).unwrap());
            selected.sort_unstable();
            assert_eq!(selected, among);
            let found = index.search(&few, Some(filter)).unwrap();
            let odd: Vec<(u64, f32)> = wanted
                .iter()
                .filter(|(key, _)| (key >> 20) % 2 == 1)
                .copied()
                .collect();
            assert_eq!(found.total, odd.len() as u64);
            let hits: Vec<(u64, f32)> = found.hits.iter().map(|hit| (hit.key, hit.score)).collect();
            assert_eq!(bits(&hits), bits(&odd[..odd.len().min(3)]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_one_that_looks_at_every_unit(
        happenings in proptest::collection::vec(happening(), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut index = TextIndex::open(folder.path(), 1).unwrap();
        let mut oracle = Oracle::default();
        let mut log: Vec<Vec<Change>> = Vec::new();
        for happening in &happenings {
            let apply_from = |index: &TextIndex, log: &[Vec<Change>], from: u64| {
                for (at, event) in log.iter().enumerate().skip(from as usize) {
                    index.apply(event, at as u64 + 1).unwrap();
                }
            };
            match happening {
                Step::Settle => {
                    index.flush().unwrap();
                    assert_eq!(index.settled_position(), log.len() as u64);
                    assert_eq!(index.counts().fresh_units, 0);
                    check(&index, &oracle);
                }
                Step::Reopen => {
                    drop(index);
                    index = TextIndex::open(folder.path(), 1).unwrap();
                    apply_from(&index, &log, index.position());
                    check(&index, &oracle);
                }
                Step::Again(back) => {
                    let from = (log.len() as u64).saturating_sub(*back);
                    apply_from(&index, &log, from);
                }
                Step::LetGo => index.release(),
                Step::Add { .. }
                | Step::RemoveGroup(..)
                | Step::RemoveSession(..)
                | Step::RemovePosition(_)
                | Step::Replace(..) => {
                    let position = log.len() as u64 + 1;
                    let event = event(happening, position);
                    let removed = index.apply(&event, position).unwrap();
                    assert_eq!(removed, oracle.apply(&event));
                    log.push(event);
                }
            }
        }
        check(&index, &oracle);
    }
}
