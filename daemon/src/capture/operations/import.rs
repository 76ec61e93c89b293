//! The `import_transcripts` operation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lore::paths::our_uid;
use lore::protocol::hooks::{
    HostTranscripts, ImportTranscriptsArgs, ImportTranscriptsReply, TranscriptFolder,
    UnknownRecords, UnreadFile,
};
use lored_hosts::Host;

use crate::capture::Capture;
use crate::capture::transcripts::{
    self, HostFiles, ImportJob, Problem, ReadCounts, Recorder, SearchedFolder,
};
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects;
use crate::sessions::fresh_id;

/// Time of one call: other callers' writes come between.
const SLICE: Duration = Duration::from_millis(700);
/// Files of one call.
const SLICE_FILES: u64 = 2000;
/// Folders of one call.
const FOLDERS_MAX: usize = 64;

/// The `import_transcripts` operation.
pub struct ImportTranscripts;

impl Op for ImportTranscripts {
    type Args = ImportTranscriptsArgs;
    type Reply = ImportTranscriptsReply;
    const NAME: &'static str = "import_transcripts";
    const TITLE: &'static str = "Import transcripts";
    const DESCRIPTION: &'static str = "Records what hosts wrote in their own transcripts: prompts, answers, tool calls, \
        compactions, of the main agent and of subagents. Works in parts: call it with `next` as long as the reply has one.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<ImportTranscriptsArgs>) -> Result<ImportTranscriptsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        check_allowed(&cx, &caller)?;
        let jobs = &Capture::of(&cx)?.imports;
        let is_dry = args.dry_run == Some(true);
        let (mut job, found) = match &args.next {
            Some(next) => {
                let job = jobs
                    .take(next, caller.actor.uid)
                    .ok_or_else(|| gone(next))?;
                (job, Vec::new())
            }
            None => begin(&cx, &caller, args).await?,
        };
        let mut reply = ImportTranscriptsReply {
            found: found.iter().map(host_transcripts).collect(),
            durable: cx.engine.is_durable(),
            position: cx.engine.position(),
            ..ImportTranscriptsReply::default()
        };
        if !is_dry {
            read_slice(&cx, &caller, &mut job, &mut reply).await?;
        }
        (reply.files, reply.bytes) = (job.files_total, job.bytes_total);
        reply.files_done = job.files_total - job.files.len() as u64;
        reply.bytes_done = job.bytes_done + job.bytes_begun;
        reply.sessions = job.sessions.len() as u64;
        reply.unread = job.problems.drain(..).map(unread).collect();
        if !is_dry && !job.files.is_empty() {
            reply.next = Some(job.id.clone());
            jobs.put(job);
        }
        Ok(reply)
    }
}

/// Refuses callers for whom the daemon must not read files.
fn check_allowed(cx: &Context, caller: &Caller) -> Result<(), Refusal> {
    cx.check_reaches_files()?;
    if caller.boxed_as.is_some() || caller.actor.uid != our_uid() {
        let message = "transcripts are imported for the user of this daemon, outside of sandboxes";
        return Err(Refusal::new(Code::Forbidden, message)
            .hint("Run `lore import --from HOST` in a terminal of that user."));
    }
    Ok(())
}

fn gone(next: &str) -> Refusal {
    Refusal::new(
        Code::NotFound,
        format!("the import `{next}` does not exist: it ended, or the daemon was restarted"),
    )
    .hint(hint![
        "Begin again without ",
        arg("next"),
        ": what was read is not read again."
    ])
}

async fn begin(
    cx: &Arc<Context>,
    caller: &Caller,
    args: ImportTranscriptsArgs,
) -> Result<(ImportJob, Vec<HostFiles>), Refusal> {
    let hosts = hosts(&args.hosts)?;
    let folders = folders(&args.folders)?;
    let id = fresh_id('i', cx.engine.clock());
    let uid = caller.actor.uid;
    let published = cx.read(None).await?;
    blocking(move || {
        let mut folders = folders;
        // aider's lie in the projects themselves.
        if hosts.contains(&Host::Aider) {
            let known = projects::folders(&published.snapshot)?.into_iter();
            folders.extend(known.map(|(_, path)| SearchedFolder {
                path: PathBuf::from(path),
                host: Some(Host::Aider),
            }));
        }
        Ok(ImportJob::begin(id, uid, &hosts, &folders))
    })
    .await
}

fn hosts(names: &[String]) -> Result<Vec<Host>, Refusal> {
    let known = transcripts::hosts;
    if names.is_empty() {
        return Ok(known().collect());
    }
    let host = |name: &String| {
        let found = known().find(|host| host.name() == name);
        found.ok_or_else(|| {
            let all: Vec<&str> = known().map(Host::name).collect();
            Refusal::invalid(format!(
                "`{name}` is not a host with transcripts; expected one of {}",
                all.join(", ")
            ))
        })
    };
    names.iter().map(host).collect()
}

fn folders(given: &[TranscriptFolder]) -> Result<Vec<SearchedFolder>, Refusal> {
    if given.len() > FOLDERS_MAX {
        return Err(Refusal::invalid(format!(
            "`folders` has {} items; {FOLDERS_MAX} are possible",
            given.len()
        )));
    }
    if given.is_empty() {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let home =
            home.ok_or_else(|| Refusal::invalid("name `folders`: the daemon has no home"))?;
        return Ok(vec![SearchedFolder {
            path: home,
            host: None,
        }]);
    }
    let folder = |given: &TranscriptFolder| {
        let path = PathBuf::from(&given.path);
        if !path.is_absolute() {
            return Err(Refusal::invalid(format!(
                "`folders` has {:?}; paths are absolute",
                given.path
            )));
        }
        let host = given.host.iter().cloned().collect::<Vec<_>>();
        Ok(SearchedFolder {
            path,
            host: match host.is_empty() {
                true => None,
                false => hosts(&host)?.first().copied(),
            },
        })
    };
    given.iter().map(folder).collect()
}

/// Reads files until the time of a call is over.
async fn read_slice(
    cx: &Arc<Context>,
    caller: &Caller,
    job: &mut ImportJob,
    reply: &mut ImportTranscriptsReply,
) -> Result<(), Refusal> {
    let recorder = Recorder::new(cx, caller);
    let mut counts = ReadCounts::default();
    let until = Instant::now() + SLICE;
    let mut files = 0;
    while let Some(file) = job.files.front()
        && files < SLICE_FILES
        && Instant::now() < until
    {
        let before = counts.bytes;
        let is_done = match recorder.read(file, until, &mut counts).await {
            Ok(is_at_end) => is_at_end,
            // The file alone cannot be read; the others are not affected.
            Err(refusal) if refusal.code == Code::NotFound => {
                job.problems.push(Problem {
                    path: file.path.clone(),
                    reason: refusal.message,
                });
                true
            }
            Err(refusal) => return Err(refusal),
        };
        job.bytes_begun += counts.bytes - before;
        if is_done {
            job.bytes_done += file.bytes;
            job.bytes_begun = 0;
            job.files.pop_front();
            files += 1;
        }
    }
    job.bytes_begun = job.bytes_begun.min(job.bytes_total - job.bytes_done);
    reply.recorded = counts.recorded;
    reply.duplicates = counts.duplicates;
    reply.left_out = counts.left_out;
    reply.too_long = counts.too_long;
    reply.unknown = unknown(&counts);
    reply.warnings.extend(counts.secrets.sentence());
    reply.position = reply.position.max(counts.position);
    job.sessions.extend(counts.sessions);
    Ok(())
}

fn unknown(counts: &ReadCounts) -> Vec<UnknownRecords> {
    let unknown = counts.unknown.iter();
    let unknown = unknown.map(|((host, kind), count)| UnknownRecords {
        host: (*host).to_owned(),
        kind: kind.clone(),
        count: *count,
    });
    unknown.collect()
}

fn host_transcripts(found: &HostFiles) -> HostTranscripts {
    let time = |ms: i64| format_time(u64::try_from(ms).unwrap_or_default() * 1000);
    HostTranscripts {
        host: found.host.name().to_owned(),
        files: found.files,
        sessions: found.sessions,
        bytes: found.bytes,
        from: found.span_ms.map(|(from, _)| time(from)),
        to: found.span_ms.map(|(_, to)| time(to)),
    }
}

fn unread(problem: Problem) -> UnreadFile {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    UnreadFile {
        path: shown(&problem.path),
        reason: problem.reason,
    }
}
