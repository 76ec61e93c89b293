//! Items of the project that a prompt, an edit or a task needs: what its sessions said that lasts.

use std::collections::BTreeSet;

use lored_moments::{
    Freshness, Heading, Provenance, Selection, changed_line, compose_lines, item_line, other_line,
    select_for_edit,
};

use super::knowledge::{Knowledge, KnownItem, source};
use super::sources::{ShownItems, message_item, step_item};
use super::{Draft, Project, Writer};
use crate::capture::memory::{KnownSentence, Trail, TrailEvent};
use crate::events::packs::Item;
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Items for the task of a subagent.
const TASK_ITEMS_MAX: usize = 6;

/// Writes a known sentence with where it comes from, and whether the files that it names are as they were.
pub(super) fn line(
    writer: &Writer<'_>,
    known: &KnownSentence,
    freshness: Option<Freshness>,
) -> String {
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
        freshness,
    )
}

/// Writes what the prompt needs that the session was given last. It comes with its vector, if there is one.
pub(super) fn for_prompt(
    writer: &Writer<'_>,
    project: &Project,
    (prompt, vector): (&str, Option<&[f32]>),
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    let at = project.own_trail(last_prompt).flatten();
    knowledge.catch_up(project, at.map(|at| (project.own.as_str(), at)));
    let turn = project.own_trail(|trail| knowledge.turn_of(trail));
    let turn = turn.unwrap_or(u64::MAX);
    let selection = knowledge.select(prompt, turn, vector, &|at| is_shown(&knowledge, shown, at));
    let mut changes = changes(writer, project);
    if selection.items.is_empty() {
        let quote = knowledge
            .printed
            .quote(writer, prompt, selection.top, shown);
        changes.extend(quote.map(|(text, source)| OtherLine {
            text,
            source: Some(source),
        }));
    }
    let draft = lines(
        &knowledge,
        writer,
        Heading::Prompt,
        &selection,
        &changes,
        budget,
    );
    knowledge.answered(prompt, turn, selection.top, vector.is_some());
    draft
}

/// Writes what the task of a subagent needs: the subagent was shown nothing yet. It comes with its vector, if there is one.
pub(super) fn for_task(
    writer: &Writer<'_>,
    project: &Project,
    (task, vector): (&str, Option<&[f32]>),
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(project, None);
    let mut selection = Selection::default();
    // A prompt gets two at most; a task needs more, each the best of those that are left.
    while selection.items.len() < TASK_ITEMS_MAX {
        let taken: BTreeSet<usize> = selection.items.iter().map(|one| one.index).collect();
        let more = knowledge.select(task, u64::MAX, vector, &|at| taken.contains(&at));
        if more.items.is_empty() {
            break;
        }
        selection.items.extend(more.items);
    }
    lines(&knowledge, writer, Heading::Task, &selection, &[], budget)
}

/// Writes what is known about files that are about to be edited, and who else works on them. The first edit comes with its
/// vector, if there is one.
pub(super) fn for_edit(
    writer: &Writer<'_>,
    project: &Project,
    (edits, vector): (&[(String, String)], Option<&[f32]>),
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let mut knowledge = lock_unpoisoned(&project.knowledge);
    knowledge.catch_up(project, None);
    let mut selection = Selection::default();
    for (count, (path, new_text)) in edits.iter().enumerate() {
        let vector = vector.filter(|_| count == 0);
        let found = select_for_edit(
            path,
            new_text,
            knowledge.items(),
            &|at| is_shown(&knowledge, shown, at),
            &|at| knowledge.cosine(at, vector),
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

/// A line about another session or of what a command printed, with the step that it is about.
struct OtherLine {
    text: String,
    source: Option<(String, Item)>,
}

/// Returns a line for each other session that works on one of these files now.
fn others(writer: &Writer<'_>, project: &Project, edits: &[(String, String)]) -> Vec<OtherLine> {
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
            let text = other_line(
                &super::brief::agent(&trail),
                &writer.ago(at),
                &[writer.shown_path(&path)],
                task,
            );
            lines.push(OtherLine { text, source: None });
        }
    }
    lines
}

/// Returns a line for each other session that changed, since the last turn of this one, a file that this one read or
/// changed. Subagents are no others: they report to it.
fn changes(writer: &Writer<'_>, project: &Project) -> Vec<OtherLine> {
    let Some((since, files, parent)) = project.own_trail(last_turn).flatten() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for trail in project.trails() {
        let trail = lock_unpoisoned(trail);
        let is_subagent = trail.parent.as_ref() == Some(&project.own);
        if trail.session == project.own || is_subagent || parent.as_ref() == Some(&trail.session) {
            continue;
        }
        let newest = trail.happened.iter().rev();
        let mut newest = newest.take_while(|one| one.position > since);
        let changed = newest.find_map(|one| match &one.event {
            TrailEvent::Called(call) if !call.is_failure => {
                let path = call.edits.iter().find(|path| files.contains(*path))?;
                Some((one.at, path.clone(), step_item(call)))
            }
            _ => None,
        });
        if let Some((at, path, step)) = changed {
            let task = super::brief::request(&trail).map_or("", |(_, text)| text);
            let agent = super::brief::agent(&trail);
            lines.push(OtherLine {
                text: changed_line(&agent, &writer.ago(at), writer.shown_path(&path), task),
                source: Some((trail.session.clone(), step)),
            });
        }
    }
    lines
}

/// Returns the position up to which a session worked before the prompt that is being answered, the files that it read or
/// changed, and its parent; `None` if this is its first prompt.
fn last_turn(trail: &Trail) -> Option<(Position, BTreeSet<String>, Option<String>)> {
    let asked = last_prompt(trail)?;
    let before = trail.happened.iter().filter(|one| one.position < asked);
    let mut files = BTreeSet::new();
    let mut since = None;
    for one in before {
        since = Some(one.position);
        if let TrailEvent::Called(call) = &one.event {
            files.extend(call.edits.iter().chain(&call.reads).cloned());
        }
    }
    Some((since?, files, trail.parent.clone()))
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
    others: &[OtherLine],
    budget: usize,
) -> Option<Draft> {
    let chosen = selection.items.iter();
    let chosen = chosen.filter_map(|one| knowledge.known.get(one.index));
    let chosen: Vec<&KnownItem> = chosen.collect();
    let lines = chosen
        .iter()
        .map(|one| line(writer, &one.known, one.cited.freshness(writer)));
    let lines: Vec<String> = lines.collect();
    let texts: Vec<String> = others.iter().map(|one| one.text.clone()).collect();
    let composed = compose_lines(heading, &lines, &texts, budget, &writer.count());
    if composed.text.is_empty() {
        return None;
    }
    let sources = chosen.iter().take(composed.lines);
    let sources = sources.map(|one| (one.session.clone(), message_item(&one.known.message)));
    let steps = others.iter().take(composed.others);
    let steps = steps.filter_map(|one| one.source.clone());
    Some(Draft {
        text: composed.text,
        sources: sources.chain(steps).collect(),
        notes: Vec::new(),
    })
}
