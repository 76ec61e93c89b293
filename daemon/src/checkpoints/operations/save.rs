//! `workflow_checkpoint_save`.

use std::sync::{Arc, OnceLock};

use lore::protocol::checkpoints::{SaveArgs, SaveReply, SaveStatus};
use lore::protocol::{CheckpointId, Meta, Position, RawObject, SessionId};
use lored_redact::Rules;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::views;
use super::{
    StoredCheckpoint, checkpoint_id, clear_up, limit_warnings, meta_of_read, meta_of_write,
};
use crate::cache::Key;
use crate::checkpoints::command::{Report, SaveCheckpoint, SaveSkipped};
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::limits::Limits;
use crate::checkpoints::metadata::Metadata;
use crate::checkpoints::prepare::ObjectPacker;
use crate::checkpoints::reread::{self, KNOWN_BYTES_MIN, Reread};
use crate::checkpoints::saved_context::{Received, SavedContext};
use crate::checkpoints::values::Values;
use crate::checkpoints::view::{self, CheckpointRow};
use crate::checkpoints::{clean_up, key_difference, protected};
use crate::engine::{KeyClaim, Outcome};
use crate::error::{Code, Refusal};
use crate::events::checkpoints::{CheckpointKey, CheckpointSaved};
use crate::log::{Body, codec};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, Rereads, blocking};
use crate::sessions::operations::session_id;
use crate::sessions::{self, PreparedSession, SessionSelector};
use crate::state::State;

/// Contexts longer than this are packed off the event loop, in bytes.
const PACK_INLINE_BYTES_MAX: usize = 16 * 1024;
/// The same for contexts that were read with the help of the one before.
const REREAD_INLINE_BYTES_MAX: usize = 1024 * 1024;
/// Longer contexts are read, and compared with the latest one, off the event loop, in bytes: shorter ones take no longer
/// than their reception.
const READ_INLINE_BYTES_MAX: usize = 256 * 1024;
/// After this many attempts a save is prepared so that no other write can make it stale.
const ATTEMPTS_MAX: u32 = 4;

pub struct Save;

impl Op for Save {
    type Args = SaveArgs;
    type Reply = SaveReply;
    const NAME: &'static str = "workflow_checkpoint_save";
    const TITLE: &'static str = "Save a checkpoint";
    const DESCRIPTION: &'static str = "Saves the current workflow state and context as a checkpoint and returns its id for later \
        resumption. Atomic; skipped if the context equals the session's latest checkpoint. Cheap: \
        only changes are stored.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const REREADS: Option<Rereads> = Some(reread::read);

    async fn call(mut call: Call<SaveArgs>) -> Result<SaveReply, Refusal> {
        let (known, clean_under) = (call.known.take(), call.clean_under.take());
        let (cx, caller, args) = call.into_parts();
        let place = reread::place(&caller, args.session_id.as_ref().map(SessionId::as_str));
        let context = match known.and_then(|known| known.downcast::<Reread>().ok()) {
            Some(reread) => SavedContext::reread(*reread, place),
            None => read_whole(args.context, clean_under, place).await?,
        };
        let context = Arc::new(context);
        if context.is_changed() {
            context.hash_beside();
        }
        let bytes = context.canonical.text.len();
        let metadata = Metadata::of(args.metadata)?;
        views::check_rules(&metadata)?;
        let expected = args.expected_checkpoint_id.as_ref().map(expected_key);
        let said = SaveIdentity {
            session: args.session_id.as_ref().map(|session| session.as_str()),
            context: HashOf(&context),
            metadata: &metadata.map,
            force: args.force == Some(true),
            expected: args
                .expected_checkpoint_id
                .as_ref()
                .map(CheckpointId::as_str),
            fence: args.fence,
        };
        let claim = caller.claim(Self::NAME, &said, args.key.as_deref())?;
        let save = PendingSave {
            selector: SessionSelector::of(&caller, args.session_id.as_ref()).fenced(args.fence),
            context,
            metadata,
            is_forced: args.force == Some(true),
            expected: expected.transpose()?,
            bytes,
        };
        save.run(cx, caller, claim).await
    }
}

/// Reads a context without the help of an earlier one. The next one is compared with it, unless something was redacted.
async fn read_whole(
    context: RawObject,
    clean_under: Option<Arc<Rules>>,
    place: Key,
) -> Result<SavedContext, Refusal> {
    let text = context.into_string();
    let text_bytes = text.len();
    let read = move || {
        let context = SavedContext::of(&text)?;
        if text.len() < KNOWN_BYTES_MIN {
            return Ok(context);
        }
        Ok(match clean_under {
            Some(rules) => context.received(Received {
                place,
                rules,
                values_max: reread::values_max(&text),
                raw: Arc::new(text.into_bytes()),
                units: OnceLock::new(),
            }),
            None => context,
        })
    };
    off_loop(text_bytes > READ_INLINE_BYTES_MAX, read).await
}

/// The arguments that an idempotency key of a save covers. The context is its hash, so that the order of keys does not
/// matter.
#[derive(Serialize)]
struct SaveIdentity<'s> {
    session: Option<&'s str>,
    context: HashOf<'s>,
    metadata: &'s serde_json::Map<String, serde_json::Value>,
    force: bool,
    expected: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fence: Option<Position>,
}

/// Serializes the hash of a context; calls without an idempotency key do not compute it.
struct HashOf<'c>(&'c SavedContext);

impl Serialize for HashOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.hash())
    }
}

fn expected_key(checkpoint: &CheckpointId) -> Result<CheckpointKey, Refusal> {
    CheckpointKey::parse(checkpoint.as_str())
        .ok_or_else(|| crate::checkpoints::command::not_found(checkpoint.as_str()))
}

/// A save in progress.
struct PendingSave {
    /// The session: the named one, else the caller's own, which is made if it has none.
    selector: SessionSelector,
    context: Arc<SavedContext>,
    metadata: Metadata,
    is_forced: bool,
    expected: Option<CheckpointKey>,
    /// Length of the received context, in bytes.
    bytes: usize,
}

impl PendingSave {
    async fn run(
        self,
        cx: Arc<Context>,
        caller: Caller,
        claim: Option<KeyClaim>,
    ) -> Result<SaveReply, Refusal> {
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&cx, &outcome).await;
        }
        let saving = Arc::new(self);
        let mut attempt = 0;
        let mut has_made_room = false;
        loop {
            attempt += 1;
            let state = State::live(&cx, None).await?;
            let state = Arc::new(state);
            let session = saving.session(&cx, &caller, &state)?;
            if let Some((session, row)) = saving.unchanged(&cx, &state, session.as_ref()).await? {
                return saving.skipped(&cx, &session, &row).await;
            }
            let of = session.clone();
            let command = match saving.prepare(&cx, &caller, of, state, attempt).await {
                Ok(command) => command,
                Err(refusal) => {
                    let of = session.as_deref();
                    saving.refused(&cx, of, refusal, &mut has_made_room).await?;
                    continue;
                }
            };
            let report = command.report.clone();
            let bytes = command.bytes();
            let outcome = cx.write(&caller, claim.clone(), bytes, command).await;
            let instead = report.result().instead.take();
            match (outcome, instead) {
                (Ok(outcome), _) => {
                    clear_up(&cx, &report);
                    return reply(&cx, &outcome).await;
                }
                (Err(_), Some(SaveSkipped::Unchanged(row))) if session.is_some() => {
                    let session = session.unwrap_or_default();
                    return saving.skipped(&cx, &session, &row).await;
                }
                // Another call of the same caller made its session and saved the same there.
                (Err(_), Some(SaveSkipped::Unchanged(_))) => {}
                (Err(_), Some(SaveSkipped::Stale)) if attempt <= ATTEMPTS_MAX => {}
                (Err(refusal), _) => {
                    let of = session.as_deref();
                    saving.refused(&cx, of, refusal, &mut has_made_room).await?;
                }
            }
        }
    }

    /// Returns the session to save in, if it exists already. A named one must exist.
    fn session(
        &self,
        cx: &Context,
        caller: &Caller,
        state: &State,
    ) -> Result<Option<String>, Refusal> {
        let now = cx.engine.clock().now();
        match self.selector.find_own(state, &caller.actor, now) {
            Ok(session) => Ok(Some(session)),
            Err(refusal) if self.selector.session.is_some() => Err(refusal),
            // The writer decides, and makes a session if it may.
            Err(_) => Ok(None),
        }
    }

    /// Handles a refusal: if space is missing, a clean-up makes room once, and the save goes on.
    async fn refused(
        &self,
        cx: &Arc<Context>,
        session: Option<&str>,
        refusal: Refusal,
        has_made_room: &mut bool,
    ) -> Result<(), Refusal> {
        if !std::mem::replace(has_made_room, true)
            && let Some(asked) = Limits::asked_of_all(&refusal)
            && clean_up::run(cx, asked).await? > 0
        {
            return Ok(());
        }
        Err(self.explain(cx, session, refusal).await)
    }

    /// Returns the session's latest checkpoint if it has the same context and replaces the save. The checks of a save
    /// apply, so that a caller that lost its lease is refused at once.
    async fn unchanged(
        self: &Arc<Self>,
        cx: &Arc<Context>,
        state: &Arc<State>,
        session: Option<&String>,
    ) -> Result<Option<(String, CheckpointRow)>, Refusal> {
        let Some(session) = session.cloned().filter(|_| !self.is_forced) else {
            return Ok(None);
        };
        let Some(row) = view::newest(&**state, &session, None)? else {
            return Ok(None);
        };
        if self
            .expected
            .is_some_and(|expected| expected != row.checkpoint)
        {
            return Ok(None);
        }
        sessions::open(&**state, &session)?;
        // The log's time if the clock is behind it.
        let now = cx.engine.clock().now();
        let now = now.max(state.published().tail.time);
        sessions::fenced(&**state, now, &session, self.selector.fence)?;
        let (saving, cx, state) = (Arc::clone(self), Arc::clone(cx), Arc::clone(state));
        let compare = move || {
            let values = Values::of(&cx, &*state);
            if !saving.context.is(&row.hash, &values) {
                return Ok(None);
            }
            // A save replaces an unreadable checkpoint.
            let found = StoredCheckpoint::at(&state.log(), session.clone(), row.clone())?;
            let is_good = values.context(&found.manifest).is_ok();
            // Unchanged saves often repeat: after a start or a rest, only the first one is read whole.
            if is_good && !saving.context.is_reread() {
                saving.context.keep(&values, &[]);
            }
            Ok(is_good.then_some((session, row)))
        };
        off_loop(self.bytes > READ_INLINE_BYTES_MAX, compare).await
    }

    async fn prepare(
        self: &Arc<Self>,
        cx: &Arc<Context>,
        caller: &Caller,
        session: Option<String>,
        state: Arc<State>,
        attempt: u32,
    ) -> Result<SaveCheckpoint, Refusal> {
        let choice = PreparedSession::prepare(self.selector.clone(), cx.engine.clock());
        let has_protected = !Checkpoints::of(cx)?.limits.get().protected.is_empty();
        let (saving, cx, caller) = (Arc::clone(self), Arc::clone(cx), caller.clone());
        let prepare =
            move || saving.prepare_on(&cx, &caller, &state, session.as_deref(), (choice, attempt));
        // A protected key may make the check for a person necessary, which reads the file system.
        let inline_max = match self.context.is_reread() {
            true => REREAD_INLINE_BYTES_MAX,
            false => PACK_INLINE_BYTES_MAX,
        };
        let is_long = self.bytes > inline_max || has_protected;
        off_loop(is_long, prepare).await
    }

    fn prepare_on(
        &self,
        cx: &Context,
        caller: &Caller,
        state: &State,
        session: Option<&str>,
        (choice, attempt): (PreparedSession, u32),
    ) -> Result<SaveCheckpoint, Refusal> {
        let previous = match session {
            Some(session) => {
                sessions::find(state, session)?;
                view::newest(state, session, None)?
                    .map(|row| StoredCheckpoint::at(&state.log(), session.to_owned(), row))
                    .transpose()?
                    .map(|found| found.manifest)
            }
            None => None,
        };
        let latest_hash = previous.as_ref().map(CheckpointSaved::context_hash);
        let values = Values::of(cx, state);
        let limits = Checkpoints::of(cx)?.limits.get();
        if let Some(session) = session.filter(|_| !limits.protected.is_empty()) {
            // A fork without checkpoints continues from its parent's.
            let last = StoredCheckpoint::latest(state, session).ok();
            let last = last.map(|found| found.manifest);
            if let Some(last) = last
                && let Some(key) =
                    protected::changed(&values, &last, &self.context, &limits.protected)?
            {
                caller.check_person(&protected::what(&key))?;
            }
        }
        let packing = ObjectPacker {
            rows: state,
            values,
            blobs: &cx.blobs,
            is_self_contained: attempt >= ATTEMPTS_MAX,
        };
        let pieces = packing.pieces(&self.context, previous.as_ref())?;
        let hash = self.context.hash();
        values.note_context(hash, &self.context.canonical);
        self.context.keep(&values, &pieces);
        let clock = cx.engine.clock();
        let body = codec::encode(&self.metadata.described());
        let mut command = SaveCheckpoint {
            choice,
            checkpoint: CheckpointKey::of(clock.random()),
            hash,
            keys: self.context.keys(),
            pieces,
            is_kept: self.metadata.is_kept(),
            // An equal latest checkpoint that was not skipped is damaged.
            is_forced: self.is_forced || latest_hash == Some(hash),
            expected: self.expected,
            fork: None,
            body: Some(Body::new(body, clock.random())),
            deletion_salt: clock.random(),
            limits: (*limits).clone(),
            report: Report::default(),
            let_go: Vec::new(),
        };
        command.foresee(state, session.unwrap_or_default())?;
        packing.write_blobs(&mut command.pieces)?;
        Ok(command)
    }

    async fn skipped(
        &self,
        cx: &Arc<Context>,
        session: &str,
        row: &CheckpointRow,
    ) -> Result<SaveReply, Refusal> {
        let state = State::live(cx, None).await?;
        let found = StoredCheckpoint::at(&state.log(), session.to_owned(), row.clone())?;
        let mut warnings = limit_warnings(cx, Some(session)).await?;
        if found.metadata()? != self.metadata {
            warnings.push(
                "the context is unchanged, so nothing was saved, and the metadata given now differs \
                 from that of the checkpoint; `force` saves it all the same"
                    .to_owned(),
            );
        }
        Ok(SaveReply {
            checkpoint_id: checkpoint_id(&row.checkpoint)?,
            session_id: session_id(session)?,
            status: SaveStatus::SkippedUnchanged,
            size_bytes: row.stored_bytes,
            new_bytes: 0,
            meta: Some(Meta {
                project: found.event.header.project.clone(),
                ..meta_of_read(cx, &state, warnings)
            }),
        })
    }

    /// Adds to a conflict the changes between the expected and the latest checkpoint.
    async fn explain(&self, cx: &Arc<Context>, session: Option<&str>, refusal: Refusal) -> Refusal {
        let (Code::Conflict, Some(base), Some(session)) = (refusal.code, self.expected, session)
        else {
            return refusal;
        };
        let reported = changes_since(Arc::clone(cx), session.to_owned(), base).await;
        match reported {
            Ok(details) => refusal.details(details),
            // The refusal is complete without details.
            Err(_) => refusal.details(json!({ "base": base.to_string() })),
        }
    }
}

/// Runs work, off the event loop if it is long.
async fn off_loop<T: Send + 'static>(
    is_long: bool,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    if is_long {
        blocking(work).await
    } else {
        work()
    }
}

async fn changes_since(
    cx: Arc<Context>,
    session: String,
    base: CheckpointKey,
) -> Result<serde_json::Value, Refusal> {
    let state = State::live(&cx, None).await?;
    blocking(move || {
        let theirs = view::newest(&state, &session, None)?;
        let mut details = json!({
            "base": base.to_string(),
            "theirs": theirs.as_ref().map(|row| row.checkpoint.to_string()),
        });
        let base = view::get(&state, &base)?;
        if let (Some((of, base)), Some(theirs), Some(map)) = (base, theirs, details.as_object_mut())
        {
            let base = StoredCheckpoint::at(&state.log(), of, base)?.context(&cx, &state);
            let theirs = StoredCheckpoint::at(&state.log(), session, theirs)?.context(&cx, &state);
            // Without a readable context only the ids are reported.
            if let (Ok(base), Ok(theirs)) = (base, theirs) {
                let keys = key_difference(base.members(), theirs.members());
                let mut changed = [keys.added, keys.removed, keys.changed].concat();
                changed.sort_unstable();
                map.insert("changedKeys".to_owned(), json!(changed));
            }
        }
        Ok(details)
    })
    .await
}

/// Builds the reply from the recorded event, so that a repeated key gets the same reply.
async fn reply(cx: &Arc<Context>, outcome: &Outcome) -> Result<SaveReply, Refusal> {
    let saved = super::saved(outcome)?;
    let meta = meta_of_write(cx, outcome).await?;
    clean_up::start_if_due(cx).await?;
    Ok(SaveReply {
        checkpoint_id: checkpoint_id(&saved.checkpoint)?,
        session_id: crate::sessions::session_of(&outcome.event.header)?,
        status: SaveStatus::Saved,
        size_bytes: saved.stored_bytes,
        new_bytes: saved.new_bytes,
        meta: Some(meta),
    })
}
