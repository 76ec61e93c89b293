//! After a compaction: the work in flight, rebuilt from what the session's trail says.

use std::collections::HashMap;

use lored_moments::{
    CUE_COUNTS, CommandEntry, DecisionEntry, FileEntry, PlanEntry, Section, WorkInFlight,
    work_in_flight,
};

use super::brief::versions_of;
use super::sources::{message_item, step_item};
use super::{Draft, Writer};
use crate::capture::memory::{CallEnd, KnownSentence, Trail, TrailEvent};
use crate::events::capture::PlannedItem;

/// Writes what the session is at; `None` if it has done nothing yet. `trails` are those of the sessions whose work it
/// continues, the first one first, and its own.
pub(super) fn write(writer: &Writer<'_>, trails: &[&Trail], budget: usize) -> Option<Draft> {
    let prompts: Vec<(&str, (&str, &str))> = trails
        .iter()
        .flat_map(|trail| {
            prompts(trail)
                .into_iter()
                .map(|one| (trail.session.as_str(), one))
        })
        .collect();
    // A session that continues another one has its plan until it makes its own.
    let plans = trails.iter().rev().map(|trail| plan(trail));
    let mut plans = plans.filter(|(items, prose)| !items.is_empty() || prose.is_some());
    let (plan, plan_text) = plans.next().unwrap_or_default();
    let decisions = decisions(trails);
    let files = files(trails);
    let commands: Vec<(&str, &CallEnd)> = trails
        .iter()
        .flat_map(|trail| calls(trail).map(|call| (trail.session.as_str(), call)))
        .filter(|(_, call)| call.command.is_some() && !call.is_interrupted)
        .collect();
    let work = WorkInFlight {
        prompts: &prompts
            .iter()
            .map(|(_, (_, text))| *text)
            .collect::<Vec<_>>(),
        plan: &plan
            .iter()
            .map(|item| PlanEntry {
                state: &item.state,
                text: &item.text,
            })
            .collect::<Vec<_>>(),
        plan_text: plan_text.unwrap_or_default(),
        decisions: &decisions
            .iter()
            .map(|(_, one)| DecisionEntry {
                text: &one.sentence.text,
                speaker: one.speaker,
            })
            .collect::<Vec<_>>(),
        files: &files
            .iter()
            .map(|file| FileEntry {
                path: writer.shown_path(file.path),
                edits: file.edits,
                reads: file.reads,
            })
            .collect::<Vec<_>>(),
        commands: &commands
            .iter()
            .map(|(_, call)| CommandEntry {
                line: call.command.as_deref().unwrap_or_default(),
                exit_status: call.exit_status,
                is_failure: call.is_failure,
                // What a tool printed may give orders to the model.
                output: match call.is_left_out {
                    true => "",
                    false => &call.outcome,
                },
            })
            .collect::<Vec<_>>(),
        values: &[],
    };
    let composed = work_in_flight(&work, budget, &writer.count());
    if composed.text.is_empty() {
        return None;
    }
    let source = |(section, at): &(Section, usize)| {
        let (session, item) = match section {
            Section::Request | Section::Prompts => {
                let (session, (message, _)) = prompts.get(*at)?;
                (session, message_item(message))
            }
            Section::Decisions => {
                let (session, one) = decisions.get(*at)?;
                (session, message_item(&one.message))
            }
            // A forgotten step has no number.
            Section::Commands | Section::Failure => {
                let (session, call) = commands.get(*at).filter(|(_, call)| call.step > 0)?;
                (session, step_item(call))
            }
            Section::Plan | Section::Files | Section::Values => return None,
        };
        Some(((*session).to_owned(), item))
    };
    let mut draft = Draft {
        text: composed.text,
        sessions: trails.iter().map(|trail| trail.session.clone()).collect(),
        ..Draft::default()
    };
    for (piece, range) in composed.ranges {
        if let Some(source) = source(&piece) {
            draft.rests_on(source, range);
        }
    }
    composed
        .left_out
        .iter()
        .filter_map(source)
        .for_each(|source| draft.leaves_out(source));
    Some(draft)
}

/// Returns what was decided in the sessions and stands, in order, each with its session.
fn decisions<'t>(trails: &[&'t Trail]) -> Vec<(&'t str, &'t KnownSentence)> {
    let mut decided: Vec<(&str, &KnownSentence)> = trails
        .iter()
        .flat_map(|trail| trail.known.iter().map(|one| (trail.session.as_str(), one)))
        .filter(|(_, one)| one.sentence.cue >= CUE_COUNTS)
        .collect();
    decided.sort_by_key(|(_, one)| one.position);
    let versions = versions_of(&decided.iter().map(|(_, one)| *one).collect::<Vec<_>>());
    let standing = decided.into_iter().enumerate();
    let standing = standing.filter(|(place, _)| versions.is_current(*place));
    standing.map(|(_, one)| one).collect()
}

/// Returns the user's prompts in order, with the ids of their messages.
pub(super) fn prompts(trail: &Trail) -> Vec<(&str, &str)> {
    let prompts = trail.happened.iter().filter_map(|one| match &one.event {
        TrailEvent::Prompt {
            message,
            text,
            is_users: true,
        } => Some((message.as_str(), text.as_str())),
        _ => None,
    });
    prompts.collect()
}

/// Returns the last whole list of tasks with the changes after it, and a plan that is prose.
pub(super) fn plan(trail: &Trail) -> (Vec<PlannedItem>, Option<&str>) {
    let (mut plan, mut prose): (Vec<PlannedItem>, Option<&str>) = (Vec::new(), None);
    for one in &trail.happened {
        let TrailEvent::Planned {
            items,
            is_whole,
            text,
        } = &one.event
        else {
            continue;
        };
        if *is_whole {
            plan.clone_from(items);
        } else {
            items.iter().for_each(|item| update(&mut plan, item));
        }
        prose = text.as_deref().or(prose);
    }
    (plan, prose)
}

fn update(plan: &mut Vec<PlannedItem>, item: &PlannedItem) {
    let known = plan.iter_mut().find(|one| match item.id.is_empty() {
        true => one.text == item.text,
        false => one.id == item.id,
    });
    let Some(known) = known else {
        plan.push(item.clone());
        return;
    };
    if !item.text.is_empty() {
        known.text.clone_from(&item.text);
    }
    if !item.state.is_empty() {
        known.state.clone_from(&item.state);
    }
}

/// A file that the session used.
struct UsedFile<'t> {
    path: &'t str,
    edits: u32,
    reads: u32,
    last_use: usize,
}

/// Returns the files of sessions in the order of their last use.
fn files<'t>(trails: &[&'t Trail]) -> Vec<UsedFile<'t>> {
    let mut files: HashMap<&str, UsedFile<'_>> = HashMap::new();
    let calls = trails.iter().flat_map(|trail| calls(trail));
    for (at, call) in calls.enumerate() {
        let edits = call.edits.iter().map(|path| (path, true));
        let reads = call.reads.iter().map(|path| (path, false));
        for (path, is_edit) in edits.chain(reads) {
            let file = files.entry(path).or_insert(UsedFile {
                path,
                edits: 0,
                reads: 0,
                last_use: at,
            });
            file.edits += u32::from(is_edit && !call.is_failure);
            file.reads += u32::from(!is_edit);
            file.last_use = at;
        }
    }
    let mut files: Vec<UsedFile<'_>> = files.into_values().collect();
    files.sort_by_key(|file| (file.last_use, file.path));
    files
}

/// Returns the calls of a trail that ended, in order.
pub(super) fn calls(trail: &Trail) -> impl Iterator<Item = &CallEnd> {
    trail.happened.iter().filter_map(|one| match &one.event {
        TrailEvent::Called(call) => Some(&**call),
        _ => None,
    })
}
