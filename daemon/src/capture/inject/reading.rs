//! Reads from the trails of sessions what a project has learnt since.

use std::collections::{BTreeSet, HashMap};

use lored_moments::CUE_CANDIDATE;

use super::freshness::CitedFiles;
use super::knowledge::KnownItem;
use super::turns::TurnFacts;
use crate::capture::memory::{KnownSentence, RememberedItem, Trail, TrailEvent};
use crate::log::Position;

/// The turn of what was said in none.
const NO_TURN: u64 = u64::MAX - 1;

/// How far a session has been read.
pub(super) struct ReadSession {
    /// Its number, which makes its turns different from those of other sessions.
    pub(super) number: u64,
    pub(super) sentences: Position,
    pub(super) prompts: Position,
    pub(super) receipts: Position,
}

/// A sentence to add, with what its turn was about.
pub(super) struct NewItem {
    pub(super) item: KnownItem,
    pub(super) turn: u64,
    pub(super) context: String,
    pub(super) files: BTreeSet<String>,
}

impl NewItem {
    pub(super) fn remembered(item: &RememberedItem) -> Self {
        Self {
            item: KnownItem {
                session: item.session.clone(),
                known: item.known.clone(),
                cited: CitedFiles::default(),
            },
            turn: NO_TURN,
            context: String::new(),
            files: BTreeSet::new(),
        }
    }
}

/// A prompt to score.
pub(super) struct NewPrompt {
    pub(super) position: Position,
    pub(super) turn: u64,
    pub(super) text: String,
}

impl ReadSession {
    pub(super) const fn turn(&self, turn: u32) -> u64 {
        (self.number << 32) | turn as u64
    }

    /// Takes the sentences of turns that are over: only then is it known which files they were about.
    pub(super) fn items(
        &mut self,
        trail: &Trail,
        is_over: impl Fn(u32) -> bool,
        items: &mut Vec<NewItem>,
    ) {
        let new = trail
            .known
            .iter()
            .filter(|one| one.position > self.sentences && !one.is_remembered);
        let new: Vec<&KnownSentence> = new.take_while(|one| is_over(one.turn)).collect();
        let Some(last) = new.last().map(|one| one.position) else {
            return;
        };
        let mut turns: HashMap<u32, TurnFacts<'_>> = HashMap::new();
        for one in new.iter().filter(|one| one.sentence.cue >= CUE_CANDIDATE) {
            let about = turns
                .entry(one.turn)
                .or_insert_with(|| TurnFacts::of(trail, one.turn));
            items.push(NewItem {
                turn: self.turn(one.turn),
                context: about.prompt.clone(),
                files: about.files.clone(),
                item: KnownItem {
                    session: trail.session.clone(),
                    known: (*one).clone(),
                    cited: CitedFiles::of(&one.sentence.text, &about.files, &about.calls),
                },
            });
        }
        self.sentences = last;
    }

    pub(super) fn prompts(
        &mut self,
        trail: &Trail,
        before: Option<Position>,
        prompts: &mut Vec<NewPrompt>,
    ) {
        for one in &trail.happened {
            let TrailEvent::Prompt {
                text,
                is_users: true,
                ..
            } = &one.event
            else {
                continue;
            };
            if one.position <= self.prompts {
                continue;
            }
            self.prompts = one.position;
            // The one that is being answered is scored then.
            if before.is_none_or(|before| one.position < before) {
                prompts.push(NewPrompt {
                    position: one.position,
                    turn: self.turn(one.turn),
                    text: text.clone(),
                });
            }
        }
    }
}
