//! What other sessions do to the files of this one.

use std::collections::BTreeSet;

use lored_moments::{changed_line, other_line};

use super::items::last_prompt;
use super::sources::{ShownItems, step_item};
use super::{Project, Writer};
use crate::capture::intents::{intents, normal};
use crate::capture::memory::{SharedTrail, Trail, TrailEvent};
use crate::events::packs::Item;
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// A line about another session or of what a command printed, with its session and the step that it is about.
pub(super) struct OtherLine {
    pub text: String,
    pub session: String,
    pub step: Option<Item>,
}

/// Returns a line for each other session that works on one of these files now.
pub(super) fn collisions(
    writer: &Writer<'_>,
    project: &Project,
    edits: &[(String, String)],
) -> Vec<OtherLine> {
    if !writer.coordination.informs() {
        return Vec::new();
    }
    let wanted: Vec<String> = edits.iter().map(|(path, _)| normal(path)).collect();
    let mut lines = Vec::new();
    for trail in others(project) {
        let trail = lock_unpoisoned(trail);
        let intents = intents(writer.processes, &trail, writer.now);
        let held = intents.into_iter().find(|one| wanted.contains(&one.path));
        if let Some(held) = held {
            let task = super::brief::request(&trail).map_or("", |(_, text)| text);
            let text = other_line(
                &super::brief::agent(&trail),
                &writer.ago(held.since),
                &[writer.shown_path(&held.path)],
                task,
            );
            lines.push(OtherLine {
                text,
                session: trail.session.clone(),
                step: held.step,
            });
        }
    }
    lines
}

/// Returns a line for each other session that changed a file that this one read or changed, since its previous prompt.
pub(super) fn changes(
    writer: &Writer<'_>,
    project: &Project,
    shown: &ShownItems,
) -> Vec<OtherLine> {
    let told = project.own_trail(known_files).flatten();
    let Some((since, files)) = told.filter(|_| writer.coordination.informs()) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for trail in others(project) {
        let trail = lock_unpoisoned(trail);
        let newest = trail.happened.iter().rev();
        let mut newest = newest.take_while(|one| one.position > since);
        let changed = newest.find_map(|one| match &one.event {
            TrailEvent::Called(call) if !call.is_failure => {
                let path = call
                    .edits
                    .iter()
                    .find(|path| files.contains(&normal(path)))?;
                Some((one.at, path.clone(), step_item(call)))
            }
            _ => None,
        });
        let new = changed.filter(|(_, _, step)| !shown.has(&trail.session, step));
        if let Some((at, path, step)) = new {
            let task = super::brief::request(&trail).map_or("", |(_, text)| text);
            let agent = super::brief::agent(&trail);
            lines.push(OtherLine {
                text: changed_line(&agent, &writer.ago(at), writer.shown_path(&path), task),
                session: trail.session.clone(),
                step: Some(step),
            });
        }
    }
    lines
}

/// Returns the sessions of others: subagents report to this one, and it to the one that started it.
pub(super) fn others(project: &Project) -> impl Iterator<Item = &SharedTrail> {
    let parent = project.own_trail(|own| own.parent.clone()).flatten();
    project.trails().filter(move |trail| {
        let trail = lock_unpoisoned(trail);
        let is_subagent = trail.parent.as_ref() == Some(&project.own);
        trail.session != project.own && !is_subagent && parent.as_ref() != Some(&trail.session)
    })
}

/// Returns the position of the prompt before the one that is being answered, and the files that a session read or changed;
/// `None` if this is its first prompt. What others did in the turn between is not known yet.
fn known_files(trail: &Trail) -> Option<(Position, BTreeSet<String>)> {
    let asked = last_prompt(trail)?;
    let before = trail.happened.iter().filter(|one| one.position < asked);
    let (mut since, mut files) = (None, BTreeSet::new());
    for one in before {
        match &one.event {
            TrailEvent::Prompt { is_users: true, .. } => since = Some(one.position),
            TrailEvent::Called(call) => {
                files.extend(
                    call.edits
                        .iter()
                        .chain(&call.reads)
                        .map(|path| normal(path)),
                );
            }
            _ => {}
        }
        since = since.or(Some(one.position));
    }
    Some((since?, files))
}
