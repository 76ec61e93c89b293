//! Items of the project that a prompt, an edit or a task needs: what its sessions said that lasts.

use std::collections::BTreeSet;

use lored_moments::{
    Freshness, Heading, OtherVersion, Provenance, Selection, Speaker, compose_lines, item_line,
    select_for_edit,
};

use super::knowledge::{Knowledge, KnownItem, source};
use super::others::{OtherLine, changes, collisions};
use super::sources::{ShownItems, message_item};
use super::{Draft, Project, Writer};
use crate::capture::memory::{KnownSentence, Trail, TrailEvent};
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Items for the task of a subagent.
const TASK_ITEMS_MAX: usize = 6;

/// Writes a known sentence with where it comes from, and whether the files that it names are as they were.
pub(super) fn line(
    writer: &Writer<'_>,
    known: &KnownSentence,
    freshness: Option<Freshness>,
    other: Option<(&KnownSentence, bool)>,
) -> String {
    let place = format!("message {}", known.message);
    let provenance = Provenance {
        agent: &known.agent,
        day: &writer.day(known.at),
        place: &place,
    };
    let sentence = &known.sentence;
    let day = other
        .map(|(other, _)| writer.day(other.at))
        .unwrap_or_default();
    let by = other.map(|(other, _)| said_by(other)).unwrap_or_default();
    let other = other.map(|(other, is_disputed)| {
        let text = other.sentence.text.as_str();
        match is_disputed {
            true => OtherVersion::Disputed {
                text,
                by: &by,
                day: &day,
            },
            false => OtherVersion::Replaced { text, day: &day },
        }
    });
    item_line(
        &sentence.text,
        sentence.kind,
        source(known.speaker),
        &provenance,
        (freshness, other),
    )
}

/// Says who said something.
fn said_by(known: &KnownSentence) -> String {
    match (known.speaker, known.agent.as_str()) {
        (Speaker::User, _) => "the user".to_owned(),
        (Speaker::Agent, "") => "an agent".to_owned(),
        (Speaker::Agent, agent) => agent.to_owned(),
    }
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
    let mut changes = changes(writer, project, shown);
    if selection.items.is_empty() {
        let quote = knowledge
            .printed
            .quote(writer, prompt, selection.top, shown);
        changes.extend(quote.map(|(text, (session, step))| OtherLine {
            text,
            session,
            step: Some(step),
        }));
    }
    let draft = lines(
        &knowledge,
        writer,
        Heading::Prompt,
        (&[], &selection, &changes),
        budget,
    );
    knowledge.answered(prompt, turn, &selection, vector.is_some());
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
        let more = knowledge.select(task, u64::MAX, vector, &|at| {
            taken.contains(&at) || !knowledge.versions.is_current(at)
        });
        if more.items.is_empty() {
            break;
        }
        selection.items.extend(more.items);
    }
    lines(
        &knowledge,
        writer,
        Heading::Task,
        (&[], &selection, &[]),
        budget,
    )
}

/// Writes what is known about files that are about to be edited, and who else works on them, and returns whether someone
/// does. The first edit comes with its vector, if there is one.
pub(super) fn for_edit(
    writer: &Writer<'_>,
    project: &Project,
    (edits, vector): (&[(String, String)], Option<&[f32]>),
    shown: &ShownItems,
    budget: usize,
) -> Option<(Draft, bool)> {
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
    // A collision comes first: it is there now, and what is known can be read later.
    let collisions = collisions(writer, project, edits);
    let draft = lines(
        &knowledge,
        writer,
        Heading::Edit,
        (&collisions, &selection, &[]),
        budget,
    );
    draft.map(|draft| (draft, !collisions.is_empty()))
}

/// Returns the position of the user's last prompt.
pub(super) fn last_prompt(trail: &Trail) -> Option<Position> {
    let mut newest = trail.happened.iter().rev();
    let last = newest.find(|one| matches!(one.event, TrailEvent::Prompt { is_users: true, .. }));
    last.map(|one| one.position)
}

fn is_shown(knowledge: &Knowledge, shown: &ShownItems, at: usize) -> bool {
    let known = knowledge.known.get(at);
    // What was replaced, or is said by another one, too, is not served.
    !knowledge.versions.is_current(at)
        || known.is_none_or(|one| shown.has_said(&one.session, &one.known))
}

/// Writes lines: first some about others, then those of selected items, then more about others.
fn lines(
    knowledge: &Knowledge,
    writer: &Writer<'_>,
    heading: Heading,
    (first, selection, last): (&[OtherLine], &Selection, &[OtherLine]),
    budget: usize,
) -> Option<Draft> {
    let chosen = selection.items.iter();
    let chosen = chosen.filter_map(|one| {
        let known = knowledge.known.get(one.index)?;
        Some((known, knowledge.other_version(one.index)))
    });
    let chosen: Vec<(&KnownItem, Option<(&KnownItem, bool)>)> = chosen.collect();
    let items = chosen.iter().map(|(one, other)| {
        let other = other.map(|(other, is_disputed)| (&other.known, is_disputed));
        line(writer, &one.known, one.cited.freshness(writer), other)
    });
    let lines: Vec<String> = first
        .iter()
        .map(|one| one.text.clone())
        .chain(items)
        .collect();
    let texts: Vec<String> = last.iter().map(|one| one.text.clone()).collect();
    let composed = compose_lines(heading, &lines, &texts, budget, &writer.count());
    if composed.text.is_empty() {
        return None;
    }
    let of_items = chosen.iter().map(|(one, other)| {
        let disputed = other.filter(|(_, is_disputed)| *is_disputed);
        let said = std::iter::once(*one).chain(disputed.map(|(other, _)| other));
        said.map(|one| (one.session.clone(), message_item(&one.known.message)))
            .collect::<Vec<_>>()
    });
    let about = |one: &OtherLine| {
        let step = one.step.clone().into_iter();
        step.map(|step| (one.session.clone(), step))
            .collect::<Vec<_>>()
    };
    let mut sources = first.iter().map(about).chain(of_items);
    let mut draft = Draft {
        text: composed.text,
        sessions: first
            .iter()
            .chain(last)
            .map(|one| one.session.clone())
            .collect(),
        ..Draft::default()
    };
    let of_others = chosen.iter().filter_map(|(_, other)| *other);
    let of_others = of_others.map(|(other, _)| other.session.clone());
    draft.sessions.extend(of_others);
    let mut ranges = composed.ranges.into_iter();
    for (of_line, range) in sources
        .by_ref()
        .take(composed.lines)
        .chain(last.iter().map(about))
        .zip(ranges.by_ref())
    {
        for source in of_line {
            draft.rests_on(source, range.clone());
        }
    }
    sources
        .flatten()
        .for_each(|source| draft.leaves_out(source));
    Some(draft)
}
