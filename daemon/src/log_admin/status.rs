//! `status`: the state of the daemon.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lore::protocol::Position;
use lore::protocol::status::{
    self as wire, Embedding, Follower, Resolver, StatusArgs, StatusReply,
};

use super::{RetentionOutcome, prometheus};
use crate::clock::{Micros, format_time};
use crate::engine::{PublishedState, WriteState};
use crate::error::Refusal;
use crate::log::{LOG, forgotten};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::reloadable::{LastReload, Reloadable};
use crate::sandbox::Confinement;
use crate::store::ballast::taken_bytes;
use crate::store::seal::{Origin, SealedEnd};
use crate::store::{Keyspace, Store};
use crate::upstream::{Resolvers, State};
use crate::{capture, checkpoints, documents, entities, projects, search, sessions};

/// If the clock is at least this far behind the newest event, it was set back; in microseconds.
const SET_BACK_MIN: Micros = 60_000_000;

/// `status`.
pub struct Status;

impl Op for Status {
    type Args = StatusArgs;
    type Reply = StatusReply;
    const NAME: &'static str = "status";
    const TITLE: &'static str = "Daemon status";
    const DESCRIPTION: &'static str =
        "Reports the daemon's version, process, log position, counts, sizes and warnings.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<StatusArgs>) -> Result<StatusReply, Refusal> {
        let Call { cx, args, .. } = call;
        let (mut reply, published) = report(&cx).await?;
        if args.prometheus == Some(true) {
            let reported = reply.clone();
            let text = blocking(move || prometheus::text(&cx, &published, &reported)).await?;
            reply.prometheus = Some(text);
        }
        Ok(reply)
    }
}

/// Returns the status, with the state of the log that it is of.
///
/// # Errors
/// When the log cannot be read.
pub async fn report(cx: &Arc<Context>) -> Result<(StatusReply, Arc<PublishedState>), Refusal> {
    let shared = Arc::clone(cx);
    let mut sizes = blocking(move || Ok(sizes(&shared))).await?;
    let published = cx.read(None).await?;
    let counts = sessions::counts(&published.snapshot)?;
    let checkpoints = checkpoints::totals(&published.snapshot)?;
    let state = cx.engine.health().get();
    let mut warnings = match &state {
        WriteState::Open | WriteState::Damaged { .. } => Vec::new(),
        WriteState::Full { reason } | WriteState::Failed { reason } => {
            vec![format!("writes are refused: {reason}")]
        }
    };
    warnings.extend(cx.engine.is_in_memory().then(|| in_memory(cx)));
    warnings.extend(cx.engine.warning());
    let room = checkpoints::Checkpoints::of(cx)?;
    let limits = room.limits.get();
    warnings.extend(limits.warnings(None, checkpoints.bytes));
    if let Some(read) = cx.extensions.get::<Reloadable<LastReload>>() {
        warnings.extend(read.get().warnings());
    }
    warnings.extend(set_back(cx.engine.clock().now(), published.tail.time));
    warnings.extend(entities::Entities::of(cx)?.fault());
    warnings.extend(projects::ProjectState::of(cx)?.faults());
    warnings.extend(documents::Documents::of(cx)?.faults());
    warnings.extend(search::SearchIndexes::of(cx)?.faults());
    let now = cx.engine.clock().now();
    warnings.extend(
        capture::pauses(&published.snapshot, now)?
            .iter()
            .map(paused),
    );
    if let Some(retained) = cx.extensions.get::<RetentionOutcome>() {
        let left_out = retained.status().left_out.into_iter();
        warnings.extend(left_out.map(|why| format!("a rule of retention is not obeyed: {why}")));
    }
    warnings.extend(
        sessions::unerased(&published.snapshot)?
            .iter()
            .map(|session| {
                format!("what the forgotten session `{session}` held is still being erased")
            }),
    );
    warnings.extend(
        forgotten::unerased(&published.snapshot)?
            .iter()
            .map(|(position, _)| {
                format!("what was forgotten at position {position} is still being erased")
            }),
    );
    sizes.insert("checkpoint_bytes".to_owned(), checkpoints.bytes);
    let uptime_us = cx.engine.clock().now().saturating_sub(cx.started);
    let reply = StatusReply {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        store: cx.engine.store_id().to_string(),
        position: published.tail.position,
        durable: cx.engine.is_durable(),
        writable: state == WriteState::Open,
        uptime: uptime_us / 1_000_000,
        origin: cx.engine.sealed().and_then(origin),
        verified: cx.engine.health().verified().map(|seen| wire::Verified {
            position: seen.position,
            time: format_time(seen.at),
            findings: seen.findings,
        }),
        clients: cx.clients.load(Ordering::Relaxed),
        socket: cx.socket.display().to_string(),
        data: cx.folder.data.display().to_string(),
        counts: BTreeMap::from([
            ("events".to_owned(), published.tail.position.0),
            ("sessions".to_owned(), counts.sessions),
            ("steps".to_owned(), counts.steps),
            ("checkpoints".to_owned(), checkpoints.count),
        ]),
        sizes,
        resolvers: resolvers(cx),
        confinement: sandbox(cx),
        redactions: cx.redactor.counts(),
        prometheus: None,
        followers: followers(cx, published.tail.position)?,
        embedding: search::SearchIndexes::of(cx)?.embedding().map(
            |(embedded, missing, seconds_left)| Embedding {
                embedded,
                missing,
                seconds_left,
            },
        ),
        limits: BTreeMap::from([("checkpoint_bytes".to_owned(), limits.total_bytes_max)]),
        retention: retention(cx),
        warnings,
    };
    Ok((reply, published))
}

/// Warns of a data folder from which everything is lost at the next restart of the machine, or with the sandbox.
fn in_memory(cx: &Context) -> String {
    format!(
        "nothing is durable: the data folder {} is in memory (tmpfs), and lost with the machine's next restart or with the sandbox; \
         set LORE_HOME to a folder on a disk",
        cx.folder.data.display()
    )
}

/// Describes how a log came to be what it is; `None` when it began here.
#[must_use]
pub fn origin(end: SealedEnd) -> Option<String> {
    let how = match end.origin {
        Origin::Created => return None,
        Origin::Adopted => "sealed from there on; before it, written by a release without seals",
        Origin::Restored => "restored from a backup",
        Origin::Accepted => "accepted by a person as it was",
    };
    let (at, time) = (end.origin_position, format_time(end.origin_time));
    Some(format!("up to position {at}, on {time}: {how}"))
}

/// Whether the clock was set back to before the newest event.
#[must_use]
pub fn set_back(now: Micros, last: Micros) -> Option<String> {
    let ahead = last.saturating_sub(now);
    (ahead > SET_BACK_MIN).then(|| {
        format!(
            "the newest event is {} s ahead of the machine's clock; until it has caught up, events get the time of the \
             newest one",
            ahead / 1_000_000
        )
    })
}

/// Returns the retention status, if any rule is or was set.
fn retention(cx: &Context) -> Option<wire::Retention> {
    let seen = cx.extensions.get::<RetentionOutcome>()?.status();
    (seen.next.is_some() || seen.last.is_some()).then(|| wire::Retention {
        next: seen.next.map(format_time),
        last: seen.last.map(format_time),
        events: seen.events,
        bytes: seen.bytes,
    })
}

/// Returns the sandbox's restrictions; `None` for a process inside another one.
fn sandbox(cx: &Context) -> Option<wire::Confinement> {
    let given_up = cx.extensions.get::<Confinement>()?;
    Some(wire::Confinement {
        landlock: given_up.landlock.to_string(),
        no_new_privs: given_up.no_new_privs,
        core_dumps: given_up.core_dumps,
    })
}

fn resolvers(cx: &Context) -> Vec<Resolver> {
    let Some(resolvers) = cx.extensions.get::<Resolvers>() else {
        return Vec::new();
    };
    let reported = resolvers.status().into_iter().map(|one| Resolver {
        name: one.name,
        state: match one.state {
            State::Idle => "idle",
            State::Running => "running",
            State::Broken { .. } => "broken",
        }
        .to_owned(),
        calls: one.calls,
        failures: one.failures,
        cached: one.cached,
    });
    reported.collect()
}

fn followers(cx: &Context, tail: Position) -> Result<Vec<Follower>, Refusal> {
    let entities = (
        entities::follow::NAME,
        entities::Entities::of(cx)?.progress.position(),
    );
    let files = (
        projects::files::NAME,
        projects::ProjectState::of(cx)?.sync_status.position(),
    );
    let search = (
        search::follow::NAME,
        search::SearchIndexes::of(cx)?.position(),
    );
    // Without file writes, nothing is watched.
    let files = Some(files).filter(|_| cx.reaches_files);
    let followers = [Some(entities), files, Some(search)].into_iter().flatten();
    let reported = followers.map(|(name, position)| Follower {
        name: name.to_owned(),
        position,
        lag: tail.0.saturating_sub(position.0),
    });
    Ok(reported.collect())
}

fn sizes(cx: &Context) -> BTreeMap<String, u64> {
    let (log, views): (Vec<_>, Vec<_>) = cx
        .engine
        .table_bytes()
        .into_iter()
        .partition(|(space, _)| *space == LOG);
    let sum = |tables: Vec<(Keyspace, u64)>| tables.into_iter().map(|(_, bytes)| bytes).sum();
    let store = cx.folder.store();
    let mut sizes: BTreeMap<String, u64> = BTreeMap::from([
        ("store_bytes".to_owned(), taken_bytes(&store)),
        // Parts of the store: tables, and what was written since.
        ("log_bytes".to_owned(), sum(log)),
        ("view_bytes".to_owned(), sum(views)),
        (
            "journal_bytes".to_owned(),
            Store::journal_bytes(&store).unwrap_or_default(),
        ),
        ("index_bytes".to_owned(), taken_bytes(&cx.folder.index())),
        ("blob_bytes".to_owned(), taken_bytes(&cx.folder.blobs())),
        ("cache_bytes".to_owned(), cx.cache.bytes() as u64),
    ]);
    if let Some(bytes) = resident_bytes() {
        sizes.insert("resident_bytes".to_owned(), bytes);
    }
    sizes
}

/// Returns the process's resident memory, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Says that hooks record nothing.
fn paused(pause: &capture::CapturePause) -> String {
    let place = pause.project.as_ref();
    let place = place.map(|project| format!(" in the project `{project}`"));
    let until =
        (pause.until != Micros::MAX).then(|| format!(" until {}", format_time(pause.until)));
    format!(
        "hooks record and add nothing{}{}: `lore resume-capture` ends it",
        place.unwrap_or_default(),
        until.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ordinary clock corrections are seconds; a larger set-back is reported, with its consequences.
    #[test]
    fn a_clock_that_was_set_back_is_told() {
        assert_eq!(set_back(1_000, 0), None);
        assert_eq!(set_back(0, SET_BACK_MIN), None);
        let reported = set_back(0, SET_BACK_MIN + 1_000_000).unwrap_or_default();
        assert!(reported.contains("61 s ahead"), "{reported}");
    }
}
