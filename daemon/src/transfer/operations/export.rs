//! `export_session`.

use lore::protocol::sessions::{ExportFormat, ExportSessionArgs, ExportSessionReply};

use super::page_bytes;
use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::log::Position;
use crate::operation::cursor::{Cursor, List};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::read_context::{Read, ReadContext};
use crate::sessions::WantedContent;
use crate::transfer::session::{Export, ExportSource, PageCursor, markdown};

/// `export_session`.
pub struct ExportSession;

impl Op for ExportSession {
    type Args = ExportSessionArgs;
    type Reply = ExportSessionReply;
    const NAME: &'static str = "export_session";
    const TITLE: &'static str = "Export a session";
    const DESCRIPTION: &'static str = "Exports a session page by page: as JSON lines, which `import_session` reads into this or \
        another store, or as Markdown for people.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ExportSessionArgs>) -> Result<ExportSessionReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let bytes_max = page_bytes(args.bytes_max)?;
        let reading = ReadContext {
            session: args.session,
            // Later pages show the first one's moment, which the cursor carries.
            as_of: args.as_of.filter(|_| args.next.is_none()),
            at_least: args.at_least,
            wanted: WantedContent::default(),
        };
        let format = args.format.unwrap_or_default();
        let read = reading.open(cx, caller).await?;
        blocking(move || page(read, format, bytes_max, args.next.as_deref())).await
    }
}

fn page(
    read: Read,
    format: ExportFormat,
    bytes_max: usize,
    next: Option<&str>,
) -> Result<ExportSessionReply, Refusal> {
    let (store, tail) = (read.cx.engine.store_id(), read.state.position());
    let cursor = next
        .map(|next| Cursor::read(next, "next", List::Export, store, tail))
        .transpose()?;
    let from = cursor.as_ref().map(place).transpose()?;
    let up_to = cursor.map_or(tail, |cursor| cursor.position);
    let session_id = read.session_id()?;
    let Read {
        cx, state, session, ..
    } = read;
    let durable = cx.engine.is_durable();
    // The counts on the last page of a document also belong to the first page's moment.
    let state = match (format, up_to == tail) {
        (ExportFormat::Markdown, false) => {
            let as_of = lore::protocol::AsOf::Position(up_to);
            state.back_to(&*cx.fold, &session, &as_of)?
        }
        (ExportFormat::Markdown, true) | (ExportFormat::Jsonl, _) => state,
    };
    let lines = crate::sessions::lineage(&state, &session)?;
    let export = Export {
        shelf: ExportSource {
            rows: &state,
            blobs: &cx.blobs,
            cache: &cx.cache,
        },
        session: &session,
        lines: &lines,
        up_to,
    };
    let page = match format {
        ExportFormat::Jsonl => export.page(from, bytes_max)?,
        ExportFormat::Markdown => markdown(&export, from, bytes_max)?,
    };
    let next = page.next.map(|place| {
        let key = [place.after.0, place.n].map(u64::to_be_bytes).concat();
        Cursor::behind_row(&key, up_to).text(List::Export, store)
    });
    Ok(ExportSessionReply {
        session: session_id,
        format,
        content: page.content,
        next,
        position: up_to,
        durable,
        chosen_by: None,
        warnings: page.warnings,
    })
}

/// Reads the end of the previous page from a cursor.
fn place(cursor: &Cursor) -> Result<PageCursor, Refusal> {
    let number = |at: usize| {
        let bytes = cursor.key.get(at..at + 8)?;
        Some(u64::from_be_bytes(bytes.try_into().ok()?))
    };
    match (number(0), number(8), cursor.key.len()) {
        (Some(after), Some(n), 16) => Ok(PageCursor {
            after: Position(after),
            n,
        }),
        _ => Err(
            Refusal::invalid("`next` is not a cursor of export_session").hint(hint![
                "Give the ",
                arg("next"),
                " of the last reply, unchanged."
            ]),
        ),
    }
}
