//! `lore://session/{id}`: sessions by URI.

use std::sync::Arc;

use lore::protocol::SessionId;

use super::operations::transfer;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, blocking};
use crate::read_context::ReadContext;
use crate::resource::{AffectedResources, Entry, Page, Resource, only_page};
use crate::rows::until;
use crate::sessions::{self, SessionFilter, SessionSettings, WantedContent};
use crate::state::State;
use crate::store::Rows;

/// Maximum number of listed sessions: the newest active ones.
const LISTED_MAX: usize = 50;
/// Maximum number of sessions read to select them.
const LOOKED_AT_MAX: usize = 2000;

/// The resource kind of sessions.
pub struct Session;

impl Resource for Session {
    const TEMPLATE: &'static str = "lore://session/{id}";
    const NAME: &'static str = "session";
    const TITLE: &'static str = "Session";
    const DESCRIPTION: &'static str = "The state of a session as in `get_session`: topic, entities, the last tools with their \
        results; as a JSON object.";
    const MIME: &'static str = "application/json";

    /// Lists the newest active sessions, in the caller's project if it has one.
    async fn list(
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> Result<Page, Refusal> {
        only_page(cursor.as_deref())?;
        let state = State::live(&cx, None).await?;
        blocking(move || {
            let project = caller.project.as_deref();
            let (settings, now) = (SessionSettings::of(&cx), cx.engine.clock().now());
            let mut page = Page::default();
            let mut looked_at = 0;
            let within = project.map_or(SessionFilter::All, SessionFilter::Project);
            sessions::newest(&state, within, None, &mut |session, _| {
                looked_at += 1;
                if let Some(row) = sessions::get(&state, session)?
                    && !settings.is_past(&row, now)
                {
                    let details = sessions::details(&state, session)?;
                    let at = format_time(row.last_activity);
                    page.entries.push(Entry {
                        id: session.to_owned(),
                        title: details.title,
                        description: Some(match details.topic {
                            Some(topic) => format!("{topic}; last active {at}"),
                            None => format!("last active {at}"),
                        }),
                        bytes: None,
                    });
                }
                let is_enough = page.entries.len() == LISTED_MAX || looked_at == LOOKED_AT_MAX;
                Ok(until(is_enough))
            })?;
            Ok(page)
        })
        .await
    }

    async fn read(cx: Arc<Context>, caller: Caller, id: String) -> Result<String, Refusal> {
        let session = session_id(id)?;
        let reading = ReadContext {
            session: Some(session),
            as_of: None,
            at_least: None,
            wanted: WantedContent::default(),
        };
        let read = reading.open(cx, caller).await?;
        blocking(move || {
            serde_json::to_string(&transfer(&read)?).map_err(|error| {
                Refusal::new(
                    Code::Internal,
                    format!("the session does not encode: {error}"),
                )
            })
        })
        .await
    }

    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal> {
        sessions::find(rows, session_id(id)?.as_str()).map(drop)
    }

    /// Every event of a session changes its overview.
    fn touched(event: &LoggedEvent, _: Option<&Event>) -> AffectedResources {
        let header = &event.header;
        let touched = header.session.as_ref().map(|session| {
            let changes_lists = header.kind.has(|policy| policy.changes_lists);
            AffectedResources::one(session, changes_lists)
        });
        touched.unwrap_or_default()
    }
}

fn session_id(id: impl Into<String>) -> Result<SessionId, Refusal> {
    SessionId::new(id).map_err(|error| Refusal::invalid(format!("this is not an address: {error}")))
}
