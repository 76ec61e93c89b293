//! Failures that were mended before, and those that were not.

use super::{Score, lines};
use crate::failures::{Event, KnownFailure, match_failure, signature};

#[derive(Clone)]
struct Run {
    line: &'static str,
    output: String,
    is_failure: bool,
    edit: Option<&'static str>,
}

impl Run {
    fn event(&self) -> Event<'_> {
        match self.edit {
            Some(text) => Event::Edit {
                path: self.line,
                text,
            },
            None => Event::Command {
                line: self.line,
                output: &self.output,
                is_failure: self.is_failure,
            },
        }
    }
}

struct Case {
    wanted: &'static str,
    history: Vec<Run>,
    failure: Run,
}

fn cases(fixture: &'static str) -> Vec<Case> {
    let (mut cases, mut history) = (Vec::<Case>::new(), Vec::<Run>::new());
    let mut wanted = None;
    for line in lines(fixture) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let run = |is_failure, edit| Run {
            line: rest,
            output: String::new(),
            is_failure,
            edit,
        };
        match word {
            "project" => history.clear(),
            "ask" => wanted = Some(rest),
            "|" => {
                let run = match wanted {
                    None if cases.is_empty() || !history.is_empty() => history.last_mut(),
                    _ => cases.last_mut().map(|case| &mut case.failure),
                };
                let output = &mut run.unwrap().output;
                output.push_str(rest);
                output.push('\n');
            }
            "edit" => {
                let (path, text) = rest.split_once(" | ").unwrap();
                history.push(Run {
                    line: path,
                    edit: Some(text),
                    ..run(false, None)
                });
            }
            "fail" if wanted.is_some() => cases.push(Case {
                wanted: wanted.unwrap(),
                history: history.clone(),
                failure: run(true, None),
            }),
            _ => {
                assert!(matches!(word, "ok" | "fail"), "{line}");
                history.push(run(word == "fail", None));
            }
        }
        if word == "project" {
            wanted = None;
        }
    }
    cases
}

fn judge(fixture: &'static str, name: &str, recall: f64, silence: f64) {
    let (mut fixed, mut silent) = (Score::default(), Score::default());
    for case in cases(fixture) {
        let events: Vec<Event> = case.history.iter().map(Run::event).collect();
        let known: Vec<KnownFailure> = case
            .history
            .iter()
            .enumerate()
            .filter(|(_, run)| run.is_failure)
            .map(|(at, run)| KnownFailure::new(run.line, &run.output, &events[at + 1..]))
            .collect();
        let found = match_failure(case.failure.line, &case.failure.output, &known);
        let describe = || {
            format!(
                "{} {}: {found:?}\n        {:?}",
                case.wanted,
                case.failure.line,
                signature(&case.failure.output)
            )
        };
        match case.wanted {
            "none" => silent.add(found.is_none(), describe),
            wanted => fixed.add(
                found.as_ref().is_some_and(|found| {
                    found
                        .actions
                        .iter()
                        .any(|action| action.text().contains(wanted))
                }),
                describe,
            ),
        }
    }
    fixed.report(&format!("{name}: remedy in the line"), recall);
    silent.report(&format!("{name}: silent without one"), silence);
}

#[test]
fn figures_of_failures() {
    judge(
        include_str!("fixtures/failures-open.txt"),
        "failures",
        0.0,
        0.0,
    );
}

#[test]
fn figures_of_held_failures() {
    judge(
        include_str!("fixtures/failures-held.txt"),
        "held failures",
        0.9,
        0.95,
    );
}
