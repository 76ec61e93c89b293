//! `import_session`.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::sessions::{ImportSessionArgs, ImportSessionReply};
use lore::protocol::{Position, SessionId};

use crate::checkpoints;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::log::Hash;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions;
use crate::transfer::session::{
    ImportContext, ImportSession as Import, ParsedSession, PreparedEvents, RenamedCheckpoints,
    read, renamed_warnings,
};

/// `import_session`.
pub struct ImportSession;

impl Op for ImportSession {
    type Args = ImportSessionArgs;
    type Reply = ImportSessionReply;
    const NAME: &'static str = "import_session";
    const TITLE: &'static str = "Import a session";
    const DESCRIPTION: &'static str = "Imports a session from JSON lines of `export_session` or another program: everything in one \
        commit, with its times and authors, or nothing. An error names the invalid line.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ImportSessionArgs>) -> Result<ImportSessionReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let content = std::mem::take(&mut args.content);
        args.project = sessions::current_or(&caller, args.project)?;
        let is_dry = args.dry_run == Some(true);
        let (imported, hash) = blocking(move || {
            let imported = read(&content)?;
            Ok((imported, Hash::of(content.as_bytes())))
        })
        .await?;
        let large = [("content", hash)];
        let claim = caller.claim_beside(Self::NAME, &args, &large, args.key.as_deref())?;
        let mut reply = reply(&args, &imported)?;
        if is_dry {
            reply.position = check_free(&cx, &reply).await?;
            reply.durable = cx.engine.is_durable();
            reply.dry_run = true;
            return Ok(reply);
        }
        let outcome = match cx.repeated(&caller, claim.as_ref()).await? {
            Some(outcome) => outcome,
            None => {
                check_free(&cx, &reply).await?;
                let shared = Arc::clone(&cx);
                let ready = blocking(move || ready_behind(&shared, imported, &[])).await?;
                let renamed = RenamedCheckpoints::default();
                let bytes = ready.bytes();
                let command = Import {
                    session: reply.session.as_str().to_owned(),
                    project: reply.project.clone(),
                    seen: None,
                    ready,
                    renamed: Arc::clone(&renamed),
                    keeping: checkpoints::RetainedObjects::default(),
                };
                let outcome = cx.write(&caller, claim, bytes, command).await?;
                reply.warnings = renamed_warnings(&renamed);
                outcome
            }
        };
        reply.position = outcome.event.position();
        reply.durable = outcome.durable;
        Ok(reply)
    }
}

/// Builds the reply, still without its position.
fn reply(
    args: &ImportSessionArgs,
    imported: &ParsedSession,
) -> Result<ImportSessionReply, Refusal> {
    let header = &imported.header;
    let session = match &args.session {
        Some(session) => session.clone(),
        None => SessionId::new(header.session.as_str())
            .map_err(|error| Refusal::invalid(error.to_string()))?,
    };
    sessions::operations::check_texts([("project", args.project.as_ref())])?;
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for event in &imported.events {
        *kinds.entry(event.payload.kind().to_string()).or_default() += 1;
    }
    Ok(ImportSessionReply {
        session,
        events: kinds.values().sum(),
        kinds,
        dry_run: false,
        position: Position(0),
        durable: false,
        project: args.project.clone().or_else(|| header.project.clone()),
        warnings: Vec::new(),
    })
}

/// Checks early that the session can be created, so that no large blobs are written in vain; returns the position.
async fn check_free(cx: &Context, reply: &ImportSessionReply) -> Result<Position, Refusal> {
    let published = cx.read(None).await?;
    let session = reply.session.as_str();
    if sessions::exists(&published.snapshot, session)? {
        return Err(Refusal::new(
            Code::Conflict,
            format!("there is already a session `{session}`"),
        )
        .hint(hint!["Nothing was imported."; "Give another id as ", arg("session"), "."]));
    }
    Ok(published.tail.position)
}

/// Prepares the new events of a session: all except those that exist here.
pub(super) fn ready_behind(
    cx: &Context,
    imported: ParsedSession,
    there: &[bool],
) -> Result<PreparedEvents, Refusal> {
    let room = checkpoints::Checkpoints::of(cx)?;
    let limits = room.limits.get();
    let import_context = ImportContext {
        blobs: &cx.blobs,
        clock: cx.engine.clock(),
        tokens: &room.tokens,
        limits: &limits,
    };
    import_context.prepare(imported, there)
}
