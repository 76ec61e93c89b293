//! Moments: any text is read as messages, outputs and command lines, and what is said about it stays within its budget.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored_moments::failures::{Event, KnownFailure, command, commands, match_failure};
use lored_moments::{
    BriefInput, CommandEntry, DurableKind, Heading, Item, ItemSource, ItemText, Items, Message,
    PastScores, Provenance, Speaker, WorkInFlight, brief, choice, compose_lines, durable,
    item_line, repair_line, select_for_edit, select_for_prompt, work_in_flight,
};

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(3)
}

// The first byte is a budget, a zero byte separates the texts.
fuzz_target!(|input: &str| {
    let budget = usize::from(input.bytes().next().unwrap_or_default()) * 4;
    let texts: Vec<&str> = input.split('\0').collect();
    let at = |place: usize| texts.get(place).copied().unwrap_or_default();
    let (first, second, third) = (at(0), at(1), at(2));

    let mut items = Items::default();
    for (text, turn) in texts.iter().zip(0..) {
        let speaker = if turn % 2 == 0 {
            Speaker::User
        } else {
            Speaker::Agent
        };
        let message = Message {
            speaker,
            previous_answer: Some(second),
            ..Message::prompt(text)
        };
        for one in durable(&message) {
            assert!(text.get(one.span.clone()).is_some());
            items.push(Item::new(&ItemText {
                text: &one.text,
                context: text,
                kind: one.kind,
                cue: one.cue,
                source: ItemSource::User,
                turn,
                files: &[third],
            }));
        }
    }
    if let Some(choice) = choice(first, second) {
        assert!(second.get(choice.reply_span).is_some());
    }

    assert!(command(first).covers(&command(first)));
    assert!(commands(first).len() <= 16);
    let events = [
        Event::Edit {
            path: third,
            text: second,
        },
        Event::Command {
            line: third,
            output: second,
            is_failure: false,
        },
        Event::Command {
            line: first,
            output: "",
            is_failure: false,
        },
    ];
    let known = [KnownFailure::new(first, second, &events)];
    let mut lines: Vec<String> = Vec::new();
    if let Some(found) = match_failure(first, second, &known) {
        lines.push(repair_line(&found, &Provenance::default()));
    }

    let past = PastScores::default();
    let selected = select_for_prompt(first, &items, u64::MAX, &past, &|_| false, &|_| None);
    assert!(selected.items.len() <= 2);
    let selected = select_for_edit(third, first, &items, &|_| false, &|_| Some(0.5));
    assert!(selected.items.len() <= 2);

    let provenance = Provenance {
        agent: third,
        day: second,
        place: third,
    };
    lines.push(item_line(
        first,
        DurableKind::Rule,
        ItemSource::Tool,
        &provenance,
        None,
    ));
    assert!(lines.iter().all(|line| !line.contains('\n')));
    let composed = compose_lines(Heading::Prompt, &lines, &lines, budget, &count);
    assert!(count(&composed.text) <= budget);

    let run = CommandEntry {
        line: first,
        exit_status: None,
        is_failure: true,
        output: second,
    };
    let work = WorkInFlight {
        prompts: &texts,
        plan_text: second,
        commands: &[run],
        ..WorkInFlight::default()
    };
    assert!(count(&work_in_flight(&work, budget, &count).text) <= budget);
    let input = BriefInput {
        topic: first,
        branch: third,
        files: &texts,
        rules: &texts,
        ..BriefInput::default()
    };
    assert!(count(&brief(&input, budget, &count).text) <= budget);
});
