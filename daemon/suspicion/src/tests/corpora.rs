//! Attacks and harmless texts: how many are found. Each line of a corpus is `KIND|PLACE|LANGUAGE|TEXT`, without a kind for
//! harmless ones. The halves `unseen` were judged when the rules were complete.

use crate::{Kind, Origin, scan};

const ATTACKS: &str = include_str!("corpus/attacks.txt");
const HARMLESS: &str = include_str!("corpus/harmless.txt");

/// A text of a corpus.
struct Sample {
    kind: &'static str,
    place: &'static str,
    text: String,
}

fn samples(corpus: &'static str, has_kind: bool) -> Vec<Sample> {
    let sample = |line: &'static str| {
        let (kind, rest) = match has_kind {
            true => line.split_once('|').unwrap(),
            false => ("", line),
        };
        let mut parts = rest.splitn(3, '|');
        let place = parts.next().unwrap();
        let _language = parts.next().unwrap();
        Sample {
            kind,
            place,
            text: unescaped(parts.next().unwrap()),
        }
    };
    corpus.lines().map(sample).collect()
}

/// Reads `\n`, `\t`, `\\` and `\u{...}`.
fn unescaped(written: &str) -> String {
    let (mut text, mut rest) = (String::new(), written);
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut chars = escape.chars();
        match chars.next().unwrap() {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'u' => {
                let (code, after) = escape.split_once('}').unwrap();
                let code = u32::from_str_radix(code.trim_start_matches("u{"), 16).unwrap();
                text.push(char::from_u32(code).unwrap());
                rest = after;
                continue;
            }
            other => text.push(other),
        }
        rest = chars.as_str();
    }
    text + rest
}

fn origin(place: &str) -> Origin {
    match place {
        "user prompt" => Origin::User,
        "agent answer" => Origin::Agent,
        "tool output" | "log" | "ci log" | "error message" | "json field" => Origin::Tool,
        _ => Origin::Document,
    }
}

/// Returns the samples that are suspicious, and the others.
fn judged(samples: Vec<Sample>) -> (Vec<Sample>, Vec<Sample>) {
    samples
        .into_iter()
        .partition(|sample| !scan(&sample.text, origin(sample.place)).is_empty())
}

fn line(sample: &Sample) -> String {
    format!("{} | {} | {}", sample.kind, sample.place, sample.text)
}

/// At least 93 % of the attacks are found. The rules know them: attacks in new words are found far less often.
#[test]
fn attacks_are_found() {
    let (found, missed) = judged(samples(ATTACKS, true));
    let missed: Vec<String> = missed.iter().map(line).collect();
    println!(
        "{} of {} attacks found",
        found.len(),
        found.len() + missed.len()
    );
    assert!(
        missed.len() * 100 <= 7 * (found.len() + missed.len()),
        "missed:\n{}",
        missed.join("\n")
    );
}

/// Less than 1 % of the harmless texts are suspicious.
#[test]
fn harmless_texts_are_not_suspicious() {
    let (alarms, silent) = judged(samples(HARMLESS, false));
    let alarms: Vec<String> = alarms.iter().map(line).collect();
    println!(
        "{} alarms in {} texts",
        alarms.len(),
        silent.len() + alarms.len()
    );
    assert!(
        alarms.len() * 100 < silent.len() + alarms.len(),
        "alarms:\n{}",
        alarms.join("\n")
    );
}

/// The corpora have what the figures promise.
#[test]
fn corpora_are_large() {
    let attacks = samples(ATTACKS, true);
    for kind in Kind::ALL {
        let of_kind = attacks.iter().filter(|sample| sample.kind == kind.name());
        assert!(of_kind.count() >= 25, "{kind:?}");
    }
    assert!(attacks.len() >= 200 && HARMLESS.lines().count() >= 500);
}

const SUBTLE: &str = include_str!("corpus/attacks-subtle.txt");
const MORE_HARMLESS: &str = include_str!("corpus/harmless-more.txt");

/// Attacks that were written to look like none: most are missed, and what they say is quoted with its source alone.
#[test]
fn subtle_attacks_are_seldom_found() {
    let (found, missed) = judged(samples(SUBTLE, true));
    let all = found.len() + missed.len();
    println!("{} of {all} subtle attacks found", found.len());
    assert!(found.len() * 100 >= all * 19, "{} of {all}", found.len());
    let (wrong, right) = judged(samples(MORE_HARMLESS, false));
    let wrong: Vec<String> = wrong.iter().map(line).collect();
    assert!(wrong.len() * 100 < right.len(), "{wrong:#?}");
}
