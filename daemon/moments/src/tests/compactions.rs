//! What has to be in the text after a compaction.

use super::{Score, lines};
use crate::*;

#[derive(Default)]
struct Session {
    prompts: Vec<&'static str>,
    plan: Vec<(&'static str, &'static str)>,
    decisions: Vec<(&'static str, Speaker)>,
    files: Vec<(&'static str, u32, u32)>,
    commands: Vec<(&'static str, bool, String)>,
    wanted: Vec<(bool, &'static str)>,
}

impl Session {
    fn file(&mut self, path: &'static str) -> &mut (&'static str, u32, u32) {
        let old = self.files.iter().position(|file| file.0 == path);
        let file = old.map_or((path, 0, 0), |at| self.files.remove(at));
        self.files.push(file);
        self.files.last_mut().unwrap()
    }

    fn compose(&self, budget: usize) -> Composed {
        let plan: Vec<PlanEntry> = self
            .plan
            .iter()
            .map(|(state, text)| PlanEntry { state, text })
            .collect();
        let decisions: Vec<DecisionEntry> = self
            .decisions
            .iter()
            .map(|(text, speaker)| DecisionEntry {
                text,
                speaker: *speaker,
            })
            .collect();
        let files: Vec<FileEntry> = self
            .files
            .iter()
            .map(|(path, edits, reads)| FileEntry {
                path,
                edits: *edits,
                reads: *reads,
            })
            .collect();
        let commands: Vec<CommandEntry> = self
            .commands
            .iter()
            .map(|(line, is_failure, output)| CommandEntry {
                line,
                exit_status: None,
                is_failure: *is_failure,
                output,
            })
            .collect();
        let work = WorkInFlight {
            prompts: &self.prompts,
            plan: &plan,
            decisions: &decisions,
            files: &files,
            commands: &commands,
            ..WorkInFlight::default()
        };
        work_in_flight(&work, budget, &count)
    }
}

/// About the tokens of a text.
pub fn count(text: &str) -> usize {
    text.chars().count().div_ceil(3)
}

fn sessions() -> Vec<Session> {
    let mut sessions = Vec::<Session>::new();
    for line in lines(include_str!("fixtures/compactions.txt")) {
        let (word, rest) = line.split_once(' ').unwrap();
        if word == "session" {
            sessions.push(Session::default());
            continue;
        }
        let session = sessions.last_mut().unwrap();
        match word {
            "p" => session.prompts.push(rest),
            "plan" => session.plan.push(rest.split_once(' ').unwrap()),
            "d" => {
                let (by, text) = rest.split_once(' ').unwrap();
                session.decisions.push((
                    text,
                    if by == "user" {
                        Speaker::User
                    } else {
                        Speaker::Agent
                    },
                ));
            }
            "edit" => session.file(rest).1 += 1,
            "read" => session.file(rest).2 += 1,
            "ok" | "fail" => session.commands.push((rest, word == "fail", String::new())),
            "|" => {
                let output = &mut session.commands.last_mut().unwrap().2;
                output.push_str(rest);
                output.push('\n');
            }
            "want" | "not" => session.wanted.push((word == "want", rest)),
            _ => panic!("{line}"),
        }
    }
    sessions
}

#[test]
fn figures_of_compactions() {
    let mut score = Score::default();
    for session in sessions() {
        let text = session.compose(TOKENS).text;
        for (is_wanted, part) in &session.wanted {
            score.add(text.contains(part) == *is_wanted, || {
                format!("{part}: in\n{text}")
            });
        }
    }
    score.report("compactions", 0.95);
}

#[test]
fn larger_budgets_hold_all_that_smaller_ones_hold() {
    for session in sessions() {
        let mut held = Vec::new();
        let mut size = 0;
        for budget in 0..400 {
            let composed = session.compose(budget);
            assert!(count(&composed.text) <= budget);
            assert!(
                held.iter().all(|piece| composed.pieces.contains(piece)),
                "{budget}"
            );
            assert!(composed.text.len() >= size);
            (held, size) = (composed.pieces, composed.text.len());
        }
    }
}
