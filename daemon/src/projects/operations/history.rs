//! `context_history` and `diff_context`.

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::projects::{
    ContextHistoryArgs, ContextHistoryReply, ContextVersion, DiffContextArgs, DiffContextReply,
};

use super::{ResolvedProject, change, check_file_type, content_of, types_known};
use crate::budget;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::projects::imported;
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::projects::changes::changed_sections;
use crate::projects::compare::unified;
use crate::projects::view::{self, FileRow};
use crate::rows::until;
use crate::state::State;

const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Unchanged lines around each change.
const AROUND: usize = 3;
/// Time limit for comparing two versions; the rest is reported as replaced.
const COMPARED_MAX: Duration = Duration::from_secs(2);

/// `context_history`.
pub struct ContextHistory;

impl Op for ContextHistory {
    type Args = ContextHistoryArgs;
    type Reply = ContextHistoryReply;
    const NAME: &'static str = "context_history";
    const TITLE: &'static str = "History of a context file";
    const DESCRIPTION: &'static str = "Lists the versions of a context file, the newest first: author, time, kind of change, and \
        changed sections.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ContextHistoryArgs>) -> Result<ContextHistoryReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = Arc::new(State::live(&cx, args.at_least).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        blocking(move || page(&cx, &state, found, args, limit)).await
    }
}

fn page(
    cx: &Context,
    state: &State,
    found: ResolvedProject,
    args: ContextHistoryArgs,
    limit: usize,
) -> Result<ContextHistoryReply, Refusal> {
    check_file_type(&args.file_type, &types_known(cx, state, &found)?)?;
    let store = cx.engine.store_id();
    let below = match args.next.as_deref() {
        None => u64::MAX,
        Some(next) => {
            let cursor = Cursor::read(next, "next", List::Versions, store, state.position())?;
            let bytes: Option<[u8; 8]> = cursor.key.as_slice().try_into().ok();
            bytes.map_or(0, u64::from_be_bytes)
        }
    };
    // One more than the page: to compare the last version, and to know if there are more.
    let mut rows: Vec<FileRow> = Vec::new();
    view::versions(state, &found.project, &args.file_type, below, &mut |row| {
        rows.push(row);
        Ok(until(rows.len() > limit))
    })?;
    let next = (rows.len() > limit).then(|| {
        let last = rows.get(limit - 1).map_or(0, |row| row.written.version);
        Cursor::behind_row(&last.to_be_bytes(), state.position()).text(List::Versions, store)
    });
    let versions = versions(cx, state, &rows, limit)?;
    Ok(ContextHistoryReply {
        project: found.project,
        file_type: args.file_type,
        versions,
        next,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings: Vec::new(),
    })
}

/// Describes `limit` versions, each compared with the next row, which is the older version.
fn versions(
    cx: &Context,
    state: &State,
    rows: &[FileRow],
    limit: usize,
) -> Result<Vec<ContextVersion>, Refusal> {
    let read = |row: &FileRow| -> Result<(String, Option<String>), Refusal> {
        let (record, position) = row.place();
        let (content, reason) = imported(&state.log().event(record, position)?)?;
        let content = content.map(|content| budget::passing(|| content.read(&cx.blobs)));
        let text = content.transpose()?;
        Ok((text.unwrap_or_default(), reason))
    };
    let mut versions = Vec::new();
    // At most two contents are in memory at once.
    let mut earlier = rows.first().map(read).transpose()?;
    for (at, row) in rows.iter().take(limit).enumerate() {
        let Some((content, reason)) = earlier.take() else {
            break;
        };
        earlier = rows.get(at + 1).map(read).transpose()?;
        let before = earlier.as_ref().map_or("", |(content, _)| content);
        versions.push(version(row, reason, changed_sections(before, &content)));
    }
    Ok(versions)
}

fn version(row: &FileRow, reason: Option<String>, changed: Vec<String>) -> ContextVersion {
    let written = &row.written;
    ContextVersion {
        version: written.version,
        position: row.position.into(),
        at: format_time(row.at),
        agent: row.agent.clone(),
        change: change(written.change),
        bytes: written.bytes,
        errors: u64::from(written.errors),
        warnings: u64::from(written.warnings),
        base: written.base,
        beside: written.beside,
        conflicts: written.conflicts.clone(),
        reason,
        changed_sections: changed,
    }
}

/// `diff_context`.
pub struct DiffContext;

impl Op for DiffContext {
    type Args = DiffContextArgs;
    type Reply = DiffContextReply;
    const NAME: &'static str = "diff_context";
    const TITLE: &'static str = "Compare versions of a context file";
    const DESCRIPTION: &'static str = "Compares two versions of a context file: the changed sections, and the lines as a unified \
        diff.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<DiffContextArgs>) -> Result<DiffContextReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = Arc::new(State::live(&cx, args.at_least).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        blocking(move || difference(&cx, &state, found, args)).await
    }
}

fn difference(
    cx: &Context,
    state: &State,
    found: ResolvedProject,
    args: DiffContextArgs,
) -> Result<DiffContextReply, Refusal> {
    check_file_type(&args.file_type, &types_known(cx, state, &found)?)?;
    let newest = view::file(state, &found.project, &args.file_type)?;
    let newest = newest.map_or(0, |row| row.written.version);
    let to = args.to.unwrap_or(newest);
    let from = args.from.unwrap_or_else(|| to.saturating_sub(1));
    let read = |name: &str, number: u64| -> Result<String, Refusal> {
        if number == 0 {
            return Ok(String::new());
        }
        match view::version(state, &found.project, &args.file_type, number)? {
            Some(row) => content_of(cx, state, row.place()),
            None => Err(no_version(name, number, newest)),
        }
    };
    // The default of `from` is derived from `to`, so an error in the caller's `to` is reported first.
    let new = read("to", to)?;
    let old = read("from", from)?;
    let labels = [from, to].map(|version| format!("{} version {version}", args.file_type));
    let labels = [labels[0].as_str(), labels[1].as_str()];
    let difference = unified(&old, &new, labels, AROUND, COMPARED_MAX);
    Ok(DiffContextReply {
        project: found.project,
        file_type: args.file_type,
        from,
        to,
        changed_sections: changed_sections(&old, &new),
        added: difference.added as u64,
        removed: difference.removed as u64,
        diff: difference.text,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings: Vec::new(),
    })
}

/// The refusal for a missing version.
pub(super) fn no_version(name: &str, number: u64, newest: u64) -> Refusal {
    let refusal = Refusal::new(
        Code::NotFound,
        format!("`{name}` is {number}, and the newest version is {newest}"),
    );
    match newest {
        0 => refusal.hint("Nothing was ever written."),
        newest => refusal.hint(format!("There are versions 1 to {newest}.")),
    }
}
