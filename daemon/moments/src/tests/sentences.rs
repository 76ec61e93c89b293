//! Which sentences are durable, and which replies are choices.

use super::{Score, lines};
use crate::*;

fn judge(fixture: &'static str, name: &str, recall: f64, silence: f64) {
    let (mut durable_ones, mut others, mut kinds) =
        (Score::default(), Score::default(), Score::default());
    for line in lines(fixture) {
        let parts: Vec<&str> = line.splitn(4, " | ").collect();
        let message = match parts[1] {
            "user" => Message::prompt(parts[3]),
            _ => Message::answer(parts[3]),
        };
        let found = durable(&message);
        let describe = || {
            format!(
                "{} {} {}: {:?}",
                parts[0],
                parts[2],
                parts[3],
                found
                    .iter()
                    .map(|one| (one.kind, one.cue))
                    .collect::<Vec<_>>()
            )
        };
        if parts[2] == "-" {
            others.add(found.is_empty(), describe);
        } else {
            durable_ones.add(!found.is_empty(), describe);
            if let Some(first) = found.first() {
                kinds.add(first.kind.name() == parts[2], describe);
            }
        }
    }
    durable_ones.report(&format!("{name}: durable sentences found"), recall);
    others.report(&format!("{name}: others left out"), silence);
    println!("{name}: kinds: {} of {}", kinds.hits, kinds.all);
}

#[test]
fn figures_of_durable_sentences() {
    judge(
        include_str!("fixtures/sentences-open.txt"),
        "sentences",
        0.0,
        0.0,
    );
}

#[test]
fn figures_of_choices() {
    let mut score = Score::default();
    for line in lines(include_str!("fixtures/choices.txt")) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let found = choice(&parts[0].replace("\\n", "\n"), parts[1]);
        score.add(found.is_some() == (parts[2] == "yes"), || {
            format!("{line}: {found:?}")
        });
    }
    score.report("choices", 0.9);
}

#[test]
fn figures_of_held_durable_sentences() {
    judge(
        include_str!("fixtures/sentences-held.txt"),
        "held sentences",
        0.95,
        0.95,
    );
}

#[test]
fn figures_of_untidy_sentences() {
    judge(
        include_str!("fixtures/sentences-untidy.txt"),
        "untidy sentences",
        0.95,
        0.95,
    );
}

#[test]
fn figures_of_orders() {
    let cases = include_str!("fixtures/sentences-orders.txt");
    judge(cases, "orders of the moment", 0.9, 0.95);
}

/// Conversations about data, of another crate: people look things up, and agents report them.
#[test]
fn talk_about_data_is_seldom_kept() {
    let talk = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../recognise/src/tests/conversations"
    );
    let (mut all, mut kept) = ([0; 2], [0; 2]);
    for file in std::fs::read_dir(talk).unwrap() {
        let file = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in file.lines() {
            let (speaker, text) = match line.split_once(": ") {
                Some(("U", text)) => (0, text.split(" => ").next().unwrap()),
                Some(("A", text)) => (1, text),
                _ => continue,
            };
            let text = text.replace(['{', '}'], "");
            let found = match speaker {
                0 => durable(&Message::prompt(&text)),
                _ => durable(&Message::answer(&text)),
            };
            all[speaker] += 1;
            kept[speaker] += usize::from(!found.is_empty());
        }
    }
    println!("talk about data: {kept:?} of {all:?} kept");
    assert!(all[0] > 1000 && all[1] > 1000, "{all:?}");
    assert!(
        kept[0] * 100 <= all[0] * 5 && kept[1] * 100 <= all[1] * 2,
        "{kept:?} of {all:?}"
    );
}
