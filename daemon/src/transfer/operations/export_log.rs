//! `export_log`.

use lore::protocol::log::{ExportLogArgs, ExportLogReply};

use super::page_bytes;
use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::operation::cursor::{Cursor, List};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::sessions;
use crate::transfer::log_transfer::{Export, PageStart, Scope};
use crate::transfer::session::ExportSource;

/// `export_log`.
pub struct ExportLog;

impl Op for ExportLog {
    type Args = ExportLogArgs;
    type Reply = ExportLogReply;
    const NAME: &'static str = "export_log";
    const TITLE: &'static str = "Export all that is recorded";
    const DESCRIPTION: &'static str = "Exports everything as JSON lines, page by page: projects with their context files, then \
        every session. `import_log` reads them into another store.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ExportLogArgs>) -> Result<ExportLogReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let bytes_max = page_bytes(args.bytes_max)?;
        if args.session.is_some() && args.project.is_some() {
            return Err(Refusal::invalid(
                "`session` and `project` exclude one another",
            ));
        }
        let published = cx.read(None).await?;
        let durable = cx.engine.is_durable();
        blocking(move || {
            let (store, tail) = (cx.engine.store_id(), published.tail.position);
            let cursor = args.next.as_deref();
            let cursor = cursor
                .map(|next| Cursor::read(next, "next", List::ExportLog, store, tail))
                .transpose()?;
            let (from, up_to) = match cursor {
                None => (PageStart::default(), tail),
                Some(cursor) => (place(&cursor)?, cursor.position),
            };
            if let Some(session) = &args.session {
                sessions::find(&published.snapshot, session.as_str())?;
            }
            let scope = Scope {
                session: args.session.map(|session| session.as_str().to_owned()),
                project: sessions::named_project(&cx, &published.snapshot, &caller, args.project)?,
            };
            let export = Export {
                shelf: ExportSource {
                    rows: &published.snapshot,
                    blobs: &cx.blobs,
                    cache: &cx.cache,
                },
                scope,
                up_to,
            };
            let page = export.page(from, bytes_max)?;
            let next = page
                .next
                .map(|place| Cursor::behind_row(&place.key(), up_to).text(List::ExportLog, store));
            Ok(ExportLogReply {
                content: page.content,
                next,
                position: up_to,
                durable,
                warnings: page.warnings,
            })
        })
        .await
    }
}

fn place(cursor: &Cursor) -> Result<PageStart, Refusal> {
    PageStart::of_key(&cursor.key).ok_or_else(|| {
        Refusal::invalid("`next` is not a cursor of export_log").hint(hint![
            "Give the ",
            arg("next"),
            " of the last reply, unchanged."
        ])
    })
}
