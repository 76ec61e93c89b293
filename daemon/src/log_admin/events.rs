//! `read_events`: reads the raw log by page.

use lore::protocol::Position;
use lore::protocol::log::{ReadEventsArgs, ReadEventsReply};

use super::page::{Filter, Page};
use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions;

/// Maximum page size that is read without a separate thread, in events.
const QUICK_MAX: u64 = 20;

/// `read_events`.
pub struct ReadEvents;

impl Op for ReadEvents {
    type Args = ReadEventsArgs;
    type Reply = ReadEventsReply;
    const NAME: &'static str = "read_events";
    const TITLE: &'static str = "Read the log";
    const DESCRIPTION: &'static str = "Reads events of the log from a position on: what happened, when, by which agent, in which \
        session.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ReadEventsArgs>) -> Result<ReadEventsReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let published = cx.read(args.at_least).await?;
        let durable = cx.engine.is_durable();
        if is_quick(&args) {
            return page(&published, args, durable);
        }
        blocking(move || {
            args.project =
                sessions::named_project(&cx, &published.snapshot, &caller, args.project)?;
            page(&published, args, durable)
        })
        .await
    }
}

/// Whether a page is small and has no filters. It is read on the event loop, because a thread hop would cost more.
fn is_quick(args: &ReadEventsArgs) -> bool {
    args.limit.is_some_and(|limit| limit <= QUICK_MAX)
        && args.project.is_none()
        && args.agent.is_none()
        && args.kinds.is_empty()
        && args.session.is_none()
}

fn page(
    published: &PublishedState,
    args: ReadEventsArgs,
    durable: bool,
) -> Result<ReadEventsReply, Refusal> {
    let filter = Filter {
        session: args.session,
        project: args.project,
        agent: args.agent,
        kinds: args.kinds,
        ..Filter::default()
    };
    let from = args.from.unwrap_or(Position(1));
    let page = Page::read(published, from, args.limit, &filter)?;
    let position = published.tail.position;
    Ok(ReadEventsReply {
        events: page.events,
        next: (page.next <= position).then_some(page.next),
        position,
        durable,
        warnings: Vec::new(),
    })
}
