//! The `list_messages` operation.

use std::ops::ControlFlow;

use lore::protocol::messages::{ListMessagesArgs, ListMessagesReply, Message, Order};

use crate::error::{Code, Refusal};
use crate::events::messages::{Kind, Sender};
use crate::hint::{Tool, hint};
use crate::log::Position;
use crate::messages;
use crate::messages::read;
use crate::messages::view::{self, MessageRow};
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, MemoryBound, Moment, Op, blocking};
use crate::read_context::{Read, ReadContext};
use crate::sessions::Line;
use crate::store::Error;

use super::message;

const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Maximum content length in a list, in bytes; longer content is truncated.
const SHOWN_BYTES_MAX: usize = 8 * 1024;
/// Size after which a page ends, in bytes; keeps the reply readable for a model.
const PAGE_BYTES: usize = 64 * 1024;

/// The `list_messages` operation.
pub struct ListMessages;

impl Op for ListMessages {
    type Args = ListMessagesArgs;
    type Reply = ListMessagesReply;
    const NAME: &'static str = "list_messages";
    const TITLE: &'static str = "List messages";
    const DESCRIPTION: &'static str = "Lists the messages of a session, page by page, by type and sender, since a position or time; \
        or returns one message whole.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListMessagesArgs>) -> Result<ListMessagesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let since = args.since.as_ref().map(Moment::of).transpose()?;
        let read = ReadContext::of(&args)
            .wanting(messages::content())
            .open(cx, caller)
            .await?;
        blocking(move || {
            let lines = read.lines()?;
            match &args.message {
                Some(id) => one(&read, &lines, id),
                None => page(&read, &lines, &args, since, limit),
            }
        })
        .await
    }
}

fn reply(
    read: &Read,
    messages: Vec<Message>,
    next: Option<String>,
) -> Result<ListMessagesReply, Refusal> {
    Ok(ListMessagesReply {
        session: read.session_id()?,
        messages,
        next,
        position: read.state.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: Vec::new(),
    })
}

fn one(read: &Read, lines: &[Line], id: &str) -> Result<ListMessagesReply, Refusal> {
    let Some((position, _)) = view::by_id(&read.state, lines, id)? else {
        return Err(Refusal::new(
            Code::NotFound,
            format!("the session `{}` has no message `{id}`", read.session),
        )
        .hint(hint![Tool::ListMessages, " shows those that it has."]));
    };
    let mut found = None;
    view::oldest(&read.state, lines, position, &mut |row| {
        found = Some(row).filter(|row| row.position == position);
        Ok(ControlFlow::Break(()))
    })?;
    let messages = found
        .map(|row| message(read::read(&read.state.log(), &row)?, &read.cx.blobs, None))
        .transpose()?;
    reply(read, messages.into_iter().collect(), None)
}

fn page(
    read: &Read,
    lines: &[Line],
    args: &ListMessagesArgs,
    since: Option<Moment>,
    limit: usize,
) -> Result<ListMessagesReply, Refusal> {
    let cursor = args
        .next
        .as_deref()
        .map(|next| {
            let (store, tail) = (read.cx.engine.store_id(), read.state.position());
            Cursor::read(next, "next", List::Messages, store, tail)
        })
        .transpose()?
        .map(|cursor| cursor.position);
    let after = match since {
        Some(Moment::Position(position)) => Position(position.0.saturating_add(1)),
        Some(Moment::Time(_)) | None => Position(0),
    };
    let mut page = Page {
        read,
        sender: args.sender.map(Into::into),
        kind: args.kind.map(Into::into),
        since,
        limit,
        bytes: 0,
        messages: Vec::new(),
        next: None,
    };
    match args.order.unwrap_or(Order::Oldest) {
        Order::Oldest => {
            let behind = cursor.map_or(0, |at| at.0.saturating_add(1));
            let from = Position(behind).max(after);
            view::oldest(&read.state, lines, from, &mut |row| page.take(&row))?;
        }
        Order::Newest => {
            view::newest(&read.state, lines, cursor, &mut |row| {
                if row.position < after {
                    return Ok(ControlFlow::Break(()));
                }
                page.take(&row)
            })?;
        }
    }
    let next = page
        .next
        .map(|at| Cursor::behind(at).text(List::Messages, read.cx.engine.store_id()));
    reply(read, page.messages, next)
}

struct Page<'p> {
    read: &'p Read,
    sender: Option<Sender>,
    kind: Option<Kind>,
    since: Option<Moment>,
    limit: usize,
    bytes: usize,
    messages: Vec<Message>,
    next: Option<Position>,
}

impl Page<'_> {
    fn take(&mut self, row: &MessageRow) -> Result<ControlFlow<()>, Error> {
        let is_wanted = self.sender.is_none_or(|sender| sender == row.sender)
            && self.kind.is_none_or(|kind| kind == row.kind);
        if !is_wanted {
            return Ok(ControlFlow::Continue(()));
        }
        if self.messages.len() == self.limit || self.bytes > PAGE_BYTES {
            self.next = self.messages.last().map(|last| last.position);
            return Ok(ControlFlow::Break(()));
        }
        let reported = read(&self.read.state.log(), row)?;
        if matches!(self.since, Some(Moment::Time(time)) if reported.header.time < time) {
            return Ok(ControlFlow::Continue(()));
        }
        let message = message(reported, &self.read.cx.blobs, Some(SHOWN_BYTES_MAX))?;
        let results = message.tools.iter().filter_map(|tool| tool.result.as_ref());
        let of_tools: usize = results.map(|result| result.as_str().len()).sum();
        self.bytes += message.content.len() + of_tools;
        self.messages.push(message);
        Ok(ControlFlow::Continue(()))
    }
}
