//! Retrieval of pack candidates from the rows and the log. Reads few rows, the newest first, regardless of the
//! session's size.

mod candidates;
mod entities;
mod history;
pub mod passages;
pub mod search_hits;
mod task;
mod values;

use lore::protocol::names::{Part, WhyLeftOut};

use super::assembly::{Omission, PackInputs, Source};
use super::view::working::{self, WorkingSet};
use lored_recognise::TextSource;

use crate::budget;
use crate::clock::Micros;
use crate::entities::{EntityRef, Mention, PossibleMention, SessionContext, recognised};
use crate::error::Refusal;
use crate::events::packs::{Item, PackPurpose};
use crate::log::Position;
use crate::operation::Context;
use crate::sessions::{self, Line};
use crate::state::State;
use crate::store::Error;

pub use history::item_of;
pub use task::{TaskScope, sessions_of, task};

/// Number of newest messages that come into a pack before anything that is found.
pub const NEWEST: usize = 3;
/// Number of newest messages among which pruned ones are reported.
pub const MESSAGES: usize = 5;
/// Maximum number of newest tool uses in a pack.
pub const TOOL_USES: usize = 3;
/// Tokens of the budget for each older message that is read to fill it.
const TOKENS_PER_OLDER: usize = 32;
/// Maximum number of older messages that are read to fill the budget.
const OLDER_MAX: usize = 400;
/// Bytes of found texts that are read for each token of the budget: twice as many as ordinary text has.
const FOUND_BYTES_PER_TOKEN: u64 = 8;
/// Maximum number of most relevant entities in a pack.
pub const ENTITIES: usize = 10;

/// A session as of a state, with its working set.
pub struct SessionSnapshot<'s> {
    pub cx: &'s Context,
    pub state: &'s State,
    pub session: &'s str,
    /// The session and the ancestors whose history it shares.
    pub lines: Vec<Line>,
    pub working: WorkingSet,
}

/// The result of the retrieval.
pub struct RetrievedInputs {
    /// The candidates for the pack.
    pub pack_inputs: PackInputs,
    /// Pieces that are left out for other reasons than the budget.
    pub left_out: Vec<Omission>,
    /// Time until which the result stays the same if nothing is recorded: scores drop, data expires.
    pub until: Micros,
    pub warnings: Vec<String>,
}

impl<'s> SessionSnapshot<'s> {
    /// Loads a session's working set.
    pub fn of(cx: &'s Context, state: &'s State, session: &'s str) -> Result<Self, Refusal> {
        let lines = sessions::lineage(state, session)?;
        let working = working::of(state, &lines)?;
        Ok(Self {
            cx,
            state,
            session,
            lines,
            working,
        })
    }

    fn source(&self, item: Item, position: Position) -> Source {
        Source {
            session: Some(self.session.to_owned()),
            item,
            position,
            section: None,
        }
    }

    fn topic(&self) -> Result<Option<(Source, String)>, Refusal> {
        let details = sessions::details(self.state, self.session)?;
        let at = Position(details.topic_at);
        Ok(details
            .topic
            .map(|topic| (self.source(Item::Topic, at), topic)))
    }
}

/// How much can come into a pack: more is not read.
#[derive(Clone, Copy, Debug)]
pub struct PackLimits {
    /// The budget.
    pub max_tokens: u64,
    /// Whether only the words of some are included, so that much of what is found is not.
    pub has_origins: bool,
}

impl PackLimits {
    /// Returns the number of older messages that could fill the budget.
    fn older_max(&self) -> usize {
        let tokens = usize::try_from(self.max_tokens).unwrap_or(usize::MAX);
        (tokens / TOKENS_PER_OLDER).min(OLDER_MAX)
    }

    /// Returns the bytes of found texts that fill the budget in any case; `None` for all of them.
    fn found_bytes_max(&self) -> Option<usize> {
        let bytes = self.max_tokens.saturating_mul(FOUND_BYTES_PER_TOKEN);
        usize::try_from(bytes).ok().filter(|_| !self.has_origins)
    }
}

/// Retrieves the context of a message from its session and its project.
pub fn message(
    of: &SessionSnapshot<'_>,
    message: &str,
    now: Micros,
    limits: &PackLimits,
) -> Result<RetrievedInputs, Refusal> {
    let mut warnings = Vec::new();
    let named = of.named(message)?;
    let project = of.project()?;
    let question = candidates::question(message, &named, |entity| of.name_of(entity))?;
    let from = (of.cx, of.state, project.as_deref());
    let asked = (question.as_str(), message);
    // Each takes milliseconds, and neither needs the other.
    let (newest, found) = budget::at_once(
        || history::of(of, message, limits.older_max()),
        || search_hits::history(std::slice::from_ref(of), from, asked, limits),
    );
    let (newest, found) = (newest?, found?);
    let topic = candidates::Topic::of(&newest.messages, &found);
    let entities = entities::of(of, &named, &topic, now)?;
    let values = values::named(of, message, &mut warnings)?;
    let mut passages = passages::about(from, message, &named, false, &mut warnings)?;
    passages.extend(search_hits::documents(of.cx, of.state, &question)?);
    let history = candidates::ranked(vec![newest], found);
    // The newest turns and the search may leave out the same message.
    let mut left_out: Vec<Omission> = Vec::new();
    for one in history.left_out.into_iter().chain(entities.left_out) {
        if !left_out.contains(&one) {
            left_out.push(one);
        }
    }
    Ok(RetrievedInputs {
        pack_inputs: PackInputs {
            purpose: PackPurpose::Message,
            message: message.to_owned(),
            is_nothing_relevant: !history.has_relevant && passages.is_empty() && values.is_empty(),
            history: history.pieces,
            entities: entities.known,
            values,
            passages,
            topic: of.topic()?,
        },
        left_out,
        until: entities.until,
        warnings,
    })
}

impl SessionSnapshot<'_> {
    fn project(&self) -> Result<Option<String>, Refusal> {
        Ok(sessions::get(self.state, self.session)?.and_then(|row| row.project))
    }

    /// Returns the name of an entity of the session.
    fn name_of(&self, entity: &EntityRef) -> Result<Option<String>, Error> {
        Ok(crate::entities::get(self.state, &self.lines, entity)?.map(|row| row.name))
    }

    /// Recognises the entities in a text.
    fn named(&self, text: &str) -> Result<Vec<EntityRef>, Refusal> {
        let project = self.project()?;
        let knowing = SessionContext::of(self.cx, self.state, &self.lines, project.as_deref())?;
        let recognition = recognised(&knowing, text, TextSource::Person, &[]);
        let mut named = Vec::new();
        let mentioned = recognition.mentions.iter().map(Mention::entity);
        // What the text may refer to is evidence, too.
        let possible = recognition.possible.iter().map(PossibleMention::entity);
        for entity in mentioned.chain(possible) {
            if !named.contains(&entity) {
                named.push(entity);
            }
        }
        Ok(crate::entities::roots(self.state, &self.lines, &named)?)
    }
}

fn left_out(source: &Source, why: WhyLeftOut) -> Omission {
    Omission::of(source, Part::Whole, why)
}
