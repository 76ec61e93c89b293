//! Retrieval of pack candidates from the rows and the log. Reads few rows, the newest first, regardless of the
//! session's size.

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

use crate::clock::Micros;
use crate::entities::{EntityRef, Mention, PossibleMention, SessionContext, recognised};
use crate::error::Refusal;
use crate::events::packs::{Item, PackPurpose};
use crate::log::Position;
use crate::operation::Context;
use crate::sessions::{self, Line};
use crate::state::State;

pub use history::item_of;
pub use task::{TaskScope, sessions_of, task};

/// Maximum number of newest messages in a pack.
pub const MESSAGES: usize = 5;
/// Maximum number of newest tool uses in a pack.
pub const TOOL_USES: usize = 3;
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

/// Retrieves the context of a message from its session.
pub fn message(
    of: &SessionSnapshot<'_>,
    message: &str,
    now: Micros,
) -> Result<RetrievedInputs, Refusal> {
    let mut warnings = Vec::new();
    let named = of.named(message)?;
    let mut history = history::of(of, message)?;
    let earlier = search_hits::messages(of.cx, of.state, &of.lines, message)?;
    history.add(history::at(of, message, earlier)?);
    let entities = entities::of(of, &named, now)?;
    let values = values::named(of, message, &mut warnings)?;
    let project = of.project()?;
    let from = (of.cx, of.state, project.as_deref());
    let mut passages = passages::about(from, message, &named, false, &mut warnings)?;
    passages.extend(search_hits::documents(of.cx, of.state, message)?);
    let mut left_out = history.left_out;
    left_out.extend(entities.left_out);
    Ok(RetrievedInputs {
        pack_inputs: PackInputs {
            purpose: PackPurpose::Message,
            message: message.to_owned(),
            history: history.reported,
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
        Ok(named)
    }
}

fn left_out(source: &Source, why: WhyLeftOut) -> Omission {
    Omission::of(source, Part::Whole, why)
}
