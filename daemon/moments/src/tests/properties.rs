//! What holds for any input: nothing panics, nothing exceeds its budget, and larger budgets hold all that smaller ones hold.

use std::ops::Range;

use proptest::prelude::*;

use super::compactions::count;
use crate::failures::{Event, KnownFailure, command, commands, match_failure, repair, signature};
use crate::*;

/// Texts of the words that the rules look for, with anything between them.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("We decided to use Redis instead of Memcached because it is faster. ".to_owned()),
        Just("never always must not ".to_owned()),
        Just("error: cannot find 'x' at /a/b.rs:1:2\n".to_owned()),
        Just("Nein, falsch. 我们决定 ".to_owned()),
        Just("```\n".to_owned()),
        Just("\n\n> - 1. <tag>\n</tag>\n".to_owned()),
        Just("cd x && FOO=1 sudo -u a timeout 5 bash -lc 'cargo test | tail' ; ".to_owned()),
        Just("'\"`\\ ".to_owned()),
        any::<String>(),
        "[a-zA-Z0-9_./:'\"-]{0,40}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..6)
}

/// Returns whether ranges are parts of a text, one after the other, and the last one ends it.
fn are_in_order<'r>(text: &str, ranges: impl Iterator<Item = &'r Range<usize>>) -> bool {
    let mut end = 0;
    for range in ranges {
        if range.start < end || text.get(range.clone()).is_none() {
            return false;
        }
        end = range.end;
    }
    end == 0 || end == text.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sentences_are_parts_of_their_message(message in text(), answer in text(), follows_edit: bool) {
        for speaker in [Speaker::User, Speaker::Agent] {
            let message = Message { text: &message, speaker, previous_answer: Some(&answer), follows_edit };
            for one in durable(&message) {
                prop_assert!(message.text.get(one.span.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(one.cue >= CUE_CANDIDATE && one.cue.is_finite());
                prop_assert!(!one.text.contains('\n'));
            }
        }
    }

    #[test]
    fn failures_and_commands_are_read(line in text(), output in text(), other in text(), path in text()) {
        prop_assert!(commands(&line).iter().all(|command| !command.program.is_empty() || command.targets.is_empty()));
        prop_assert!(command(&line).covers(&command(&line)));
        prop_assert_eq!(signature(&output), signature(&output));
        let events = [
            Event::Edit { path: &path, text: &other },
            Event::Command { line: &other, output: &output, is_failure: false },
            Event::Command { line: &line, output: "", is_failure: false },
        ];
        let found = repair(&line, &output, &events);
        prop_assert!(found.actions.len() <= 2);
        let known = [KnownFailure::new(&line, &output, &events)];
        if let Some(found) = match_failure(&line, &output, &known) {
            prop_assert!(!found.actions.is_empty() && found.known == 0);
            let line = repair_line(&found, &Provenance::default());
            prop_assert!(!line.contains('\n'));
        }
    }

    #[test]
    fn items_are_selected_at_most_twice(said in texts(), prompt in text(), path in text(), past in prop::collection::vec(any::<f32>(), 0..200)) {
        let mut items = Items::default();
        for (text, turn) in said.iter().zip(0..) {
            let files = [path.as_str()];
            items.push(Item::new(&ItemText { text, context: &prompt, kind: DurableKind::Fact, cue: f32::NAN, source: ItemSource::Tool, turn, files: &files }));
        }
        let past: PastScores = past.into_iter().collect();
        let cosine = |_| Some(f32::NAN);
        for found in [
            select_for_prompt(&prompt, &items, 0, &past, &|_| false, &cosine),
            select_for_edit(&path, &prompt, &items, &|_| false, &cosine),
        ] {
            prop_assert!(found.items.len() <= 2 && (0.0..=1.0).contains(&found.top));
            prop_assert!(found.items.iter().all(|one| one.index < items.len() && one.score <= found.top));
        }
        prop_assert_eq!(select_for_prompt(&prompt, &items, 0, &past, &|_| true, &cosine).items, vec![]);
    }

    #[test]
    fn work_in_flight_grows_with_its_budget(prompts in texts(), others in texts(), one in text()) {
        let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        let plan: Vec<PlanEntry> = others.iter().map(|text| PlanEntry { state: "done", text }).collect();
        let decisions: Vec<DecisionEntry> = others.iter().map(|text| DecisionEntry { text, speaker: Speaker::Agent }).collect();
        let files: Vec<FileEntry> = others.iter().zip(0..).map(|(path, edits)| FileEntry { path, edits, reads: 1 }).collect();
        let commands: Vec<CommandEntry> = others.iter().map(|line| CommandEntry { line, exit_status: None, is_failure: true, output: &one }).collect();
        let work = WorkInFlight { prompts: &prompts, plan: &plan, plan_text: &one, decisions: &decisions, files: &files, commands: &commands, values: &[("name", &one)] };
        let mut before = Vec::new();
        for budget in [0, 1, 5, 20, 100, 300, 700, 1_500, 2_000, 10_000] {
            let composed = work_in_flight(&work, budget, &count);
            prop_assert!(count(&composed.text) <= budget);
            prop_assert!(before.iter().all(|piece| composed.pieces.contains(piece)));
            prop_assert!(are_in_order(&composed.text, composed.ranges.iter().map(|(_, range)| range)));
            before = composed.pieces;
        }
    }

    #[test]
    fn briefs_and_lines_grow_with_their_budget(notes in texts(), said in texts(), topic in text(), age in any::<f32>()) {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let notes: Vec<NoteEntry> = notes.iter().map(|text| NoteEntry { title: &topic, text }).collect();
        let session = SessionEntry { agent: "a", day: "2026-11-20", age_days: age, branch: "b", asked: &said, did: &said, left_open: &said, files: &said };
        let sessions = [session; 7];
        let input = BriefInput { branch: "b", files: &said, topic: &topic, notes: &notes, rules: &said, sessions: &sessions, others: &said };
        let lines: Vec<String> = said.iter().map(|text| item_line(text, DurableKind::Rule, ItemSource::User, &Provenance::default(), (None, None))).collect();
        let (mut before, mut held) = (Vec::new(), 0);
        for budget in [0, 1, 5, 20, 100, 150, 400, 800, 2_000, 10_000] {
            let made = brief(&input, budget, &count);
            prop_assert!(count(&made.text) <= budget);
            prop_assert!(before.iter().all(|piece| made.pieces.contains(piece)));
            prop_assert!(are_in_order(&made.text, made.ranges.iter().map(|(_, range)| range)));
            before = made.pieces;
            let made = compose_lines(Heading::Prompt, &lines, &lines, budget, &count);
            prop_assert!(count(&made.text) <= budget && made.lines + made.others >= held);
            prop_assert!(are_in_order(&made.text, made.ranges.iter()) && made.ranges.len() == made.lines + made.others);
            held = made.lines + made.others;
        }
    }

    #[test]
    fn texts_are_cut_within_their_budget(text in text(), budget in 0_usize..200) {
        prop_assert!(count(&cut(&text, budget, &count)) <= budget);
        let line = one_line(&text);
        let is_clean = !line.contains(['\n', '\r', '\u{202e}']) && line == line.trim_end();
        prop_assert!(is_clean);
    }
}
