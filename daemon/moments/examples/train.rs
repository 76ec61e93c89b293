//! Makes the weights of lasting sentences from the judging cases, and shows how well they do on projects that they have not seen:
//! `cargo run --release -p lored-moments --example train > daemon/moments/src/lasting/weights.txt`
//!
//! The figures go to standard error. All is deterministic: full gradients, folds by the order of the projects.

#![allow(clippy::indexing_slicing, reason = "places come from the same lists")]

use std::collections::BTreeMap;
use std::path::Path;

use lored_moments::{message_sentences, sentence_features};

/// Files of projects: statements that last or not, and prompts, which do not.
const PROJECTS: [&str; 8] = [
    "prompts-open.txt",
    "prompts-held.txt",
    "prompts-fresh.txt",
    "prompts-meaning.txt",
    "prompts-untidy.txt",
    "prompts-untidy-held.txt",
    "prompts-projects.txt",
    "prompts-projects-more.txt",
];

/// Files of single messages.
const SENTENCES: [&str; 4] = [
    "sentences-open.txt",
    "sentences-held.txt",
    "sentences-orders.txt",
    "sentences-untidy.txt",
];

/// Messages of agents of which few last.
const AGENTS: &str = "sentences-agents.txt";

/// Conversations about data, of another crate: next to nothing in them lasts.
const TALK: &str = "../recognise/src/tests/conversations";

/// A feature has to be in this many sentences.
const SENTENCES_MIN: usize = 3;

/// Strength of the prior that weights are small, and steps of the descent.
const PRIOR: f64 = 1.0;
const STEPS: usize = 3_000;

/// Parts into which the projects are divided to judge.
const FOLDS: usize = 10;

/// Weights below this are left out.
const WEIGHT_MIN: f64 = 0.02;

struct Case {
    group: String,
    is_agent: bool,
    lasts: bool,
    /// Features of each sentence.
    sentences: Vec<Vec<(String, f32)>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cases = read_cases()?;
    let mut table: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (side, is_agent) in [(0, false), (1, true)] {
        let own: Vec<&Case> = cases
            .iter()
            .filter(|case| case.is_agent == is_agent)
            .collect();
        judge(&own, if is_agent { "agents" } else { "users" });
        for (name, weight) in train(&own) {
            if weight.abs() >= WEIGHT_MIN {
                table.entry(name).or_default()[side] = weight;
            }
        }
    }
    for (name, [user, agent]) in table {
        println!("{name} {user:.2} {agent:.2}");
    }
    Ok(())
}

fn read_cases() -> Result<Vec<Case>, std::io::Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures");
    let read = |name: &str| std::fs::read_to_string(folder.join(name));
    let mut cases = Vec::new();
    let mut push = |group: &str, speaker: &str, lasts: bool, text: &str| {
        let text = text.replace('|', "\n");
        cases.push(Case {
            group: group.to_owned(),
            is_agent: speaker == "agent",
            lasts,
            sentences: message_sentences(&text)
                .iter()
                .map(|one| sentence_features(one))
                .collect(),
        });
    };
    for name in PROJECTS {
        let (mut project, mut is_reply) = (String::new(), false);
        for line in read(name)?.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "project" => project = rest.to_owned(),
                "q" => is_reply = true,
                "s" => {
                    let mut parts = rest.splitn(3, ' ');
                    let (id, speaker) = (parts.next(), parts.next().unwrap_or_default());
                    let text = parts.next().unwrap_or_default();
                    // A reply lasts by its question.
                    if !(is_reply && speaker == "user") {
                        push(&project, speaker, id != Some("-"), text);
                    } else {
                        is_reply = false;
                    }
                }
                "p" => {
                    let (need, text) = rest.split_once(' ').unwrap_or_default();
                    let text = match need {
                        "need" | "para" => text.split_once(' ').unwrap_or_default().1,
                        _ => text,
                    };
                    push(&project, "user", false, text);
                }
                _ => {}
            }
        }
    }
    for name in SENTENCES {
        for (at, line) in read(name)?.lines().enumerate() {
            let parts: Vec<&str> = line.splitn(4, " | ").collect();
            if let [_, speaker, kind, text] = parts[..] {
                push(&format!("{name} {}", at % 5), speaker, kind != "-", text);
            }
        }
    }
    for (at, line) in read(AGENTS)?.lines().enumerate() {
        if let Some((mark, text)) = line.split_once(' ') {
            push(&format!("agents {}", at % 5), "agent", mark == "+", text);
        }
    }
    let talk = Path::new(env!("CARGO_MANIFEST_DIR")).join(TALK);
    let files: std::io::Result<Vec<_>> = std::fs::read_dir(talk)?.collect();
    let mut files: Vec<_> = files?.into_iter().map(|file| file.path()).collect();
    files.sort();
    for file in files {
        let name = file.display().to_string();
        for line in std::fs::read_to_string(&file)?.lines() {
            let (speaker, text) = match line.split_once(": ") {
                Some(("U", text)) => ("user", text),
                Some(("A", text)) => ("agent", text),
                _ => continue,
            };
            // What a text means, and the kinds of its names, are for the other crate.
            let text = text.split(" => ").next().unwrap_or_default();
            push(&name, speaker, false, &without_marks(text));
        }
    }
    Ok(cases)
}

/// Returns a text of a conversation without the marks of its names: `{ticket:HD48213}` becomes `HD48213`.
fn without_marks(text: &str) -> String {
    let mut plain = String::new();
    for part in text.split('{') {
        match part.split_once('}') {
            Some((name, after)) => {
                plain.push_str(name.split_once(':').map_or(name, |(_, name)| name));
                plain.push_str(after);
            }
            None => plain.push_str(part),
        }
    }
    plain
}

/// Logistic regression by gradient descent with momentum.
fn train(cases: &[&Case]) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let sentences = || {
        cases
            .iter()
            .flat_map(|case| case.sentences.iter().map(|one| (one, case.lasts)))
    };
    for (sentence, _) in sentences() {
        for (name, _) in sentence {
            *counts.entry(name).or_default() += 1;
        }
    }
    let names: Vec<&str> = counts
        .iter()
        .filter(|(_, count)| **count >= SENTENCES_MIN)
        .map(|(name, _)| *name)
        .collect();
    let place: BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let rows: Vec<(Vec<(usize, f64)>, f64)> = sentences()
        .map(|(sentence, lasts)| {
            let row = sentence
                .iter()
                .filter_map(|(name, value)| Some((*place.get(name.as_str())?, f64::from(*value))))
                .collect();
            (row, f64::from(u8::from(lasts)))
        })
        .collect();
    let constant = place.get("shape:constant").copied();
    let (mut weights, mut speed) = (vec![0.0; names.len()], vec![0.0; names.len()]);
    let rate = 4.0 / (rows.len() as f64 * 12.0);
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| PRIOR * weight).collect();
        if let Some(constant) = constant {
            gradient[constant] = 0.0;
        }
        for (row, label) in &rows {
            let error = probability(row, &weights) - label;
            for (at, value) in row {
                gradient[*at] += error * value;
            }
        }
        for ((weight, speed), slope) in weights.iter_mut().zip(&mut speed).zip(&gradient) {
            *speed = 0.9 * *speed - rate * slope;
            *weight += *speed;
        }
    }
    names
        .iter()
        .map(|name| (*name).to_owned())
        .zip(weights)
        .collect()
}

fn probability(row: &[(usize, f64)], weights: &[f64]) -> f64 {
    let logit: f64 = row.iter().map(|(at, value)| weights[*at] * value).sum();
    1.0 / (1.0 + (-logit).exp())
}

/// Judges each project with weights of the others.
fn judge(cases: &[&Case], name: &str) {
    let mut groups: Vec<&str> = cases.iter().map(|case| case.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let fold = |case: &Case| {
        groups
            .binary_search(&case.group.as_str())
            .unwrap_or_default()
            % FOLDS
    };
    let mut scored: Vec<(f64, bool)> = Vec::new();
    for part in 0..FOLDS {
        let others: Vec<&Case> = cases
            .iter()
            .copied()
            .filter(|case| fold(case) != part)
            .collect();
        let weights = train(&others);
        for case in cases.iter().filter(|case| fold(case) == part) {
            let best = case
                .sentences
                .iter()
                .map(|one| {
                    one.iter()
                        .filter_map(|(name, value)| Some(weights.get(name)? * f64::from(*value)))
                        .sum()
                })
                .fold(f64::NEG_INFINITY, f64::max);
            scored.push((best, case.lasts));
        }
    }
    let share = |lasts: bool, from: f64| {
        let all = scored.iter().filter(|one| one.1 == lasts);
        let (hits, count) = all.fold((0, 0), |(hits, count), one| {
            (hits + usize::from(one.0 >= from), count + 1)
        });
        100.0 * f64::from(hits as u32) / f64::from(count.max(1))
    };
    for from in [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0] {
        eprintln!(
            "{name}, logit {from}: {:.0} % of what lasts, {:.1} % of the rest",
            share(true, from),
            share(false, from)
        );
    }
}
