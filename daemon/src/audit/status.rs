//! `status`: how the daemon is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lore::protocol::Position;
use lore::protocol::status::{Follower, Resolver, StatusArgs, StatusReply};

use super::prometheus;
use crate::engine::WriteState;
use crate::error::Refusal;
use crate::operation::{Access, Caller, Context, Op, blocking};
use crate::store::reserve::taken_bytes;
use crate::upstream::{Resolvers, State};
use crate::{checkpoints, documents, entities, projects, search, sessions};

/// `status`.
pub struct Status;

impl Op for Status {
    type Args = StatusArgs;
    type Reply = StatusReply;
    const NAME: &'static str = "status";
    const TITLE: &'static str = "Daemon status";
    const SENTENCE: &'static str = "Tells the daemon's version, process, log position, counts, \
        sizes and anything that needs attention.";
    const ACCESS: Access = Access::Read;

    async fn call(
        cx: Arc<Context>,
        _caller: Caller,
        args: StatusArgs,
    ) -> Result<StatusReply, Refusal> {
        let shared = Arc::clone(&cx);
        let mut sizes = blocking(move || Ok(sizes(&shared))).await?;
        let published = cx.read(None).await?;
        let counts = sessions::counts(&published.snapshot)?;
        let checkpoints = checkpoints::totals(&published.snapshot)?;
        let state = cx.engine.health().get();
        let mut warnings = match &state {
            WriteState::Open => Vec::new(),
            WriteState::Full { reason } | WriteState::Failed { reason } => {
                vec![format!("writes are refused: {reason}")]
            }
            WriteState::Damaged { reason } => vec![format!(
                "writes are refused: {reason}. Stop the daemon and run `lored repair`."
            )],
        };
        let room = checkpoints::Room::of(&cx)?;
        warnings.extend(room.limits.warnings(None, checkpoints.bytes));
        warnings.extend(entities::Room::of(&cx)?.fault());
        warnings.extend(projects::Room::of(&cx)?.faults());
        warnings.extend(documents::Room::of(&cx)?.faults());
        warnings.extend(search::Room::of(&cx)?.faults());
        warnings.extend(
            sessions::unerased(&published.snapshot)?
                .iter()
                .map(|session| {
                    format!("what the forgotten session `{session}` held is still being erased")
                }),
        );
        sizes.insert("checkpoint_bytes".to_owned(), checkpoints.bytes);
        let uptime_us = cx.engine.clock().now().saturating_sub(cx.started);
        let mut reply = StatusReply {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            store: cx.engine.store_id().to_string(),
            position: published.tail.position,
            durable: cx.engine.is_durable(),
            writable: state == WriteState::Open,
            uptime: uptime_us / 1_000_000,
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
            resolvers: resolvers(&cx),
            prometheus: None,
            followers: followers(&cx, published.tail.position)?,
            limits: BTreeMap::from([("checkpoint_bytes".to_owned(), room.limits.total_bytes_max)]),
            warnings,
        };
        if args.prometheus == Some(true) {
            let told = reply.clone();
            let text = blocking(move || prometheus::text(&cx, &published, &told)).await?;
            reply.prometheus = Some(text);
        }
        Ok(reply)
    }
}

fn resolvers(cx: &Context) -> Vec<Resolver> {
    let Some(resolvers) = cx.extensions.get::<Resolvers>() else {
        return Vec::new();
    };
    let told = resolvers.status().into_iter().map(|one| Resolver {
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
    told.collect()
}

fn followers(cx: &Context, tail: Position) -> Result<Vec<Follower>, Refusal> {
    let followers = [
        (
            entities::follow::NAME,
            entities::Room::of(cx)?.progress.position(),
        ),
        (
            projects::files::NAME,
            projects::Room::of(cx)?.desk.position(),
        ),
        (search::follow::NAME, search::Room::of(cx)?.position()),
    ];
    let told = followers.into_iter().map(|(name, position)| Follower {
        name: name.to_owned(),
        position,
        lag: tail.0.saturating_sub(position.0),
    });
    Ok(told.collect())
}

fn sizes(cx: &Context) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::from([
        ("store_bytes".to_owned(), taken_bytes(&cx.folder.store())),
        ("blob_bytes".to_owned(), taken_bytes(&cx.folder.blobs())),
        ("cache_bytes".to_owned(), cx.cache.bytes() as u64),
    ]);
    if let Some(bytes) = resident_bytes() {
        sizes.insert("resident_bytes".to_owned(), bytes);
    }
    sizes
}

/// The process's resident memory, where the system tells it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
