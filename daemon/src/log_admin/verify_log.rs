//! `verify_log`: verifies the published state, until its caller does not need the result any more.

use lore::protocol::Position;
use lore::protocol::log::{Finding, VerifyLogArgs, VerifyLogReply};

use super::verify::{Report, VerifyTarget, own_seal};
use crate::budget;
use crate::checkpoints;
use crate::engine::{DataFolder, PublishedState, Verification, WriteState};
use crate::error::{Code, Refusal};
use crate::log::{Hash, Header};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::store::seal::{Seal, Sealer};
use crate::store::{Bytes, Direction, Error, Keyspace, RowVisitor, Rows, StoreId};

/// `verify_log`.
pub struct VerifyLog;

impl Op for VerifyLog {
    type Args = VerifyLogArgs;
    type Reply = VerifyLogReply;
    const NAME: &'static str = "verify_log";
    const TITLE: &'static str = "Verify the log";
    const DESCRIPTION: &'static str = "Verifies the whole log: every link of the chain, every payload, blob and object against its \
        hash, and every view against a replay.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<VerifyLogArgs>) -> Result<VerifyLogReply, Refusal> {
        let Call { cx, args, .. } = call;
        let published = cx.read(args.at_least).await?;
        let durable = cx.engine.is_durable();
        blocking(move || {
            let since = match &args.since {
                Some(text) => Some(given_seal(&cx.folder, cx.engine.store_id(), text)?),
                None => None,
            };
            let range = (args.from, args.to);
            let mut report =
                verify_published(&cx, &published, range, since, &|| budget::check().is_err())?;
            let health = cx.engine.health();
            if range == (None, None) {
                health.note_verified(Verification {
                    position: published.tail.position,
                    at: cx.engine.clock().now(),
                    findings: report.findings.len() as u64,
                });
            }
            match report.findings.first() {
                Some(finding) => health.note_damage(Some(&described(finding))),
                None if range == (None, None) => cx.engine.clear_damage(),
                None => {}
            }
            if let WriteState::Damaged { reason } = health.get() {
                report.find(None, "missing", reason);
            }
            Ok(VerifyLogReply {
                events: report.events,
                ok: report.findings.is_empty(),
                findings: report.findings,
                forgotten: report.forgotten,
                sessions_forgotten: report.sessions_forgotten,
                events_forgotten: report.events_forgotten,
                position: published.tail.position,
                durable,
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// Describes a finding in a sentence.
pub fn described(finding: &Finding) -> String {
    let at = finding.position.map(|at| format!("position {at}: "));
    format!("{}{}", at.unwrap_or_default(), finding.message)
}

/// Verifies a range of a published state, until `is_stopped`.
///
/// # Errors
/// When the verification cannot go on, or was stopped.
pub fn verify_published(
    cx: &Context,
    published: &PublishedState,
    range: (Option<Position>, Option<Position>),
    since: Option<Seal>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Report, Refusal> {
    // The store keeps changing: data deleted meanwhile loses its objects and blobs, too.
    let is_there = |object: &Hash| match cx.engine.published() {
        Some(newest) => checkpoints::is_object_there(&newest.snapshot, object),
        None => Ok(true),
    };
    let is_forgotten = |header: &Header| match cx.engine.published() {
        Some(newest) => cx.fold.is_forgotten(&newest.snapshot, header),
        None => cx.fold.is_forgotten(&published.snapshot, header),
    };
    let rows = StoppableRows {
        rows: &published.snapshot,
        is_stopped,
    };
    let subject = VerifyTarget {
        rows: &rows,
        blobs: &cx.blobs,
        fold: &*cx.fold,
        tail: published.tail.position,
        head: None,
        since,
        is_there: &is_there,
        is_forgotten: &is_forgotten,
        scratch: &cx.folder.scratch(),
    };
    subject.verify(range, &mut |_| {})
}

const STOPPED: Error = Error::Stopped {
    work: "a verification",
};

/// Rows that are read until they are stopped, then with an error.
struct StoppableRows<'r> {
    rows: &'r dyn Rows,
    is_stopped: &'r dyn Fn() -> bool,
}

impl Rows for StoppableRows<'_> {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        match (self.is_stopped)() {
            true => Err(STOPPED),
            false => self.rows.get(space, key),
        }
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        self.rows.scan(
            space,
            low,
            high,
            direction,
            &mut |key, value| match (self.is_stopped)() {
                true => Err(STOPPED),
                false => visit(key, value),
            },
        )
    }

    fn sealer(&self) -> Option<&Sealer> {
        self.rows.sealer()
    }
}

/// Reads the seal that a caller gave.
fn given_seal(folder: &DataFolder, store: StoreId, text: &str) -> Result<Seal, Refusal> {
    let wrong = |why: String| Refusal::new(Code::InvalidInput, format!("`since`: {why}"));
    let seal: Seal = text.parse().map_err(|error| wrong(format!("{error}")))?;
    own_seal(folder, store, &seal).map_err(wrong)?;
    Ok(seal)
}
