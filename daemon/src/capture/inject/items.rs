//! Items of the project that a prompt, an edit or a task needs: what its sessions said that lasts.

use std::collections::BTreeSet;

use lored_moments::{
    Heading, Provenance, Selection, compose_lines, item_line, other_line, select_for_edit,
    select_for_prompt,
};

use super::knowledge::{Knowledge, KnownItem, source};
use super::sources::{ShownItems, message_item};
use super::{Draft, Project, Writer};
use crate::capture::memory::{KnownSentence, Trail, TrailEvent};
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Items for the task of a subagent.
const TASK_ITEMS_MAX: usize = 6;

/// Writes a known sentence with where it comes from.
pub(super) fn line(writer: &Writer<'_>, known: &KnownSentence) -> String {
    let place = format!("message {}", known.message);
    let provenance = Provenance {
        agent: &known.agent,
        day: &writer.day(known.at),
        place: &place,
    };
    let sentence = &known.sentence;
    item_line(
        &sentence.text,
        sentence.kind,
        source(known.speaker),
        &provenance,
        None,
    )
}

/// Writes what the prompt needs that the session was given last.
pub(super) fn for_prompt(
    writer: &Writer<'_>,
    project: &Project,
    prompt: &str,
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    let at = project.own_trail(last_prompt).flatten();
    knowledge.catch_up(project, at.map(|at| (project.own.as_str(), at)));
    let turn = project.own_trail(|trail| knowledge.turn_of(trail));
    let selection = select_for_prompt(
        prompt,
        &knowledge.items,
        turn.unwrap_or(u64::MAX),
        &knowledge.past,
        &|at| is_shown(&knowledge, shown, at),
        &|_| None,
    );
    let draft = lines(&knowledge, writer, Heading::Prompt, &selection, &[], budget);
    knowledge.answered(prompt, selection.top);
    draft
}

/// Writes what the task of a subagent needs: the subagent was shown nothing yet.
pub(super) fn for_task(
    writer: &Writer<'_>,
    project: &Project,
    task: &str,
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(project, None);
    let mut selection = Selection::default();
    // A prompt gets two at most; a task needs more, each the best of those that are left.
    while selection.items.len() < TASK_ITEMS_MAX {
        let taken: BTreeSet<usize> = selection.items.iter().map(|one| one.index).collect();
        let more = select_for_prompt(
            task,
            &knowledge.items,
            u64::MAX,
            &knowledge.past,
            &|at| taken.contains(&at),
            &|_| None,
        );
        if more.items.is_empty() {
            break;
        }
        selection.items.extend(more.items);
    }
    lines(&knowledge, writer, Heading::Task, &selection, &[], budget)
}

/// Writes what is known about a file that is about to be edited, and who else works on it.
pub(super) fn for_edit(
    writer: &Writer<'_>,
    project: &Project,
    edits: &[(String, String)],
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(project, None);
    let mut selection = Selection::default();
    for (path, new_text) in edits {
        let found = select_for_edit(
            path,
            new_text,
            &knowledge.items,
            &|at| is_shown(&knowledge, shown, at),
            &|_| None,
        );
        for one in found.items {
            if !selection.items.iter().any(|known| known.index == one.index) {
                selection.items.push(one);
            }
        }
    }
    let others = others(writer, project, edits);
    lines(
        &knowledge,
        writer,
        Heading::Edit,
        &selection,
        &others,
        budget,
    )
}

/// Returns a line for each other session that works on one of these files now.
fn others(writer: &Writer<'_>, project: &Project, edits: &[(String, String)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (row, trail) in &project.sessions {
        let trail = lock_unpoisoned(trail);
        if trail.session == project.own || !super::brief::is_at_work(writer, row, &trail) {
            continue;
        }
        let touched = trail.happened.iter().rev().find_map(|one| {
            let files = match &one.event {
                TrailEvent::Called(call) if !call.is_failure => &call.edits,
                TrailEvent::Began { edits, .. } => edits,
                _ => return None,
            };
            let path = files
                .iter()
                .find(|file| edits.iter().any(|(path, _)| path == *file))?;
            Some((one.at, path.clone()))
        });
        if let Some((at, path)) = touched {
            let task = super::brief::request(&trail).map_or("", |(_, text)| text);
            lines.push(other_line(
                &super::brief::agent(&trail),
                &writer.ago(at),
                &[writer.shown_path(&path)],
                task,
            ));
        }
    }
    lines
}

/// Returns the position of the user's last prompt.
fn last_prompt(trail: &Trail) -> Option<Position> {
    let mut newest = trail.happened.iter().rev();
    let last = newest.find(|one| matches!(one.event, TrailEvent::Prompt { is_users: true, .. }));
    last.map(|one| one.position)
}

fn is_shown(knowledge: &Knowledge, shown: &ShownItems, at: usize) -> bool {
    let known = knowledge.known.get(at);
    known.is_none_or(|one| shown.has_said(&one.session, &one.known))
}

/// Writes the lines of selected items.
fn lines(
    knowledge: &Knowledge,
    writer: &Writer<'_>,
    heading: Heading,
    selection: &Selection,
    others: &[String],
    budget: usize,
) -> Option<Draft> {
    let chosen = selection.items.iter();
    let chosen = chosen.filter_map(|one| knowledge.known.get(one.index));
    let chosen: Vec<&KnownItem> = chosen.collect();
    let lines: Vec<String> = chosen.iter().map(|one| line(writer, &one.known)).collect();
    let composed = compose_lines(heading, &lines, others, budget, &writer.count());
    if composed.text.is_empty() {
        return None;
    }
    let sources = chosen.iter().take(composed.lines);
    let sources = sources.map(|one| (one.session.clone(), message_item(&one.known.message)));
    Some(Draft {
        text: composed.text,
        sources: sources.collect(),
    })
}
