//! `add_source`, `remove_source`, `list_sources`, `rescan`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lore::protocol::documents::{
    AddSourceArgs, AddSourceReply, FileFailure, ListSourcesArgs, ListSourcesReply,
    RemoveSourceArgs, RemoveSourceReply, RescanArgs, RescanReply, Source, SourceState,
};

use crate::clock::format_time;
use crate::documents::command::{self, UnchangedFlag, source_id, unknown_source};
use crate::documents::feature::{Documents, SourceActivity, SourceProgress};
use crate::documents::scope::scope;
use crate::documents::sources::{PathSet, Step};
use crate::documents::view::{self, SourceRow};
use crate::error::Refusal;
use crate::events::documents::SourceAdded;
use crate::hint::{Tool, hint};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;
use crate::store::Rows;

/// Limit on a path, in bytes.
const PATH_BYTES_MAX: usize = 4096;
/// Limit on a name, category or tag, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Limit on the tags or globs of a source.
const LIST_MAX: usize = 100;
/// Limit on the unreadable parts that are listed.
const WARNINGS_MAX: usize = 20;
/// Limit on the failures that are listed per source when all sources are listed.
const FAILURES_SHOWN: usize = 5;

/// `add_source`.
pub struct AddSource;

impl Op for AddSource {
    type Args = AddSourceArgs;
    type Reply = AddSourceReply;
    const NAME: &'static str = "add_source";
    const TITLE: &'static str = "Add a source of documents";
    const DESCRIPTION: &'static str = "Adds a folder or a file as a document source. Its files are ingested, searchable, and \
        followed as they change. Ignore files apply.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<AddSourceArgs>) -> Result<AddSourceReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if args.sent != Some(true) {
            cx.check_reaches_files()?;
        }
        let added = settings(args, caller.dir.as_deref())?;
        let (shared, wanted) = (Arc::clone(&cx), added);
        let (added, found) = blocking(move || preview(&shared, wanted)).await?;
        let source = source_id(&added.path);
        let (path, is_sent) = (added.path.clone(), added.sent);
        let unchanged = UnchangedFlag::default();
        let command = command::AddSource {
            source: source.clone(),
            added,
            salt: cx.engine.clock().random(),
            unchanged: unchanged.clone(),
        };
        let (position, durable, is_first) = match cx.write(&caller, claim, 0, command).await {
            Ok(outcome) => {
                let state = State::live(&cx, Some(outcome.event.position())).await?;
                let row = view::source(&state, &source)?;
                let is_first = row.is_some_and(|row| row.added_at == outcome.event.header.time);
                (outcome.event.position(), outcome.durable, is_first)
            }
            Err(_) if *unchanged.unchanged() => {
                (cx.engine.position(), cx.engine.is_durable(), false)
            }
            Err(refusal) => return Err(refusal),
        };
        let wanted = source.clone();
        Documents::of(&cx)?.want(move |want| {
            want.changed = true;
            want.sources.extend(Some(wanted).filter(|_| !is_sent));
        });
        Ok(AddSourceReply {
            source,
            path,
            found: found.files,
            created: is_first,
            position,
            durable,
            warnings: found.warnings,
        })
    }
}

/// Result of examining a source before it is ingested.
#[derive(Default)]
struct SourcePreview {
    files: u64,
    warnings: Vec<String>,
}

/// Resolves the links in a new source's path and counts its files.
fn preview(cx: &Context, mut added: SourceAdded) -> Result<(SourceAdded, SourcePreview), Refusal> {
    if added.sent {
        return Ok((added, SourcePreview::default()));
    }
    let reach = scope(cx, &added).map_err(|unusable| Refusal::invalid(unusable.to_string()))?;
    added.path = reach.path().to_string_lossy().into_owned();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut looked = SourcePreview {
        files: 0,
        warnings: reach.notice(home.as_deref()).into_iter().collect(),
    };
    for step in reach.walk(&PathSet::all()) {
        match step {
            Step::File(_) => looked.files += 1,
            Step::Folder(_) => {}
            Step::Trouble(trouble) if looked.warnings.len() < WARNINGS_MAX => looked
                .warnings
                .push(format!("{}: {}", trouble.path, trouble.reason)),
            Step::Trouble(_) => {}
        }
    }
    Ok((added, looked))
}

/// Builds the requested settings, with an absolute path.
fn settings(args: AddSourceArgs, dir: Option<&Path>) -> Result<SourceAdded, Refusal> {
    if args.path.trim().is_empty() || args.path.len() > PATH_BYTES_MAX || args.path.contains('\0') {
        return Err(Refusal::invalid(format!(
            "`path` has 1 to {PATH_BYTES_MAX} bytes and no zero byte"
        )));
    }
    let path = PathBuf::from(&args.path);
    let is_sent = args.sent == Some(true);
    if is_sent && args.path.chars().any(char::is_control) {
        return Err(Refusal::invalid("`path` has no control characters"));
    }
    let path = match (path.is_absolute() || is_sent, dir) {
        (true, _) => path,
        (false, Some(dir)) => dir.join(path),
        (false, None) => {
            return Err(Refusal::invalid(format!(
                "`path` is {path:?}, and this caller has no working directory that it could start from"
            ))
            .hint("Give an absolute path."));
        }
    };
    let names = [
        ("context_id", &args.context_id),
        ("context_name", &args.context_name),
        ("category", &args.category),
    ];
    for (argument, name) in names {
        if let Some(name) = name {
            check_name(argument, name)?;
        }
    }
    for (argument, list) in [
        ("tags", &args.tags),
        ("include", &args.include),
        ("exclude", &args.exclude),
    ] {
        if list.len() > LIST_MAX {
            return Err(Refusal::invalid(format!(
                "`{argument}` has {} entries; at most {LIST_MAX} are taken",
                list.len()
            )));
        }
        list.iter().try_for_each(|one| check_name(argument, one))?;
    }
    Ok(SourceAdded {
        path: path.to_string_lossy().into_owned(),
        context_name: args.context_name.or_else(|| args.context_id.clone()),
        context_id: args.context_id,
        category: args.category,
        tags: args.tags,
        include: args.include,
        exclude: args.exclude,
        watch: args.watch.unwrap_or(true) && !is_sent,
        sent: is_sent,
    })
}

fn check_name(argument: &str, name: &str) -> Result<(), Refusal> {
    let is_name = !name.trim().is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "`{argument}` holds texts of 1 to {NAME_BYTES_MAX} bytes without control characters"
    )))
}

/// Finds a source by its id or its path.
pub(super) fn named(
    cx: &Context,
    rows: &dyn Rows,
    source: &str,
) -> Result<(String, SourceRow), Refusal> {
    if let Some(row) = view::source(rows, source)? {
        return Ok((source.to_owned(), row));
    }
    let path = source.trim_end_matches('/');
    let real = cx.reaches_files.then(|| std::fs::canonicalize(path).ok());
    let real = real.flatten();
    let is_it = |row: &SourceRow| {
        row.added.path == path || real.as_deref() == Some(Path::new(&row.added.path))
    };
    let mut all = view::sources(rows)?;
    if let Some(at) = all.iter().position(|(_, row)| is_it(row)) {
        return Ok(all.swap_remove(at));
    }
    let shown: String = source.chars().take(200).collect();
    let refusal = unknown_source(&shown);
    if all.is_empty() {
        return Err(
            refusal.hint(hint!["There is none yet."; Tool::AddSource, " makes a folder one."])
        );
    }
    let paths: Vec<String> = all
        .iter()
        .take(10)
        .map(|(id, row)| format!("`{id}` ({})", row.added.path))
        .collect();
    Err(refusal.hint(format!("There are {}.", paths.join(", "))))
}

/// `remove_source`.
pub struct RemoveSource;

impl Op for RemoveSource {
    type Args = RemoveSourceArgs;
    type Reply = RemoveSourceReply;
    const NAME: &'static str = "remove_source";
    const TITLE: &'static str = "Remove a source of documents";
    const DESCRIPTION: &'static str = "Removes a source: its documents are no longer found. The folder and its files are not \
        changed.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<RemoveSourceArgs>) -> Result<RemoveSourceReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let state = State::live(&cx, None).await?;
        let (wanted, shared) = (args.source, Arc::clone(&cx));
        let (source, row, documents) = blocking(move || {
            let (source, row) = named(&shared, &state, &wanted)?;
            let documents = view::paths(&state, &source)?.len();
            Ok((source, row, documents as u64))
        })
        .await?;
        let command = command::RemoveSource {
            source: source.clone(),
            salt: cx.engine.clock().random(),
        };
        let outcome = cx.write(&caller, claim, 0, command).await?;
        let room = Documents::of(&cx)?;
        room.progress().remove(&source);
        room.want(|want| want.changed = true);
        Ok(RemoveSourceReply {
            source,
            path: row.added.path,
            documents,
            position: outcome.event.position(),
            durable: outcome.durable,
            warnings: Vec::new(),
        })
    }
}

/// `rescan`.
pub struct Rescan;

impl Op for Rescan {
    type Args = RescanArgs;
    type Reply = RescanReply;
    const NAME: &'static str = "rescan";
    const TITLE: &'static str = "Look through sources again";
    const DESCRIPTION: &'static str = "Scans one source, or all of them, again: changed files are ingested, and missing ones are \
        removed. `list_sources` shows the progress.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<RescanArgs>) -> Result<RescanReply, Refusal> {
        let Call { cx, args, .. } = call;
        let state = State::live(&cx, None).await?;
        let (wanted, position) = (args.source, state.position());
        let shared = Arc::clone(&cx);
        let sources = blocking(move || match wanted {
            Some(source) => {
                let (id, row) = named(&shared, &state, &source)?;
                match row.added.sent {
                    true => Err(not_looked_through(&row.added.path)),
                    false => Ok(vec![id]),
                }
            }
            None => {
                let mut all = view::sources(&state)?;
                all.retain(|(_, row)| !row.added.sent);
                Ok(all.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
            }
        })
        .await?;
        let retry = args.retry.unwrap_or(false);
        let wanted = sources.clone();
        Documents::of(&cx)?.want(move |want| {
            if retry {
                want.retry.extend(wanted.iter().cloned());
            }
            want.sources.extend(wanted);
        });
        Ok(RescanReply {
            sources,
            position,
            durable: cx.engine.is_durable(),
            warnings: Vec::new(),
        })
    }
}

fn not_looked_through(path: &str) -> Refusal {
    Refusal::invalid(format!(
        "the documents of {path} were sent: no file is looked through here"
    ))
    .hint(hint![
        "`lore docs add` sends the files of a folder again that changed.";
        Tool::PutDocument, " sends one."
    ])
}

/// `list_sources`.
pub struct ListSources;

impl Op for ListSources {
    type Args = ListSourcesArgs;
    type Reply = ListSourcesReply;
    const NAME: &'static str = "list_sources";
    const TITLE: &'static str = "List sources of documents";
    const DESCRIPTION: &'static str = "Lists the document sources: progress, whether changes are watched, and failed files with the \
        reason.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListSourcesArgs>) -> Result<ListSourcesReply, Refusal> {
        let Call { cx, args, .. } = call;
        // Read before the state, so that an idle source has all its documents counted.
        let progress = Documents::of(&cx)?.progress().clone();
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || {
            let (selected, shown) = match &args.source {
                Some(source) => (vec![named(&cx, &state, source)?], usize::MAX),
                None => (view::sources(&state)?, FAILURES_SHOWN),
            };
            let mut sources = Vec::new();
            for (id, row) in selected {
                let progress = progress.get(&id).cloned().unwrap_or_default();
                sources.push(source(&cx, &state, (id, row), progress, shown)?);
            }
            sources.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(ListSourcesReply {
                sources,
                position: state.position(),
                durable: cx.engine.is_durable(),
                warnings: Vec::new(),
            })
        })
        .await
    }
}

fn source(
    cx: &Context,
    state: &State,
    (id, row): (String, SourceRow),
    progress: SourceProgress,
    failures_shown: usize,
) -> Result<Source, Refusal> {
    let room = Documents::of(cx)?;
    let catalogue = room.catalogue(state)?;
    let (mut documents, mut chunks, mut bytes) = (0, 0, 0);
    for entry in catalogue.all().filter(|entry| entry.row.source == id) {
        documents += 1;
        chunks += u64::from(entry.row.taken.chunks);
        bytes += entry.row.taken.stamp.bytes;
    }
    let mut failures = view::failures(state, &id)?;
    let failed = failures.len() as u64;
    // The latest failures are listed, by path, because the order of failures is random.
    failures.sort_by_key(|(_, failure)| std::cmp::Reverse(failure.at));
    failures.truncate(failures_shown);
    failures.sort_by(|(one, _), (other, _)| one.cmp(other));
    let is_busy = matches!(
        progress.doing,
        SourceActivity::Scanning | SourceActivity::TakingIn
    );
    let is_sent = row.added.sent;
    Ok(Source {
        path: row.added.path,
        sent: is_sent,
        context_id: row.added.context_id,
        context_name: row.added.context_name,
        category: row.added.category,
        tags: row.added.tags,
        include: row.added.include,
        exclude: row.added.exclude,
        state: state_of(progress.doing),
        watching: match is_sent {
            true => "no: its documents are sent".to_owned(),
            false => progress.watching,
        },
        documents,
        chunks,
        bytes,
        found: progress.found,
        left: is_busy.then_some(progress.left),
        failed,
        failures: failures
            .into_iter()
            .map(|(path, failure)| FileFailure {
                path,
                reason: failure.reason,
                at: format_time(failure.at),
            })
            .collect(),
        warnings: progress.warnings,
        scanned_at: progress.scanned_at.map(format_time),
        added_at: format_time(row.added_at),
        source: id,
    })
}

fn state_of(doing: SourceActivity) -> SourceState {
    match doing {
        SourceActivity::Idle => SourceState::Idle,
        SourceActivity::Scanning => SourceState::Scanning,
        SourceActivity::TakingIn => SourceState::TakingIn,
        SourceActivity::Missing => SourceState::Missing,
    }
}
