//! `put_document`: stores a document whose bytes are sent.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lore::protocol::documents::{PutDocumentArgs, PutDocumentReply, PutStatus, SENT_BYTES_MAX};
use lored_redact::{Redactor, SecretCounts};

use super::sources::named;
use crate::clock::parse_time;
use crate::documents::command::{
    self, UnchangedFlag, check_sent, source_id, unknown_document, unknown_source,
};
use crate::documents::feature::Documents;
use crate::documents::names::check_name;
use crate::documents::root::Root;
use crate::documents::sources::{Content, FileFingerprint, ReadFailure, TITLE_BYTES_MAX, take};
use crate::documents::view::{self, SourceRow};
use crate::engine::Outcome;
use crate::error::Refusal;
use crate::events::documents::{DocumentEvent, SourceAdded};
use crate::events::{Event, unexpected};
use crate::log::Hash;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;
use crate::store::Rows;

/// Name of the default source of sent documents.
const SENT: &str = "sent";

/// `put_document`.
pub struct PutDocument;

impl Op for PutDocument {
    type Args = PutDocumentArgs;
    type Reply = PutDocumentReply;
    const NAME: &'static str = "put_document";
    const TITLE: &'static str = "Send a document";
    const DESCRIPTION: &'static str = "Stores a document that is sent as text or as Base64. It is read, chunked, searched and cited \
        like a file. A different document with the same name is replaced.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const TAKES_BYTES: bool = true;

    async fn call(call: Call<PutDocumentArgs>) -> Result<PutDocumentReply, Refusal> {
        let (cx, caller, mut args) = call.into_parts();
        let mut found = SecretCounts::default();
        redact(&cx.redactor, &mut args, &mut found);
        let caller = caller.with_agent(args.agent.as_deref())?;
        check(&args)?;
        let bytes_max = Documents::of(&cx)?.settings.reading.file_bytes;
        let bytes_max = bytes_max.min(usize::try_from(SENT_BYTES_MAX).unwrap_or(usize::MAX));
        let (args, content) = blocking(move || {
            let content = content(&mut args, bytes_max)?;
            Ok((args, content))
        })
        .await?;
        let large = [("content", content.hash)];
        let claim = caller.claim_beside(Self::NAME, &args, &large, args.key.as_deref())?;
        if let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await? {
            return reply(&cx, &outcome, Vec::new()).await;
        }
        let turn = Documents::of(&cx)?.turn().await?;
        let state = State::live(&cx, None).await?;
        let shared = Arc::clone(&cx);
        let prepared = blocking(move || prepare(&shared, &state, &args, content)).await?;
        drop(turn);
        let (command, mut warnings) = prepared;
        warnings.extend(found.sentence());
        let (source, name) = (command.take.source.clone(), command.take.taken.path.clone());
        let unchanged = command.unchanged.clone();
        let bytes = command.take.bytes();
        match cx.write(&caller, claim, bytes, command).await {
            Ok(outcome) => reply(&cx, &outcome, warnings).await,
            Err(_) if *unchanged.unchanged() => {
                let state = State::live(&cx, None).await?;
                blocking(move || there(&cx, &state, source, &name, warnings)).await
            }
            Err(refusal) => Err(refusal),
        }
    }
}

/// Redacts all arguments except the document, which [`take`] redacts.
fn redact(redactor: &Redactor, args: &mut PutDocumentArgs, found: &mut SecretCounts) {
    let others = [
        Some(&mut args.name),
        args.title.as_mut(),
        args.source.as_mut(),
        args.modified.as_mut(),
        args.key.as_mut(),
        args.agent.as_mut(),
    ];
    for text in others.into_iter().flatten() {
        if let Cow::Owned(redacted) = redactor.text(text, found) {
            *text = redacted;
        }
    }
}

fn check(args: &PutDocumentArgs) -> Result<(), Refusal> {
    check_name(&args.name)?;
    if let Some(title) = &args.title
        && (title.trim().is_empty()
            || title.len() > TITLE_BYTES_MAX
            || title.chars().any(char::is_control))
    {
        return Err(Refusal::invalid(format!(
            "`title` has 1 to {TITLE_BYTES_MAX} bytes and no control characters"
        )));
    }
    if args.text.is_some() == args.base64.is_some() {
        let message = "a document has one of `text` and `base64`, and only one";
        return Err(Refusal::invalid(message)
            .hint("`text` for what is text, `base64` for the bytes of any other file."));
    }
    Ok(())
}

/// Takes the bytes of a document out of the arguments.
fn content(args: &mut PutDocumentArgs, bytes_max: usize) -> Result<Content, Refusal> {
    let too_long = |bytes: usize| {
        Refusal::invalid(format!(
            "`{}` has {bytes} bytes; at most {bytes_max} are read, so split it",
            args.name
        ))
        .hint("Send each part under a name of its own, such as `plan/1.md` and `plan/2.md`.")
    };
    let bytes = match (args.text.take(), args.base64.take()) {
        (_, Some(base64)) => {
            let padding = base64.bytes().rev().take(2).filter(|byte| *byte == b'=');
            let is = (base64.len() / 4 * 3).saturating_sub(padding.count());
            if is > bytes_max {
                return Err(too_long(is));
            }
            BASE64.decode(base64.as_bytes()).map_err(|error| {
                Refusal::invalid(format!("`base64` is not valid Base64: {error}"))
                    .hint("The standard alphabet, with padding and without line ends.")
            })?
        }
        (text, None) => text.unwrap_or_default().into_bytes(),
    };
    if bytes.len() > bytes_max {
        return Err(too_long(bytes.len()));
    }
    let modified = args.modified.as_deref().map(|text| {
        let time = parse_time(text).and_then(|time| i64::try_from(time).ok());
        time.and_then(|time| time.checked_mul(1000)).ok_or_else(|| {
            Refusal::invalid(format!("`modified` is not a valid time: {text:?}"))
                .hint("Give RFC 3339 with an offset, such as 2026-01-31T12:00:00Z.")
        })
    });
    Ok(Content {
        stamp: FileFingerprint {
            bytes: bytes.len() as u64,
            mtime: modified.transpose()?.unwrap_or(i64::MIN),
            inode: 0,
        },
        hash: Hash::of(&bytes),
        bytes,
    })
}

/// Reads and chunks a document; returns the command that records it, and warnings. Takes time in proportion to its size, so it must run off the event loop.
fn prepare(
    cx: &Context,
    state: &State,
    args: &PutDocumentArgs,
    content: Content,
) -> Result<(command::PutDocument, Vec<String>), Refusal> {
    let (source, row) = source_of(cx, state, args.source.as_deref())?;
    let may_begin = row.is_none() && args.source.is_none();
    let under = match row {
        Some(row) => row.added,
        None => SourceAdded {
            path: SENT.to_owned(),
            sent: true,
            ..SourceAdded::default()
        },
    };
    let documents = Documents::of(cx)?;
    let root = Root::of(&under);
    let taken = take(
        content,
        root.base(&args.name),
        &args.name,
        &under,
        (&documents.settings, &documents.workers),
        &cx.redactor,
    );
    let mut taken = taken.map_err(|unread| untaken(&args.name, unread))?;
    if let Some(title) = &args.title {
        taken.meta.title.clone_from(title);
    }
    let warnings = taken.warnings.iter().map(ToString::to_string).collect();
    let command = command::PutDocument {
        take: taken.into_command(cx, &source, None)?,
        under,
        may_begin,
        has_key: args.key.is_some(),
        unchanged: UnchangedFlag::default(),
    };
    Ok((command, warnings))
}

/// Returns the source that a document is sent to.
fn source_of(
    cx: &Context,
    rows: &dyn Rows,
    source: Option<&str>,
) -> Result<(String, Option<SourceRow>), Refusal> {
    let (id, row) = match source {
        Some(source) => {
            let (id, row) = named(cx, rows, source)?;
            (id, Some(row))
        }
        None => {
            let id = source_id(SENT);
            let row = view::source(rows, &id)?;
            (id, row)
        }
    };
    if let Some(row) = &row {
        check_sent(&id, row)?;
    }
    Ok((id, row))
}

/// Converts a read failure of a sent document to a refusal.
fn untaken(name: &str, unread: ReadFailure) -> Refusal {
    match unread {
        ReadFailure::Skipped(what) => Refusal::invalid(format!(
            "`{name}` is binary ({what}): no document comes of it"
        ))
        .hint("Text, Markdown, HTML, source code, JSON, YAML, TOML, CSV, docx, pptx and pdf are read."),
        ReadFailure::Failed(reason) | ReadFailure::Barred(reason) => {
            Refusal::invalid(format!("`{name}` cannot be taken in: {reason}"))
        }
        ReadFailure::Gone | ReadFailure::Unsettled => Refusal::invalid(format!("`{name}` cannot be read")),
    }
}

/// Builds the reply from the last event of a document, which can be a record that it was unchanged.
async fn reply(
    cx: &Arc<Context>,
    outcome: &Outcome,
    warnings: Vec<String>,
) -> Result<PutDocumentReply, Refusal> {
    let event = &outcome.event;
    let (document, title, status) = match &outcome.meta {
        Event::Document(DocumentEvent::Ingested(meta)) => {
            (meta.document.clone(), meta.title.clone(), PutStatus::Taken)
        }
        Event::Document(DocumentEvent::PartAdded(meta)) => {
            (meta.document.clone(), meta.title.clone(), PutStatus::Taken)
        }
        Event::Document(DocumentEvent::Restatted(meta)) => {
            let state = State::live(cx, Some(event.position())).await?;
            let (id, document) = (meta.document.clone(), meta.document.clone());
            let row = blocking(move || Ok(view::document(&state, &id)?)).await?;
            // The document may have been removed since then.
            let title = row.map(|row| row.taken.title).unwrap_or_default();
            (document, title, PutStatus::Unchanged)
        }
        _ => return Err(unexpected(event, "a document").into()),
    };
    Ok(PutDocumentReply {
        document,
        source: event.header.project.clone().unwrap_or_default(),
        title,
        status,
        position: event.position(),
        durable: outcome.durable,
        warnings,
    })
}

/// Builds the reply if nothing was recorded.
fn there(
    cx: &Context,
    state: &State,
    source: String,
    name: &str,
    warnings: Vec<String>,
) -> Result<PutDocumentReply, Refusal> {
    let document = view::document_at(state, &source, name)?;
    let document = document.ok_or_else(|| unknown_source(&source))?;
    let row = view::document(state, &document)?;
    let row = row.ok_or_else(|| unknown_document(&document))?;
    Ok(PutDocumentReply {
        document,
        source,
        title: row.taken.title,
        status: PutStatus::Unchanged,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn args(name: &str, base64: &str) -> PutDocumentArgs {
        PutDocumentArgs {
            name: name.to_owned(),
            base64: Some(base64.to_owned()),
            ..PutDocumentArgs::default()
        }
    }

    #[test]
    fn names_are_paths_below_a_folder() {
        for name in ["a", "a.md", "a b/c…d.md", "..a/b..", &"x".repeat(1024)] {
            assert!(check(&args(name, "")).is_ok(), "{name}");
        }
        let long = "x".repeat(1025);
        for name in [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\nb", "a\0", &long,
        ] {
            let refusal = check(&args(name, "")).unwrap_err();
            assert!(refusal.message.starts_with("`name` is"), "{name:?}");
        }
    }

    #[test]
    fn a_document_is_text_or_base64() {
        let mut both = args("a", "");
        both.text = Some(String::new());
        let neither = PutDocumentArgs {
            base64: None,
            ..args("a", "")
        };
        for wrong in [both, neither] {
            assert!(check(&wrong).unwrap_err().message.contains("one of"));
        }
        let read = |base64: &str| content(&mut args("a", base64), 4);
        assert_eq!(read("AQIDBA==").unwrap().bytes, [1, 2, 3, 4]);
        assert_eq!(read("AQIDBA==").unwrap().stamp.mtime, i64::MIN);
        // Content over the limit is not decoded, and padding does not count towards the length.
        assert!(
            read("AQIDBAU=")
                .unwrap_err()
                .message
                .contains("has 5 bytes; at most 4")
        );
        assert!(
            read(&"AQID".repeat(9))
                .unwrap_err()
                .message
                .contains("has 27 bytes")
        );
        for wrong in ["AQIDBA=", "AQ*D", "AQID\n", "ÄQID"] {
            let refusal = read(wrong).unwrap_err();
            assert!(
                refusal.message.contains("not valid Base64"),
                "{}",
                refusal.message
            );
        }
        let mut dated = args("a", "");
        dated.modified = Some("2026-01-31T12:00:00.000001+01:00".to_owned());
        let content_of = |args: &mut PutDocumentArgs| content(args, 4);
        assert_eq!(
            content_of(&mut dated).unwrap().stamp.mtime,
            1_769_857_200_000_001_000
        );
        let mut wrong = args("a", "");
        wrong.modified = Some("yesterday".to_owned());
        assert!(
            content_of(&mut wrong)
                .unwrap_err()
                .message
                .contains("not a valid time")
        );
    }
}
