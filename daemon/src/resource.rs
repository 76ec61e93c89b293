//! One line of the resource table: what can be read by its address.
//!
//! A [`Resource`] is a kind of things that a host may offer to its user: a template of addresses,
//! names for people, a list, and one thing's text. What can be read this way can be read by an
//! operation, too: not every host knows resources.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Refusal;
use crate::events::Event;
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, answered};
use crate::store::Rows;

/// A kind of things with addresses.
pub trait Resource: 'static {
    /// The addresses, with their varying part in braces at the end: `lore://checkpoint/{id}`.
    const TEMPLATE: &'static str;
    /// One word, the same for ever: it is part of cursors.
    const NAME: &'static str;
    /// For people, in lists.
    const TITLE: &'static str;
    /// What it is, for models and people.
    const SENTENCE: &'static str;
    /// The media type of each text.
    const MIME: &'static str;

    /// A page of those that this caller may want, the likeliest first.
    fn list(
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> impl Future<Output = Result<Page, Refusal>> + Send;

    /// Those that a caller may mean who types an id, the likeliest first: what is listed, unless a
    /// kind knows more.
    fn candidates(
        cx: Arc<Context>,
        caller: Caller,
    ) -> impl Future<Output = Result<Vec<Entry>, Refusal>> + Send {
        async { Ok(Self::list(cx, caller, None).await?.entries) }
    }

    /// The text of one, by the varying part of its address; whatever was asked for comes in.
    fn read(
        cx: Arc<Context>,
        caller: Caller,
        id: String,
    ) -> impl Future<Output = Result<String, Refusal>> + Send;

    /// Whether there is one of this id, for who wants to hear of its changes: a few point reads.
    ///
    /// # Errors
    /// As [`Self::read`], when it is not there.
    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal>;

    /// What an event changes; asked for every event, so it looks at the header first.
    fn touched(event: &LoggedEvent, meta: Option<&Event>) -> AffectedResources;
}

/// What an event changes of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedResources {
    /// Those whose texts are others now.
    pub ids: Vec<String>,
    /// Whether lists are.
    pub list: bool,
}

impl AffectedResources {
    /// One of them; `list` when it is new, gone, or listed otherwise.
    #[must_use]
    pub fn one(id: impl Into<String>, list: bool) -> Self {
        Self {
            ids: vec![id.into()],
            list,
        }
    }
}

/// Some of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// In the order in which they are shown.
    pub entries: Vec<Entry>,
    /// Where the next page begins, if there may be one.
    pub next: Option<String>,
}

/// One of a kind, in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The varying part of its address.
    pub id: String,
    /// For people.
    pub title: Option<String>,
    /// What it is, as a sentence.
    pub description: Option<String>,
    /// Length of its text, in bytes, where that is known without reading it.
    pub bytes: Option<u64>,
}

type ResourceLister = Pin<Box<dyn Future<Output = Result<Page, Refusal>> + Send>>;
type ResourceCompleter = Pin<Box<dyn Future<Output = Result<Vec<Entry>, Refusal>> + Send>>;
type ResourceReader = Pin<Box<dyn Future<Output = Result<String, Refusal>> + Send>>;

/// One line of the table.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The addresses, with their varying part in braces at the end.
    pub template: &'static str,
    /// One word.
    pub name: &'static str,
    /// For people, in lists.
    pub title: &'static str,
    /// What it is.
    pub sentence: &'static str,
    /// The media type of each text.
    pub mime: &'static str,
    list: fn(Arc<Context>, Caller, Option<String>) -> ResourceLister,
    candidates: fn(Arc<Context>, Caller) -> ResourceCompleter,
    read: fn(Arc<Context>, Caller, String) -> ResourceReader,
    check: fn(&dyn Rows, &str) -> Result<(), Refusal>,
    touched: fn(&LoggedEvent, Option<&Event>) -> AffectedResources,
}

impl Kind {
    /// The line of a resource.
    #[must_use]
    pub const fn of<R: Resource>() -> Self {
        Self {
            template: R::TEMPLATE,
            name: R::NAME,
            title: R::TITLE,
            sentence: R::SENTENCE,
            mime: R::MIME,
            list: |cx, caller, cursor| Box::pin(R::list(cx, caller, cursor)),
            candidates: |cx, caller| Box::pin(R::candidates(cx, caller)),
            read: |cx, caller, id| Box::pin(R::read(cx, caller, id)),
            check: R::check,
            touched: R::touched,
        }
    }

    /// What stands before the varying part of each address.
    #[must_use]
    pub fn prefix(&self) -> &'static str {
        self.template
            .split_once('{')
            .map_or(self.template, |(prefix, _)| prefix)
    }

    /// The address of one.
    #[must_use]
    pub fn address(&self, id: &str) -> String {
        format!("{}{id}", self.prefix())
    }

    /// Whether there is one of this id.
    ///
    /// # Errors
    /// What the room refuses.
    pub fn check(&self, rows: &dyn Rows, id: &str) -> Result<(), Refusal> {
        (self.check)(rows, id)
    }

    /// What an event changes of this kind.
    #[must_use]
    pub fn touched(&self, event: &LoggedEvent, meta: Option<&Event>) -> AffectedResources {
        (self.touched)(event, meta)
    }

    /// A page of them. A panic is an answer, too.
    ///
    /// # Errors
    /// What the room refuses.
    pub async fn list(
        &self,
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> Result<Page, Refusal> {
        answered(self.name, (self.list)(cx, caller, cursor)).await
    }

    /// Those that a caller may mean who types an id. A panic is an answer, too.
    ///
    /// # Errors
    /// What the room refuses.
    pub async fn candidates(
        &self,
        cx: Arc<Context>,
        caller: Caller,
    ) -> Result<Vec<Entry>, Refusal> {
        answered(self.name, (self.candidates)(cx, caller)).await
    }

    /// The text of one. A panic is an answer, too.
    ///
    /// # Errors
    /// What the room refuses.
    pub async fn read(
        &self,
        cx: Arc<Context>,
        caller: Caller,
        id: String,
    ) -> Result<String, Refusal> {
        answered(self.name, (self.read)(cx, caller, id)).await
    }
}
