//! An entry of the resource table: data that can be read by URI.
//!
//! A [`Resource`] is a kind of data that a host may offer to its user: a URI template,
//! display names, a list, and the text of each entry. Every resource can also be read by an
//! operation, because not every host supports resources.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Refusal;
use crate::events::Event;
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, answered};
use crate::store::Rows;

/// Refuses a cursor where a list has one page.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn only_page(cursor: Option<&str>) -> Result<(), Refusal> {
    match cursor {
        None => Ok(()),
        Some(cursor) => Err(unknown_page(cursor)),
    }
}

/// Returns the refusal of a cursor that no list has given.
#[must_use]
pub fn unknown_page(cursor: &str) -> Refusal {
    let shown: String = cursor.chars().take(100).collect();
    Refusal::invalid(format!("page {shown:?} not found"))
        .hint("Give `nextCursor` as it came, or no `cursor` for the first page.")
}

/// A kind of resource.
pub trait Resource: 'static {
    /// The URI template, with its variable part in braces at the end: `lore://checkpoint/{id}`.
    const TEMPLATE: &'static str;
    /// One word that must never change, because it is part of cursors.
    const NAME: &'static str;
    /// Title in lists for people.
    const TITLE: &'static str;
    /// Description for models and people.
    const DESCRIPTION: &'static str;
    /// The media type of each text.
    const MIME: &'static str;

    /// Lists a page of the entries relevant to this caller, the most relevant first.
    fn list(
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> impl Future<Output = Result<Page, Refusal>> + Send;

    /// Lists entries for the completion of an id, the most relevant first. The default is the listed
    /// entries.
    fn candidates(
        cx: Arc<Context>,
        caller: Caller,
    ) -> impl Future<Output = Result<Vec<Entry>, Refusal>> + Send {
        async { Ok(Self::list(cx, caller, None).await?.entries) }
    }

    /// Reads the text of an entry, by the variable part of its URI, which may be any text.
    fn read(
        cx: Arc<Context>,
        caller: Caller,
        id: String,
    ) -> impl Future<Output = Result<String, Refusal>> + Send;

    /// Checks that an entry exists, for subscriptions; must need only a few point reads.
    ///
    /// # Errors
    /// As [`Self::read`], when it does not exist.
    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal>;

    /// Returns the effect of an event; called for every event, so it checks the header first.
    fn touched(event: &LoggedEvent, meta: Option<&Event>) -> AffectedResources;
}

/// The effect of an event on a kind of resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedResources {
    /// Entries whose texts changed.
    pub ids: Vec<String>,
    /// Whether lists changed.
    pub list: bool,
}

impl AffectedResources {
    /// Reports one changed entry; `list` when it is new, removed, or listed differently.
    #[must_use]
    pub fn one(id: impl Into<String>, list: bool) -> Self {
        Self {
            ids: vec![id.into()],
            list,
        }
    }
}

/// A page of entries of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Entries in display order.
    pub entries: Vec<Entry>,
    /// Cursor of the next page, if there may be one.
    pub next: Option<String>,
}

/// An entry of a kind, in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The variable part of its URI.
    pub id: String,
    /// Title for people.
    pub title: Option<String>,
    /// Description, one sentence.
    pub description: Option<String>,
    /// Length of its text in bytes, where that is known without reading it.
    pub bytes: Option<u64>,
}

type Answered<T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send>>;

/// An entry of the resource table: the constants and functions of a [`Resource`]. A panic in a handler becomes an
/// error.
#[derive(Clone, Copy)]
#[allow(missing_docs)] // as in `Resource`
pub struct Kind {
    pub template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub mime: &'static str,
    pub list: fn(Arc<Context>, Caller, Option<String>) -> Answered<Page>,
    pub candidates: fn(Arc<Context>, Caller) -> Answered<Vec<Entry>>,
    pub read: fn(Arc<Context>, Caller, String) -> Answered<String>,
    pub check: fn(&dyn Rows, &str) -> Result<(), Refusal>,
    pub touched: fn(&LoggedEvent, Option<&Event>) -> AffectedResources,
}

impl Kind {
    /// Builds the table entry of a resource.
    #[must_use]
    pub const fn of<R: Resource>() -> Self {
        Self {
            template: R::TEMPLATE,
            name: R::NAME,
            title: R::TITLE,
            description: R::DESCRIPTION,
            mime: R::MIME,
            list: |cx, caller, cursor| Box::pin(answered(R::NAME, R::list(cx, caller, cursor))),
            candidates: |cx, caller| Box::pin(answered(R::NAME, R::candidates(cx, caller))),
            read: |cx, caller, id| Box::pin(answered(R::NAME, R::read(cx, caller, id))),
            check: R::check,
            touched: R::touched,
        }
    }

    /// The prefix before the variable part of each URI.
    #[must_use]
    pub fn prefix(&self) -> &'static str {
        self.template
            .split_once('{')
            .map_or(self.template, |(prefix, _)| prefix)
    }

    /// Returns the URI of an entry.
    #[must_use]
    pub fn address(&self, id: &str) -> String {
        format!("{}{id}", self.prefix())
    }
}
