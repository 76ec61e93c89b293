//! The `export_trace` operation: which lines of a project's files were written by which session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lore::protocol::SessionId;
use lore::protocol::trace::{
    ExportTraceArgs, ExportTraceReply, LineRange, TracedConversation, TracedFile,
};

use crate::capture::Capture;
use crate::capture::inject;
use crate::capture::intents::normal;
use crate::capture::memory::TrailEvent;
use crate::capture::trace::{WrittenText, ranges};
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::projects;
use crate::sessions;
use crate::state::State;

/// Files that are read, those of the newest edits.
const FILES_MAX: usize = 10_000;
/// Bytes of a file that is read; a larger one is left out.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The `export_trace` operation.
pub struct ExportTrace;

impl Op for ExportTrace {
    type Args = ExportTraceArgs;
    type Reply = ExportTraceReply;
    const NAME: &'static str = "export_trace";
    const TITLE: &'static str = "Trace who wrote which lines";
    const DESCRIPTION: &'static str = "Says which lines of a project's files were written by which session and agent, as far as hooks and \
        transcripts reported what was written.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ExportTraceArgs>) -> Result<ExportTraceReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = State::live(&cx, args.at_least).await?;
        let named = sessions::named_project(&cx, &state, &caller, args.project)?;
        let Some(project) = named.or_else(|| caller.project.clone()) else {
            return Err(
                Refusal::invalid("the call names no project, and the caller has none")
                    .hint("Name one, or call from within a project's folder."),
            );
        };
        if !cx.reaches_files {
            return Err(Refusal::new(
                Code::Forbidden,
                "a daemon for all users does not read the files of one",
            ));
        }
        let root = match projects::project(&state, &project)? {
            Some(row) => row.path,
            // A project that only hooks know has no row yet.
            None => caller
                .dir
                .as_deref()
                .map(|dir| dir.to_string_lossy().into_owned())
                .unwrap_or_default(),
        };
        let (shared, of, folder) = (Arc::clone(&cx), project.clone(), root.clone());
        let position = state.position();
        let (files, warnings) =
            blocking(move || traced(&shared, &state, &of, Path::new(&folder))).await?;
        Ok(ExportTraceReply {
            root,
            files,
            position,
            durable: cx.engine.is_durable(),
            project: Some(project),
            warnings,
        })
    }
}

/// A session that wrote.
struct Author {
    session: SessionId,
    agent: String,
    model: Option<String>,
}

fn traced(
    cx: &Context,
    state: &State,
    project: &str,
    root: &Path,
) -> Result<(Vec<TracedFile>, Vec<String>), Refusal> {
    let capture = Capture::of(cx)?;
    let mut authors: Vec<Author> = Vec::new();
    let mut written: Vec<(u64, WrittenText)> = Vec::new();
    for (session, _) in sessions::newest_of(state, Some(project))? {
        let Some(trail) = capture.trails.of(cx, state, &session)? else {
            continue;
        };
        let trail = lock_unpoisoned(&trail);
        let place = authors.len();
        authors.push(Author {
            session: sessions::operations::session_id(&session)?,
            agent: inject::agent_and_task(&trail).0,
            model: trail.model.clone(),
        });
        for one in &trail.happened {
            let TrailEvent::Called(call) = &one.event else {
                continue;
            };
            if call.is_failure || call.new_text.is_empty() {
                continue;
            }
            let new_text: Arc<str> = call.new_text.as_str().into();
            written.extend(call.edits.iter().map(|path| {
                let text = WrittenText {
                    path: normal(path),
                    author: place,
                    text: Arc::clone(&new_text),
                };
                (one.position.0, text)
            }));
        }
    }
    written.sort_by_key(|(position, _)| *position);
    let mut by_file: BTreeMap<PathBuf, Vec<WrittenText>> = BTreeMap::new();
    let mut newest: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for (position, text) in written {
        let path = root.join(&text.path);
        newest.insert(path.clone(), position);
        by_file.entry(path).or_default().push(text);
    }
    let mut warnings = Vec::new();
    if by_file.len() > FILES_MAX {
        warnings.push(format!(
            "{} files were edited; the {FILES_MAX} edited last are traced",
            by_file.len()
        ));
        let mut newest: Vec<(u64, PathBuf)> =
            newest.into_iter().map(|(path, at)| (at, path)).collect();
        newest.sort_unstable();
        newest.truncate(by_file.len() - FILES_MAX);
        for (_, path) in newest {
            by_file.remove(&path);
        }
    }
    let mut files = Vec::new();
    for (path, written) in by_file {
        // Only what is in the project: an agent may write anywhere.
        let Ok(within) = path.strip_prefix(root) else {
            continue;
        };
        let Some(content) = read(&path) else {
            continue;
        };
        let conversations = conversations(&authors, &written, &content);
        if !conversations.is_empty() {
            files.push(TracedFile {
                path: within.to_string_lossy().into_owned(),
                conversations,
            });
        }
    }
    Ok((files, warnings))
}

fn conversations(
    authors: &[Author],
    written: &[WrittenText],
    content: &str,
) -> Vec<TracedConversation> {
    let mut by_author: BTreeMap<usize, Vec<LineRange>> = BTreeMap::new();
    for range in ranges(written, content) {
        by_author.entry(range.author).or_default().push(LineRange {
            start_line: range.first as u64,
            end_line: range.last as u64,
        });
    }
    let found = by_author.into_iter().filter_map(|(author, ranges)| {
        let author = authors.get(author)?;
        Some(TracedConversation {
            session: author.session.clone(),
            agent: author.agent.clone(),
            model: author.model.clone(),
            ranges,
        })
    });
    found.collect()
}

/// Reads a file; `None` if it is missing, too large or not a file. A link is not followed: it may leave the project.
fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
