//! `import_log`.

use std::sync::Arc;

use lore::protocol::log::{ImportLogArgs, ImportLogReply};

use super::import::ready_behind;
use crate::checkpoints;
use crate::engine::{KeyClaim, PublishedState};
use crate::error::{Code, Refusal};
use crate::hint::hint;
use crate::locks::lock_unpoisoned;
use crate::log::{Hash, Position};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::transfer::log_transfer::{
    ImportProjects, LogPart, PreparedLine, Report, Session, prepare, read,
};
use crate::transfer::session::{
    self, ExportSource, MergeState, ParsedSession, RenamedCheckpoints, renamed_warnings, standing,
};
use crate::{projects, sessions};

/// Maximum size of `content`, in bytes.
const CONTENT_BYTES_MAX: usize = 32 << 20;

/// `import_log`.
pub struct ImportLog;

impl Op for ImportLog {
    type Args = ImportLogArgs;
    type Reply = ImportLogReply;
    const NAME: &'static str = "import_log";
    const TITLE: &'static str = "Import what was exported";
    const DESCRIPTION: &'static str = "Imports JSON lines of `export_log` or another program. Each session is recorded as a whole \
        or not at all. Existing data is not recorded twice, and a session that has grown is appended \
        to.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ImportLogArgs>) -> Result<ImportLogReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        if args.content.len() > CONTENT_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "`content` has {} bytes; at most {CONTENT_BYTES_MAX} are taken at once",
                args.content.len()
            ))
            .hint(hint![
                "Give a part of the lines: whole sessions, and the number of the first line."
            ]));
        }
        let first_line = usize::try_from(args.line.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
        let (content, shared) = (args.content, Arc::clone(&cx));
        let part = blocking(move || {
            let part = read(&content, first_line)?;
            check_sizes(&shared, &part)?;
            Ok(part)
        })
        .await?;
        let mut importing = LogImport {
            cx,
            caller,
            is_dry: args.dry_run == Some(true),
            is_first: first_line == 1,
            reply: ImportLogReply {
                sources: part.sources.clone(),
                ..ImportLogReply::default()
            },
        };
        importing.run(part).await?;
        let LogImport {
            cx, is_dry, reply, ..
        } = importing;
        Ok(ImportLogReply {
            dry_run: is_dry,
            position: cx.read(None).await?.tail.position,
            durable: cx.engine.is_durable(),
            ..reply
        })
    }
}

/// Refuses contents over the size limit that applies to agents.
fn check_sizes(cx: &Context, part: &LogPart) -> Result<(), Refusal> {
    let most = projects::ProjectState::of(cx)?.limits.content_bytes_max;
    for (line, _, outside) in &part.outside {
        let bytes = outside.content_bytes();
        if bytes > most {
            return Err(Refusal::invalid(format!(
                "line {line}: `content` has {bytes} bytes; a context file has at most {most}"
            )));
        }
    }
    Ok(())
}

struct LogImport {
    cx: Arc<Context>,
    caller: Caller,
    is_dry: bool,
    /// Whether this is the first part of the export.
    is_first: bool,
    reply: ImportLogReply,
}

impl LogImport {
    async fn run(&mut self, mut part: LogPart) -> Result<(), Refusal> {
        let outside = std::mem::take(&mut part.outside);
        if !outside.is_empty() {
            let shared = Arc::clone(&self.cx);
            let ready = blocking(move || {
                let clock = shared.engine.clock();
                Ok(prepare(outside, &shared.blobs, || clock.random())?)
            });
            let ready = ready.await?;
            self.projects(ready)
                .await
                .map_err(|refusal| self.explain(refusal))?;
        }
        for session in part.sessions {
            self.session(session)
                .await
                .map_err(|refusal| self.explain(refusal))?;
        }
        Ok(())
    }

    /// Adds to a refusal what was recorded before it.
    fn explain(&self, refusal: Refusal) -> Refusal {
        let reply = &self.reply;
        let sessions = reply.sessions + reply.continued;
        if sessions + reply.projects + reply.versions + reply.documents == 0 {
            return refusal;
        }
        let message = format!(
            "{}; of the lines before, {} sessions, {} projects, {} versions and {} documents were recorded",
            refusal.message, sessions, reply.projects, reply.versions, reply.documents
        );
        Refusal { message, ..refusal }
    }

    async fn projects(&mut self, ready: Vec<(PreparedLine, u64)>) -> Result<(), Refusal> {
        let report = Report::default();
        let bytes = ready.iter().map(|(ready, _)| ready.bytes()).sum();
        let command = ImportProjects::new(ready, Arc::clone(&report));
        let outcome = match self.is_dry {
            true => self.try_out(command).await,
            false => self
                .cx
                .write(&self.caller, None, bytes, command)
                .await
                .map(drop),
        };
        let count = *lock_unpoisoned(&report);
        let is_all_there = count.lines > 0 && count.events == 0;
        if !is_all_there {
            outcome?;
        }
        self.reply.projects += count.projects;
        self.reply.versions += count.versions;
        self.reply.documents += count.documents;
        self.reply.there += count.there;
        Ok(())
    }

    /// Decides without recording (dry run).
    async fn try_out(&self, mut command: ImportProjects) -> Result<(), Refusal> {
        let published = self.cx.read(None).await?;
        // In a dry run, projects of earlier parts are not recorded, either.
        command.trusts = !self.is_first;
        command.decide_on(&published.snapshot).map(drop)
    }

    async fn session(&mut self, session: Session) -> Result<(), Refusal> {
        let line = session.line;
        let at_line = |refusal: Refusal| Refusal {
            message: format!("line {line}: {}", refusal.message),
            ..refusal
        };
        let shared = Arc::clone(&self.cx);
        let published = self.cx.read(None).await?;
        let Session { text, imported, .. } = session;
        let hash = Hash::of(text.as_bytes());
        drop(text);
        let key = format!("import_log {hash}");
        let claim = self.caller.claim_beside(
            ImportLog::NAME,
            &serde_json::json!({}),
            &[("session", hash)],
            Some(&key),
        )?;
        if self
            .cx
            .repeated(&self.caller, claim.as_ref())
            .await?
            .is_some()
        {
            self.reply.there += 1;
            return Ok(());
        }
        let seen = published.tail.position;
        let (standing, imported) =
            blocking(move || Ok((merge_state(&shared, &published, &imported)?, imported))).await?;
        let id = imported.header.session.clone();
        let (there, events) = match standing {
            MergeState::There => {
                self.reply.there += 1;
                return Ok(());
            }
            MergeState::Differs(event, what) => {
                return Err(at_line(differs(&id, line as u64 + event, &what)));
            }
            MergeState::Absent => (None, imported.events.len()),
            MergeState::Grown(there) => {
                let new = there.iter().filter(|is_there| !**is_there).count();
                (Some(there), new)
            }
        };
        let went_on = there.is_some();
        if !self.is_dry {
            self.record(imported, there, seen, claim)
                .await
                .map_err(at_line)?;
        }
        match went_on {
            true => self.reply.continued += 1,
            false => self.reply.sessions += 1,
        }
        self.reply.events += events as u64;
        Ok(())
    }

    /// Records a session, or the new events of an existing session that was compared up to position `seen`.
    async fn record(
        &mut self,
        imported: ParsedSession,
        there: Option<Vec<bool>>,
        seen: Position,
        claim: Option<KeyClaim>,
    ) -> Result<(), Refusal> {
        let (session, project) = (
            imported.header.session.clone(),
            imported.header.project.clone(),
        );
        let shared = Arc::clone(&self.cx);
        let seen = there.is_some().then_some(seen);
        let ready =
            blocking(move || ready_behind(&shared, imported, &there.unwrap_or_default())).await?;
        let renamed = RenamedCheckpoints::default();
        let bytes = ready.bytes();
        let command = session::ImportSession {
            session,
            project,
            seen,
            ready,
            renamed: Arc::clone(&renamed),
            keeping: checkpoints::RetainedObjects::default(),
        };
        self.cx.write(&self.caller, claim, bytes, command).await?;
        self.reply.warnings.extend(renamed_warnings(&renamed));
        Ok(())
    }
}

/// The refusal when an existing session of this id contradicts a line.
fn differs(id: &str, line: u64, what: &str) -> Refusal {
    let message =
        format!("there is a session `{id}` that says something else than line {line}: {what}");
    Refusal::new(Code::Conflict, message).hint(
        "Nothing of it was recorded. Give the session in the file another id: `lore import --from` takes a `--prefix`.",
    )
}

/// Compares an imported session with the existing session of its id.
fn merge_state(
    cx: &Context,
    published: &PublishedState,
    imported: &ParsedSession,
) -> Result<MergeState, Refusal> {
    let rows = &published.snapshot;
    let session = &imported.header.session;
    if !sessions::exists(rows, session)? {
        return Ok(MergeState::Absent);
    }
    let lines = sessions::lineage(rows, session)?;
    let export = session::Export {
        shelf: ExportSource {
            rows,
            blobs: &cx.blobs,
            cache: &cx.cache,
        },
        session,
        lines: &lines,
        up_to: published.tail.position,
    };
    standing(&export, imported)
}
