//! What a project knows: the sentences of its sessions that last, prepared for matching, and the scores of its earlier
//! prompts. Both grow with what is recorded, so that a prompt costs its own comparison alone.
//!
//! Vectors are made in the background ([`super::meaning`]). Until nearly all are there, words alone are compared, with
//! the scores of earlier prompts by words alone: scores with and without vectors are of different heights.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use lored_moments::{
    Item, ItemSource, ItemText, Items, PastScores, Selection, Speaker, VersionEffect, Versions,
    select_for_prompt, uses,
};

use super::Project;
use super::freshness::CitedFiles;
use super::meaning::MeaningVector;
use super::printed::PrintedLines;
use super::reading::{NewItem, ReadSession};
use super::receipts::{Receipt, receipts};
use super::turns::over;
use crate::capture::memory::{KnownSentence, Trail};
use crate::locks::lock_unpoisoned;
use crate::log::Position;

/// Items that are compared, the newest ones.
const ITEMS_MAX: usize = 4_000;
/// Items beyond [`ITEMS_MAX`] at which the oldest ones are dropped, by gathering them anew.
const SURPLUS_MAX: usize = 1_000;
/// Earlier prompts of the project by which the threshold is found, the newest ones.
const PAST_MAX: usize = 160;
/// Items that have vectors, the newest ones: one takes some milliseconds.
const VECTORS_MAX: usize = 2_000;
/// Items and earlier prompts whose vectors may be missing.
const MISSING_MAX: usize = 16;
/// Bytes of an earlier prompt that are compared.
const PROMPT_BYTES_MAX: usize = 2_000;
/// Projects that are kept; beyond it the least recently used one goes.
const PROJECTS_MAX: usize = 8;

/// A sentence of the project, with its session.
pub(super) struct KnownItem {
    /// The session in which it was said.
    pub session: String,
    /// The sentence.
    pub known: KnownSentence,
    /// The files that it names.
    pub cited: CitedFiles,
}

/// What a project knows.
#[derive(Default)]
pub(in crate::capture) struct Knowledge {
    /// The sentences, in the order of `items`.
    pub(super) known: Vec<KnownItem>,
    /// The same, prepared for matching.
    items: Items,
    /// What became of each.
    pub(super) versions: Versions,
    /// Those that a person accepted.
    accepted: Vec<usize>,
    /// Their vectors, as far as they were made.
    vectors: Vec<Option<MeaningVector>>,
    /// Earlier prompts, the newest last.
    asked: VecDeque<AskedPrompt>,
    read: HashMap<String, ReadSession>,
    /// Position of the last item that was recorded to be remembered.
    remembered: Position,
    /// The state of the trails that it was read from.
    generation: u64,
    /// Number of times that it was dropped and gathered again.
    round: u64,
    /// Number of prompts that were asked.
    prompts: u64,
    /// What commands printed.
    pub(super) printed: PrintedLines,
    /// Whether vectors are being made.
    pub(super) is_embedding: bool,
}

/// An earlier prompt with the best scores of items.
struct AskedPrompt {
    number: u64,
    turn: u64,
    text: String,
    /// By words alone.
    words: f32,
    /// With vectors; `None` until it was compared so.
    meaning: Option<f32>,
}

/// A text whose vector is missing.
pub(super) struct MissingVector {
    round: u64,
    of: VectorOf,
    /// The text.
    pub text: String,
}

enum VectorOf {
    Item(usize),
    Prompt(u64),
}

/// The knowledge of projects.
#[derive(Default)]
pub(in crate::capture) struct ProjectKnowledge(Mutex<CachedProjects>);

#[derive(Default)]
struct CachedProjects {
    projects: HashMap<String, (Arc<Mutex<Knowledge>>, u64)>,
    uses: u64,
}

impl std::fmt::Debug for ProjectKnowledge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProjectKnowledge")
    }
}

impl ProjectKnowledge {
    /// Returns what a project knows, as far as it was gathered.
    pub(super) fn of(&self, project: &str) -> Arc<Mutex<Knowledge>> {
        let mut cached = lock_unpoisoned(&self.0);
        cached.uses += 1;
        let now = cached.uses;
        let (knowledge, last_use) = cached.projects.entry(project.to_owned()).or_default();
        *last_use = now;
        let knowledge = Arc::clone(knowledge);
        if cached.projects.len() > PROJECTS_MAX {
            let oldest = cached
                .projects
                .iter()
                .min_by_key(|(_, (_, last_use))| *last_use);
            if let Some(oldest) = oldest.map(|(project, _)| project.clone()) {
                cached.projects.remove(&oldest);
            }
        }
        knowledge
    }
}

impl Knowledge {
    /// Reads what the sessions of the project said since. A prompt that is being answered is left for [`Self::answered`].
    pub(super) fn catch_up(&mut self, project: &Project, answering: Option<(&str, Position)>) {
        if self.generation != project.generation || self.known.len() > ITEMS_MAX + SURPLUS_MAX {
            *self = Self {
                generation: project.generation,
                round: self.round + 1,
                is_embedding: self.is_embedding,
                ..Self::default()
            };
        }
        let (mut items, mut prompts, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for trail in project.trails() {
            let trail = lock_unpoisoned(trail);
            let number = self.read.len() as u64;
            let read = self
                .read
                .entry(trail.session.clone())
                .or_insert(ReadSession {
                    number,
                    sentences: Position(0),
                    prompts: Position(0),
                    receipts: Position(0),
                });
            let is_over = over(&trail);
            read.items(&trail, &is_over, &mut items);
            given.extend(receipts(&trail, &mut read.receipts, &is_over));
            let until = answering.filter(|(session, _)| *session == trail.session);
            read.prompts(&trail, until.map(|(_, position)| position), &mut prompts);
        }
        self.printed.catch_up(project);
        items.extend(self.remembered(project));
        items.sort_by_key(|one| one.item.known.position);
        items.drain(..items.len().saturating_sub(ITEMS_MAX));
        items.into_iter().for_each(|one| self.add(one));
        // A person may have accepted a statement that was contradicted later.
        for place in &self.accepted {
            self.versions.accept(*place);
        }
        self.learn(&given);
        prompts.sort_by_key(|prompt| prompt.position);
        let scored_from = prompts.len().saturating_sub(PAST_MAX);
        for (at, prompt) in prompts.iter().enumerate() {
            self.items.count_prompt(&prompt.text);
            if at >= scored_from {
                let words = self.top(&prompt.text, prompt.turn, None);
                self.note(&prompt.text, prompt.turn, words, None);
            }
        }
    }

    /// Notes which items were used in the turns that were given them.
    fn learn(&mut self, given: &[Receipt]) {
        if given.is_empty() {
            return;
        }
        let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (at, one) in self.known.iter().enumerate() {
            let key = (one.session.as_str(), one.known.message.as_str());
            places.entry(key).or_default().push(at);
        }
        for receipt in given {
            for (session, message) in &receipt.given {
                let found = places.get(&(session.as_str(), message.as_str()));
                for at in found.into_iter().flatten() {
                    let text = self.known.get(*at).map(|one| &one.known.sentence.text);
                    let is_used =
                        text.is_some_and(|text| uses(text, &receipt.prompt, &receipt.after));
                    self.items.note_receipt(*at, is_used);
                }
            }
        }
    }

    /// Returns the sentences, prepared for matching.
    pub(super) const fn items(&self) -> &Items {
        &self.items
    }

    /// Returns the items that a text of a turn needs. `vector` is that of the text.
    pub(super) fn select(
        &self,
        text: &str,
        turn: u64,
        vector: Option<&[f32]>,
        is_shown: &dyn Fn(usize) -> bool,
    ) -> Selection {
        let past: PastScores = match vector {
            Some(_) => self.asked.iter().filter_map(|one| one.meaning).collect(),
            None => self.asked.iter().map(|one| one.words).collect(),
        };
        let cosine = |at| self.cosine(at, vector);
        select_for_prompt(text, &self.items, turn, &past, is_shown, &cosine)
    }

    /// Notes the best scores of a prompt that was answered.
    pub(super) fn answered(
        &mut self,
        prompt: &str,
        turn: u64,
        answer: &Selection,
        has_vector: bool,
    ) {
        self.items.count_prompt(prompt);
        let meaning = has_vector.then_some(answer.top);
        self.note(prompt, turn, answer.top_of_words, meaning);
    }

    /// Whether prompts are compared with vectors: those of items and of earlier prompts were made.
    pub(super) fn has_vectors(&self) -> bool {
        let missing = self.items_without().count() + self.prompts_without().count();
        !self.items.is_empty() && missing <= MISSING_MAX && self.vectors.iter().any(Option::is_some)
    }

    /// Returns some texts without vectors, at most `most`: first those of items, the newest first.
    pub(super) fn missing_vectors(&self, most: usize) -> Vec<MissingVector> {
        let round = self.round;
        let items = self.items_without().filter_map(|at| {
            let text = self.known.get(at)?.known.sentence.text.clone();
            Some((VectorOf::Item(at), text))
        });
        let prompts = self
            .prompts_without()
            .map(|one| (VectorOf::Prompt(one.number), one.text.clone()));
        let missing = items.chain(prompts).take(most);
        missing
            .map(|(of, text)| MissingVector { round, of, text })
            .collect()
    }

    /// Takes a vector that was missing. A prompt is compared with it, so that later ones have a measure.
    pub(super) fn take_vector(&mut self, missing: &MissingVector, vector: &[f32]) {
        if missing.round != self.round {
            return;
        }
        match missing.of {
            VectorOf::Item(at) => {
                self.vectors.resize_with(self.known.len(), || None);
                if let Some(known) = self.vectors.get_mut(at) {
                    *known = Some(MeaningVector::new(vector));
                }
            }
            VectorOf::Prompt(number) => {
                let found = self.asked.iter().position(|one| one.number == number);
                let turn = found.and_then(|at| self.asked.get(at)).map(|one| one.turn);
                let top = turn.map(|turn| self.top(&missing.text, turn, Some(vector)));
                if let Some(one) = found.and_then(|at| self.asked.get_mut(at)) {
                    one.meaning = top;
                }
            }
        }
    }

    fn items_without(&self) -> impl Iterator<Item = usize> {
        let oldest = self.known.len().saturating_sub(VECTORS_MAX);
        let is_missing = |at: &usize| !matches!(self.vectors.get(*at), Some(Some(_)));
        (oldest..self.known.len()).rev().filter(is_missing)
    }

    fn prompts_without(&self) -> impl Iterator<Item = &AskedPrompt> {
        let newest = self.asked.iter().rev();
        newest.filter(|one| one.meaning.is_none())
    }

    /// Returns the cosine of an item and a vector, if there are both.
    pub(super) fn cosine(&self, at: usize, vector: Option<&[f32]>) -> Option<f32> {
        let known = self.vectors.get(at)?.as_ref()?;
        Some(known.cosine(vector?))
    }

    fn note(&mut self, text: &str, turn: u64, words: f32, meaning: Option<f32>) {
        self.prompts += 1;
        let end = text.floor_char_boundary(PROMPT_BYTES_MAX);
        self.asked.push_back(AskedPrompt {
            number: self.prompts,
            turn,
            text: text.get(..end).unwrap_or_default().to_owned(),
            words,
            meaning,
        });
        if self.asked.len() > PAST_MAX {
            self.asked.pop_front();
        }
    }

    /// Returns the turn of a session in which something is said now.
    pub(super) fn turn_of(&self, trail: &Trail) -> u64 {
        let read = self.read.get(&trail.session);
        read.map_or(u64::MAX, |read| read.turn(trail.turn))
    }

    /// Takes what was recorded to be remembered since.
    fn remembered(&mut self, project: &Project) -> Vec<NewItem> {
        let since = self.remembered;
        let new = project.remembered.iter();
        let new = new.filter(|one| one.known.position > since);
        let new: Vec<NewItem> = new.map(NewItem::remembered).collect();
        if let Some(last) = new.last() {
            self.remembered = last.item.known.position;
        }
        new
    }

    fn add(&mut self, new: NewItem) {
        let sentence = &new.item.known.sentence;
        let files: Vec<&str> = new.files.iter().map(String::as_str).collect();
        self.items.push(Item::new(&ItemText {
            text: &sentence.text,
            context: &new.context,
            kind: sentence.kind,
            cue: sentence.cue,
            source: source(new.item.known.speaker),
            turn: new.turn,
            files: &files,
        }));
        let known = &new.item.known;
        let (speaker, author) = (known.speaker, known.agent.as_str());
        let replaces = self.places_of(&known.replaces);
        let place = self
            .versions
            .add(&sentence.text, speaker, author, &replaces);
        if known.is_accepted {
            self.accepted.push(place);
        }
        self.known.push(new.item);
    }

    /// Returns the places of the statements at these positions.
    fn places_of(&self, positions: &[u64]) -> Vec<usize> {
        if positions.is_empty() {
            return Vec::new();
        }
        let known = self.known.iter().enumerate();
        let found = known.filter(|(_, one)| positions.contains(&one.known.position.0));
        found.map(|(place, _)| place).collect()
    }

    /// Returns what a statement would do to those that are known.
    pub(super) fn effect(&self, text: &str, speaker: Speaker, author: &str) -> VersionEffect {
        self.versions.effect(text, speaker, author)
    }

    /// Returns the statement that a statement is served with: one that disputes it, or the last one that it replaced.
    pub(super) fn other_version(&self, place: usize) -> Option<(&KnownItem, bool)> {
        let disputed = self.versions.disputes(place).last();
        let replaced = self.versions.replaced_by(place).last();
        let (other, is_disputed) = match (disputed, replaced) {
            (Some(other), _) => (other, true),
            (None, Some(other)) => (other, false),
            (None, None) => return None,
        };
        Some((self.known.get(*other)?, is_disputed))
    }

    fn top(&self, prompt: &str, turn: u64, vector: Option<&[f32]>) -> f32 {
        let (cold, none_shown) = (PastScores::default(), |_| false);
        let cosine = |at| self.cosine(at, vector);
        select_for_prompt(prompt, &self.items, turn, &cold, &none_shown, &cosine).top
    }
}

/// Returns whose words a sentence is.
pub(super) const fn source(speaker: Speaker) -> ItemSource {
    match speaker {
        Speaker::User => ItemSource::User,
        Speaker::Agent => ItemSource::Agent,
    }
}
