//! What tools printed, quoted at a question or not at all.

use super::{Score, lines};
use crate::Quotations;

fn quotations(fixture: &'static str) -> Quotations {
    let mut outputs: Vec<(&str, String)> = Vec::new();
    for line in lines(fixture) {
        let Some((command, printed)) = line.strip_prefix("o ").and_then(|o| o.split_once(" | "))
        else {
            continue;
        };
        match outputs.last_mut() {
            Some((last, output)) if *last == command => *output += &format!("\n{printed}"),
            _ => outputs.push((command, printed.to_owned())),
        }
    }
    let mut quotations = Quotations::default();
    for (command, output) in outputs {
        quotations.push(command, &output);
    }
    quotations
}

fn quoted<'q>(quotations: &'q Quotations, prompt: &str, said: f32) -> Option<&'q str> {
    let at = quotations.select(prompt, said, &|_| false)?;
    quotations.get(at).map(|line| line.text.as_str())
}

#[test]
fn figures_of_quotes() {
    let quotations = quotations(include_str!("fixtures/quotations.txt"));
    let (mut needing, mut others) = (Score::default(), Score::default());
    for line in lines(include_str!("fixtures/quotations.txt")) {
        if let Some((prompt, wanted)) = line.strip_prefix("p ").and_then(|p| p.split_once(" => ")) {
            let found = quoted(&quotations, prompt, 0.0);
            needing.add(found == Some(wanted), || format!("{prompt}: {found:?}"));
        } else if let Some(prompt) = line.strip_prefix("n ") {
            let found = quoted(&quotations, prompt, 0.0);
            others.add(found.is_none(), || format!("{prompt}: {found:?}"));
        }
    }
    needing.report("quotations: lines that a question asks for", 0.8);
    others.report("quotations: silent for others", 0.95);
}

#[test]
fn a_tool_speaks_only_where_nothing_that_was_said_fits() {
    let mut quotations = quotations(include_str!("fixtures/quotations.txt"));
    let question = "Which react version is installed?";
    assert_eq!(
        quoted(&quotations, question, 0.0),
        Some("react version: 18.3.1")
    );
    assert_eq!(quoted(&quotations, question, 0.9), None);
    let shown = quotations.select(question, 0.0, &|_| true);
    assert_eq!(shown, None);
    // The command ran again.
    let new = quotations.push("npm ls react", "react version: 19.0.0");
    assert_eq!(new.len(), 1);
    assert_eq!(
        quoted(&quotations, question, 0.0),
        Some("react version: 19.0.0")
    );
    for count in 0..700 {
        quotations.push(&format!("echo {count}"), &format!("line: {count} of many"));
    }
    assert!(quotations.is_full());
    assert_eq!(quoted(&quotations, question, 0.0), None);
}

#[test]
fn figures_of_quotes_at_failures() {
    let cases = include_str!("fixtures/quotations-failures.txt");
    let quotations = quotations(cases);
    let (mut needing, mut others) = (Score::default(), Score::default());
    for line in lines(cases) {
        let Some((command, rest)) = line.get(2..).and_then(|rest| rest.split_once(" | ")) else {
            continue;
        };
        let (error, wanted) = rest.split_once(" => ").unwrap_or((rest, ""));
        let error = error.replace('|', "\n");
        let found = quotations.select_for_failure(command, &error, &|_| false);
        let found = found
            .and_then(|at| quotations.get(at))
            .map(|line| line.text.as_str());
        let describe = || format!("{command}: {found:?}");
        match line.chars().next() {
            Some('f') => needing.add(found == Some(wanted), describe),
            Some('m') => others.add(found.is_none(), describe),
            _ => {}
        }
    }
    needing.report("quotations at failures: the name that was meant", 0.8);
    others.report("quotations at failures: silent for others", 0.95);
}

/// As many outputs as are compared do not fill a collection, so that it lasts.
#[test]
fn the_newest_outputs_are_compared_and_the_others_need_not_be_read() {
    let outputs: Vec<String> = (0..100)
        .map(|output| {
            let lines =
                (0..40).map(|line| format!("service-{output}-{line} listens on port {line}"));
            lines.collect::<Vec<_>>().join("\n")
        })
        .collect();
    let newest = || outputs.iter().map(String::as_str);
    let compared = Quotations::newest_compared(newest());
    assert_eq!(compared, 25);
    assert_eq!(Quotations::newest_compared(newest().take(3)), 3);
    let mut quotations = Quotations::default();
    for (at, output) in newest().take(compared).enumerate() {
        quotations.push(&format!("list {at}"), output);
    }
    assert!(!quotations.is_full());
}
