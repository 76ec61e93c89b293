//! Items of the project that a prompt, an edit or a task needs: what its sessions said that lasts.

use std::collections::{BTreeMap, BTreeSet};

use lored_moments::{
    CUE_CANDIDATE, Heading, Item as Prepared, ItemSource, ItemText, Items, PastScores, Provenance,
    Selection, Speaker, compose_lines, item_line, other_line, select_for_edit, select_for_prompt,
};

use super::sources::{ShownItems, message_item};
use super::{Draft, Project, Writer};
use crate::capture::memory::{KnownSentence, Trail, TrailEvent};
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Items that are compared, the newest ones.
const ITEMS_MAX: usize = 4_000;
/// Earlier prompts of the project by which the threshold is found, the newest ones.
const PAST_MAX: usize = 160;
/// Items for the task of a subagent.
const TASK_ITEMS_MAX: usize = 6;
/// Bytes of a prompt that stand for what an item was said about.
const CONTEXT_BYTES_MAX: usize = 400;

/// A sentence of the project, with the session and the turn in which it was said.
struct KnownItem {
    session: String,
    turn: u64,
    known: KnownSentence,
}

/// A prompt of the project.
struct PastPrompt {
    position: Position,
    turn: u64,
    text: String,
}

/// What a project knows.
pub(super) struct Knowledge {
    known: Vec<KnownItem>,
    items: Items,
    prompts: Vec<PastPrompt>,
    own_turn: u64,
}

impl Knowledge {
    /// Gathers what the sessions of a project said, in order.
    pub fn of(project: &Project, own: &str) -> Self {
        let mut known: Vec<(KnownItem, ItemTexts)> = Vec::new();
        let mut prompts = Vec::new();
        let mut own_turn = u64::MAX;
        for (at, trail) in project.trails().enumerate() {
            let trail = lock_unpoisoned(trail);
            let turn_of = |turn: u32| ((at as u64) << 32) | u64::from(turn);
            if trail.session == own {
                own_turn = turn_of(trail.turn);
            }
            let texts = texts_of_turns(&trail);
            for sentence in &trail.known {
                if sentence.sentence.cue < CUE_CANDIDATE {
                    continue;
                }
                let item = KnownItem {
                    session: trail.session.clone(),
                    turn: turn_of(sentence.turn),
                    known: sentence.clone(),
                };
                known.push((item, texts.get(&sentence.turn).cloned().unwrap_or_default()));
            }
            prompts.extend(trail.happened.iter().filter_map(|one| match &one.event {
                TrailEvent::Prompt {
                    text,
                    is_users: true,
                    ..
                } => Some(PastPrompt {
                    position: one.position,
                    turn: turn_of(one.turn),
                    text: text.clone(),
                }),
                _ => None,
            }));
        }
        known.sort_by_key(|(one, _)| one.known.position);
        known.drain(..known.len().saturating_sub(ITEMS_MAX));
        prompts.sort_by_key(|prompt| prompt.position);
        let mut items = Items::default();
        for (one, texts) in &known {
            let files: Vec<&str> = texts.files.iter().map(String::as_str).collect();
            items.push(Prepared::new(&ItemText {
                text: &one.known.sentence.text,
                context: &texts.prompt,
                kind: one.known.sentence.kind,
                cue: one.known.sentence.cue,
                source: source(one.known.speaker),
                turn: one.turn,
                files: &files,
            }));
        }
        for prompt in &prompts {
            items.count_prompt(&prompt.text);
        }
        Self {
            known: known.into_iter().map(|(one, _)| one).collect(),
            items,
            prompts,
            own_turn,
        }
    }

    /// Returns the best scores of the project's earlier prompts, each without items of its own turn.
    fn past(&self) -> PastScores {
        // The newest prompt is the one that is answered.
        let earlier = self.prompts.len().saturating_sub(1);
        let first = earlier.saturating_sub(PAST_MAX);
        let earlier = self.prompts.get(first..earlier).unwrap_or_default();
        let cold = PastScores::default();
        let top = |prompt: &PastPrompt| {
            let none = |_| None;
            let all = |_| false;
            select_for_prompt(&prompt.text, &self.items, prompt.turn, &cold, &all, &none).top
        };
        earlier.iter().map(top).collect()
    }

    fn is_shown(&self, shown: &ShownItems, at: usize) -> bool {
        self.known
            .get(at)
            .is_none_or(|one| shown.has(&one.session, &message_item(&one.known.message)))
    }

    /// Writes the lines of selected items.
    fn lines(
        &self,
        writer: &Writer<'_>,
        heading: Heading,
        selection: &Selection,
        others: &[String],
        budget: usize,
    ) -> Option<Draft> {
        let chosen = selection.items.iter();
        let chosen: Vec<&KnownItem> = chosen.filter_map(|one| self.known.get(one.index)).collect();
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
}

/// The prompt of a turn, and the files that it read or edited.
#[derive(Clone, Default)]
struct ItemTexts {
    prompt: String,
    files: BTreeSet<String>,
}

fn texts_of_turns(trail: &Trail) -> BTreeMap<u32, ItemTexts> {
    let mut texts: BTreeMap<u32, ItemTexts> = BTreeMap::new();
    for one in &trail.happened {
        match &one.event {
            TrailEvent::Prompt {
                text,
                is_users: true,
                ..
            } => {
                let end = text.floor_char_boundary(CONTEXT_BYTES_MAX);
                let text = text.get(..end).unwrap_or_default();
                text.clone_into(&mut texts.entry(one.turn).or_default().prompt);
            }
            TrailEvent::Called(call) => {
                let files = call.edits.iter().chain(&call.reads).cloned();
                texts.entry(one.turn).or_default().files.extend(files);
            }
            _ => {}
        }
    }
    texts
}

const fn source(speaker: Speaker) -> ItemSource {
    match speaker {
        Speaker::User => ItemSource::User,
        Speaker::Agent => ItemSource::Agent,
    }
}

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

/// Writes what a prompt needs.
pub(super) fn for_prompt(
    writer: &Writer<'_>,
    project: &Project,
    own: &str,
    prompt: &str,
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let knowledge = Knowledge::of(project, own);
    let selection = select_for_prompt(
        prompt,
        &knowledge.items,
        knowledge.own_turn,
        &knowledge.past(),
        &|at| knowledge.is_shown(shown, at),
        &|_| None,
    );
    knowledge.lines(writer, Heading::Prompt, &selection, &[], budget)
}

/// Writes what the task of a subagent needs: the subagent was shown nothing yet.
pub(super) fn for_task(
    writer: &Writer<'_>,
    project: &Project,
    own: &str,
    task: &str,
    budget: usize,
) -> Option<Draft> {
    let knowledge = Knowledge::of(project, own);
    let past = knowledge.past();
    let mut selection = Selection::default();
    // A prompt gets two at most; a task needs more, each the best of those that are left.
    while selection.items.len() < TASK_ITEMS_MAX {
        let taken: BTreeSet<usize> = selection.items.iter().map(|one| one.index).collect();
        let more = select_for_prompt(
            task,
            &knowledge.items,
            u64::MAX,
            &past,
            &|at| taken.contains(&at),
            &|_| None,
        );
        if more.items.is_empty() {
            break;
        }
        selection.items.extend(more.items);
    }
    knowledge.lines(writer, Heading::Task, &selection, &[], budget)
}

/// Writes what is known about a file that is about to be edited, and who else works on it.
pub(super) fn for_edit(
    writer: &Writer<'_>,
    project: &Project,
    own: &str,
    edits: &[(String, String)],
    shown: &ShownItems,
    budget: usize,
) -> Option<Draft> {
    let knowledge = Knowledge::of(project, own);
    let mut selection = Selection::default();
    for (path, new_text) in edits {
        let found = select_for_edit(
            path,
            new_text,
            &knowledge.items,
            &|at| knowledge.is_shown(shown, at),
            &|_| None,
        );
        for one in found.items {
            if !selection.items.iter().any(|known| known.index == one.index) {
                selection.items.push(one);
            }
        }
    }
    let others = others(writer, project, own, edits);
    knowledge.lines(writer, Heading::Edit, &selection, &others, budget)
}

/// Returns a line for each other session that works on one of these files now.
fn others(
    writer: &Writer<'_>,
    project: &Project,
    own: &str,
    edits: &[(String, String)],
) -> Vec<String> {
    let mut lines = Vec::new();
    for (row, trail) in &project.sessions {
        let trail = lock_unpoisoned(trail);
        if trail.session == own || !super::brief::is_at_work(writer, row, &trail) {
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
