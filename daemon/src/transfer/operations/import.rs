//! `import_session`.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::sessions::{ImportSessionArgs, ImportSessionReply};
use lore::protocol::{Position, SessionId};

use crate::checkpoints;
use crate::engine::KeyClaim;
use crate::error::{Code, Refusal};
use crate::log::Hash;
use crate::operation::{Access, Call, Caller, Context, Op, blocking};
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

    async fn call(call: Call<ImportSessionArgs>) -> Result<ImportSessionReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let content = std::mem::take(&mut args.content);
        let is_dry = args.dry_run == Some(true);
        let (imported, hash) = blocking(move || {
            let imported = read(&content)?;
            Ok((imported, Hash::of(content.as_bytes())))
        })
        .await?;
        let large = [("content", hash)];
        let claim = caller.claim_beside(Self::NAME, &args, &large, args.key.as_deref())?;
        let importing = SessionImport::of(&args, imported)?;
        if is_dry {
            return importing.try_out(&cx).await;
        }
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return Ok(importing
                .reported
                .reply(outcome.event.position(), outcome.durable));
        }
        importing.run(&cx, &caller, claim).await
    }
}

/// An import in progress.
struct SessionImport {
    imported: ParsedSession,
    reported: ImportReport,
}

/// Values for the reply.
struct ImportReport {
    session: SessionId,
    project: Option<String>,
    kinds: BTreeMap<String, u64>,
    warnings: Vec<String>,
}

impl SessionImport {
    fn of(args: &ImportSessionArgs, imported: ParsedSession) -> Result<Self, Refusal> {
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
        let reported = ImportReport {
            session,
            project: args.project.clone().or_else(|| header.project.clone()),
            kinds,
            warnings: Vec::new(),
        };
        Ok(Self { imported, reported })
    }

    /// Reports the result of an import without recording it (dry run).
    async fn try_out(self, cx: &Context) -> Result<ImportSessionReply, Refusal> {
        let published = cx.read(None).await?;
        self.check_free(&published.snapshot)?;
        let reply = self
            .reported
            .reply(published.tail.position, cx.engine.is_durable());
        Ok(ImportSessionReply {
            dry_run: true,
            ..reply
        })
    }

    /// Checks early that the session can be created, so that no large blobs are written in vain.
    fn check_free(&self, rows: &dyn crate::store::Rows) -> Result<(), Refusal> {
        let session = self.reported.session.as_str();
        if sessions::exists(rows, session)? {
            return Err(Refusal::new(
                Code::Conflict,
                format!("there is already a session `{session}`"),
            )
            .hint("Give another id as `session`; nothing was imported."));
        }
        Ok(())
    }

    async fn run(
        self,
        cx: &Arc<Context>,
        caller: &Caller,
        claim: Option<KeyClaim>,
    ) -> Result<ImportSessionReply, Refusal> {
        let published = cx.read(None).await?;
        self.check_free(&published.snapshot)?;
        drop(published);
        let Self {
            imported,
            mut reported,
        } = self;
        let shared = Arc::clone(cx);
        let ready = blocking(move || ready_behind(&shared, imported, &[])).await?;
        let renamed = RenamedCheckpoints::default();
        let bytes = ready.bytes();
        let command = Import {
            session: reported.session.as_str().to_owned(),
            project: reported.project.clone(),
            seen: None,
            ready,
            renamed: Arc::clone(&renamed),
            keeping: checkpoints::RetainedObjects::default(),
        };
        let outcome = cx.write(caller, claim, bytes, command).await?;
        reported.warnings = renamed_warnings(&renamed);
        Ok(reported.reply(outcome.event.position(), outcome.durable))
    }
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

impl ImportReport {
    fn reply(self, position: Position, durable: bool) -> ImportSessionReply {
        ImportSessionReply {
            session: self.session,
            events: self.kinds.values().sum(),
            kinds: self.kinds,
            dry_run: false,
            position,
            durable,
            project: self.project,
            warnings: self.warnings,
        }
    }
}
