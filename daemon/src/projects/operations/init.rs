//! `init_project`.

use std::path::Path;
use std::sync::Arc;

use lore::protocol::projects::{InitProjectArgs, InitProjectReply};

use super::{known, unidentified};
use crate::engine::KeyClaim;
use crate::error::Refusal;
use crate::log::LoggedEvent;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects::command::{InitialiseProject, NoOpReason, ProjectSubject, Report};
use crate::projects::feature::ProjectState;
use crate::projects::location::ProjectLocation;
use crate::projects::view;
use crate::state::State;

const NAME_BYTES_MAX: usize = 256;

/// `init_project`.
pub struct InitProject;

impl Op for InitProject {
    type Args = InitProjectArgs;
    type Reply = InitProjectReply;
    const NAME: &'static str = "init_project";
    const TITLE: &'static str = "Make a directory a project";
    const DESCRIPTION: &'static str = "Makes a directory a project with its own context files. All worktrees of a repository are \
        one project; different directories of the same name are different projects.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<InitProjectArgs>) -> Result<InitProjectReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(name) = &args.name {
            check_name(name)?;
        }
        let place = place(&cx, &caller, args.path).await?;
        initialise(&cx, &caller, place, args.name, claim).await
    }
}

async fn place(
    cx: &Arc<Context>,
    caller: &Caller,
    path: String,
) -> Result<ProjectLocation, Refusal> {
    let (cx, dir) = (Arc::clone(cx), caller.dir.clone());
    let state = State::live(&cx, None).await?;
    blocking(move || {
        let room = ProjectState::of(&cx)?;
        let path = room.directory(&path)?;
        let path = match (path.is_absolute(), dir) {
            (true, _) => path,
            (false, Some(dir)) => dir.join(path),
            (false, None) => {
                return Err(Refusal::invalid(format!(
                    "`path` is {path:?}, and this caller has no working directory that it could start from"
                ))
                .hint("Give an absolute path."));
            }
        };
        let place = room.own_place_in(&state, &path)?.ok_or_else(|| {
            Refusal::invalid(format!("directory {path:?} not found"))
                .hint("Give the path of a directory that exists and can be read.")
        })?;
        match place.is_identified() {
            true => Ok(place),
            false => Err(Refusal::invalid(unidentified(&place)).hint(
                "Give the path of a project's own folder. To make this folder a project all the same, write a \
                 `.lore.toml` with an `id` there.",
            )),
        }
    })
    .await
}

async fn initialise(
    cx: &Arc<Context>,
    caller: &Caller,
    place: ProjectLocation,
    name: Option<String>,
    claim: Option<KeyClaim>,
) -> Result<InitProjectReply, Refusal> {
    let clock = cx.engine.clock();
    let known = known(&place, name);
    let (name, report) = (known.initialised.name.clone(), Report::default());
    let command = InitialiseProject {
        subject: ProjectSubject {
            project: place.project.clone(),
            known: Some(known),
            salts: [clock.random(), clock.random()],
        },
        report: report.clone(),
    };
    let outcome = cx.write(caller, claim, 0, command).await;
    let (position, durable, created) = match outcome {
        Ok(outcome) => {
            let created = is_first(cx, &place.project, &outcome.event).await?;
            (outcome.event.position(), outcome.durable, created)
        }
        Err(refusal) => match report.outcome().take() {
            Some(NoOpReason::Unchanged) => (cx.engine.position(), cx.engine.is_durable(), false),
            Some(NoOpReason::Stale(_)) | None => return Err(refusal),
        },
    };
    let fault = place.marker_fault;
    Ok(InitProjectReply {
        context_path: sanitized(&ProjectState::of(cx)?.folder_of(&place.project)),
        project: place.project,
        name,
        path: sanitized(&place.path),
        created,
        worktree: sanitized(&place.root),
        branch: place.branch,
        position,
        durable,
        warnings: fault
            .map(|fault| format!("the project's marker is not in force: {fault}"))
            .into_iter()
            .collect(),
    })
}

/// Returns whether this event made the project known, in this call or in the call that it repeats.
async fn is_first(cx: &Arc<Context>, project: &str, event: &LoggedEvent) -> Result<bool, Refusal> {
    let state = State::live(cx, Some(event.position())).await?;
    let project = project.to_owned();
    let row = blocking(move || Ok(view::project(&state, &project)?)).await?;
    Ok(row.is_some_and(|row| row.created_at == event.header.happened_at()))
}

fn sanitized(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let is_name = !name.trim().is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "`name` has 1 to {NAME_BYTES_MAX} bytes and no control characters"
    )))
}
