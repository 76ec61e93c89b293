//! One line of the resource table: what can be read by its address.
//!
//! A [`Resource`] is a kind of things that a host may offer to its user: a template of addresses,
//! names for people, a list, and one thing's text. What can be read this way can be read by an
//! operation, too: not every host knows resources.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Refusal;
use crate::operation::{Caller, Context, answered};

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

    /// The text of one, by the varying part of its address; whatever was asked for comes in.
    fn read(
        cx: Arc<Context>,
        caller: Caller,
        id: String,
    ) -> impl Future<Output = Result<String, Refusal>> + Send;
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

type Listing = Pin<Box<dyn Future<Output = Result<Page, Refusal>> + Send>>;
type Reading = Pin<Box<dyn Future<Output = Result<String, Refusal>> + Send>>;

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
    list: fn(Arc<Context>, Caller, Option<String>) -> Listing,
    read: fn(Arc<Context>, Caller, String) -> Reading,
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
            read: |cx, caller, id| Box::pin(R::read(cx, caller, id)),
        }
    }

    /// What stands before the varying part of each address.
    #[must_use]
    pub fn prefix(&self) -> &'static str {
        self.template
            .split_once('{')
            .map_or(self.template, |(prefix, _)| prefix)
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
