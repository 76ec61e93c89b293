//! `commit_cursor` and `list_cursors`: named positions of log readers.

use lore::protocol::Position;
use lore::protocol::log::{
    CommitCursorArgs, CommitCursorReply, ListCursorsArgs, ListCursorsReply, NamedCursor,
};

use super::cursors::{Change, Committer, Cursors, StoredCursor};
use super::follow::reachable;
use crate::clock::format_time;
use crate::error::Refusal;
use crate::hint::{Tool, hint};
use crate::operation::cursor::{Cursor, List};
use crate::operation::{Access, Call, MemoryBound, Op};

const LIMIT_DEFAULT: u64 = 50;
const LIMIT_MAX: u64 = 1000;

/// `commit_cursor`.
pub struct CommitCursor;

impl Op for CommitCursor {
    type Args = CommitCursorArgs;
    type Reply = CommitCursorReply;
    const NAME: &'static str = "commit_cursor";
    const TITLE: &'static str = "Commit a cursor";
    const DESCRIPTION: &'static str = "Stores the position of a log reader under a name, so that `follow_events` continues from \
        there, also after a restart. The cursor is on disk before the reply, and moves back only \
        with `reset`. It is not an event.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<CommitCursorArgs>) -> Result<CommitCursorReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let cursors = Cursors::of(&cx)?;
        let tail = cx.read(None).await?.tail.position;
        let (change, cursor) = match (args.position, args.remove) {
            (Some(position), None | Some(false)) => {
                let position = reachable("`position`", position.max(Position(1)), tail)?;
                let reset = args.reset == Some(true);
                (Change::Commit { position, reset }, Some(position))
            }
            (None, Some(true)) => (Change::Remove, None),
            (None, None | Some(false)) => {
                return Err(Refusal::invalid("`position` is missing").hint(hint![
                    "Give the end of the last reply of ",
                    Tool::FollowEvents,
                    ", or ask to remove the cursor."
                ]));
            }
            (Some(_), Some(true)) => {
                return Err(Refusal::invalid(
                    "`position` and `remove` exclude one another",
                ));
            }
        };
        let by = Committer {
            actor: &caller.actor,
            store: cx.engine.store_id(),
            now: cx.engine.clock().now(),
        };
        cursors.change(&by, args.name.as_str(), &change).await?;
        Ok(CommitCursorReply {
            name: args.name,
            cursor,
            position: tail,
            durable: !cx.engine.is_in_memory(),
            warnings: Vec::new(),
        })
    }
}

/// `list_cursors`.
pub struct ListCursors;

impl Op for ListCursors {
    type Args = ListCursorsArgs;
    type Reply = ListCursorsReply;
    const NAME: &'static str = "list_cursors";
    const TITLE: &'static str = "List cursors";
    const DESCRIPTION: &'static str = "Lists the caller's named cursors: position, number of events behind, and who committed it \
        last and when.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ListCursorsArgs>) -> Result<ListCursorsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let store = cx.engine.store_id();
        let tail = cx.read(None).await?.tail.position;
        let behind = match &args.next {
            None => None,
            Some(next) => {
                let cursor = Cursor::read(next, "next", List::Cursors, store, tail)?;
                Some(String::from_utf8_lossy(&cursor.key).into_owned())
            }
        };
        let limit = args.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX) as usize;
        let cursors = Cursors::of(&cx)?;
        let mut found = cursors.list(caller.actor.uid, behind.as_deref(), limit + 1);
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found
            .last()
            .filter(|_| has_more)
            .map(|(name, _)| Cursor::behind_row(name.as_bytes(), tail).text(List::Cursors, store));
        let reported = |(name, kept): (String, StoredCursor)| NamedCursor {
            name,
            cursor: kept.position,
            lag: (tail.0 + 1).saturating_sub(kept.position.0),
            committed_at: format_time(kept.at),
            foreign: kept.is_foreign(store),
            agent: kept.agent,
        };
        Ok(ListCursorsReply {
            cursors: found.into_iter().map(reported).collect(),
            next,
            position: tail,
            durable: !cx.engine.is_in_memory(),
            warnings: Vec::new(),
        })
    }
}
