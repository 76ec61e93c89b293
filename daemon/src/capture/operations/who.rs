//! The `who` operation: who works in a project now, and on which files.

use std::sync::Arc;

use lore::protocol::SessionId;
use lore::protocol::coordination::{WhoArgs, WhoReply, WorkedFile, WorkingSession};

use crate::capture::Capture;
use crate::capture::inject;
use crate::capture::intents::{Intent, intents, is_at_work};
use crate::clock::{Micros, format_time};
use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::{self, SessionSelector, operations::session_id};
use crate::state::State;

/// Files of a session that are listed.
const FILES_MAX: usize = 50;
/// Characters of a task.
const TASK_CHARS: usize = 300;

/// The `who` operation.
pub struct Who;

impl Op for Who {
    type Args = WhoArgs;
    type Reply = WhoReply;
    const NAME: &'static str = "who";
    const TITLE: &'static str = "See who works on what";
    const DESCRIPTION: &'static str = "Lists the sessions of a project that are being worked in now: agent, task, folder, branch, and \
        the files that each has changed and not committed, with those that several work on.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<WhoArgs>) -> Result<WhoReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = State::live(&cx, args.at_least).await?;
        let named = sessions::named_project(&cx, &state, &caller, args.project)?;
        let project = named.or_else(|| caller.project.clone());
        let now = cx.engine.clock().now();
        let own = SessionSelector::of(&caller, None).find_own(&state, &caller.actor, now);
        let (own, of) = (own.unwrap_or_default(), project.clone());
        let position = state.position();
        let shared = Arc::clone(&cx);
        let sessions = blocking(move || working(&shared, &state, of.as_deref(), &own, now)).await?;
        Ok(WhoReply {
            sessions,
            position,
            durable: cx.engine.is_durable(),
            project,
            warnings: Vec::new(),
        })
    }

    fn readable(reply: &WhoReply) -> Option<String> {
        Some(readable(reply))
    }
}

/// Returns the sessions of a project that are being worked in, the last active first; without a project those that have
/// none.
fn working(
    cx: &Context,
    state: &State,
    project: Option<&str>,
    own: &str,
    now: Micros,
) -> Result<Vec<WorkingSession>, Refusal> {
    let capture = Capture::of(cx)?;
    let processes = &capture.host_processes;
    let mut found: Vec<(WorkingSession, Vec<Intent>)> = Vec::new();
    for (session, _) in sessions::newest_of(state, project)? {
        let Some(trail) = capture.trails.of(cx, state, &session)? else {
            continue;
        };
        let trail = lock_unpoisoned(&trail);
        if !is_at_work(processes, &trail, now) {
            continue;
        }
        let parent = trail.parent.clone();
        let last = trail.happened.back().map_or(0, |last| last.at);
        let (agent, task) = inject::agent_and_task(&trail);
        let working = WorkingSession {
            session: session_id(&session)?,
            agent,
            own: session == own,
            parent: parent.and_then(|parent| SessionId::new(parent).ok()),
            folder: trail.folder.clone(),
            branch: trail.branch.clone(),
            task: task.map(|task| task.chars().take(TASK_CHARS).collect()),
            at: format_time(last),
            files: Vec::new(),
        };
        found.push((working, intents(processes, &trail, now)));
    }
    let holders = |path: &str, session: &SessionId| -> Vec<SessionId> {
        let others = found.iter().filter(|(one, files)| {
            one.session != *session && files.iter().any(|file| file.path == path)
        });
        others.map(|(one, _)| one.session.clone()).collect()
    };
    let sessions = found.iter().map(|(one, files)| WorkingSession {
        files: files
            .iter()
            .take(FILES_MAX)
            .map(|file| WorkedFile {
                path: file.path.clone(),
                since: format_time(file.since),
                at: format_time(file.at),
                with: holders(&file.path, &one.session),
            })
            .collect(),
        ..one.clone()
    });
    Ok(sessions.collect())
}

fn readable(reply: &WhoReply) -> String {
    if reply.sessions.is_empty() {
        return "No session is at work here.".to_owned();
    }
    let mut text = String::new();
    for one in &reply.sessions {
        let own = if one.own { " (you)" } else { "" };
        text += &format!("- {}{own}, session {}", one.agent, one.session);
        if let Some(branch) = &one.branch {
            text += &format!(", branch {branch}");
        }
        if let Some(folder) = &one.folder {
            text += &format!(", in {folder}");
        }
        if let Some(task) = &one.task {
            text += &format!(": {task}");
        }
        for file in &one.files {
            text += &format!("\n  {}", file.path);
            if !file.with.is_empty() {
                let with: Vec<&str> = file.with.iter().map(SessionId::as_str).collect();
                text += &format!(" (also {})", with.join(", "));
            }
        }
        text.push('\n');
    }
    text
}
