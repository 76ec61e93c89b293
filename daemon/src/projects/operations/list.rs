//! `list_projects`.

use std::cmp::Reverse;
use std::path::Path;

use lore::protocol::projects::{ListProjectsArgs, ListProjectsReply, Project, Worktree};

use super::types_of;
use crate::clock::format_time;
use crate::error::Refusal;
use crate::operation::cursor::{Cursor, List, list_limit};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects::feature::ProjectState;
use crate::projects::view::{self, ProjectRow};
use crate::state::State;

const LIMIT: u64 = 100;
const LIMIT_MAX: u64 = 500;

/// `list_projects`.
pub struct ListProjects;

impl Op for ListProjects {
    type Args = ListProjectsArgs;
    type Reply = ListProjectsReply;
    const NAME: &'static str = "list_projects";
    const TITLE: &'static str = "List projects";
    const DESCRIPTION: &'static str = "Lists the projects, the most recently changed first, with their directories, worktrees and \
        branches.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ListProjectsArgs>) -> Result<ListProjectsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = list_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || page(&cx, &caller, &state, args.next.as_deref(), limit)).await
    }
}

fn page(
    cx: &Context,
    caller: &Caller,
    state: &State,
    next: Option<&str>,
    limit: usize,
) -> Result<ListProjectsReply, Refusal> {
    let mut all = view::projects(state)?;
    all.sort_by(|(a, one), (b, other)| {
        (Reverse(one.updated_at), a).cmp(&(Reverse(other.updated_at), b))
    });
    let store = cx.engine.store_id();
    let from = match next {
        None => 0,
        Some(next) => {
            let cursor = Cursor::read(next, "next", List::Projects, store, state.position())?;
            let is_last = |(project, _): &(String, ProjectRow)| project.as_bytes() == cursor.key;
            all.iter().position(is_last).map_or(all.len(), |at| at + 1)
        }
    };
    let is_more = all.len() > from + limit;
    let page: Vec<(String, ProjectRow)> = all.into_iter().skip(from).take(limit).collect();
    let next = page.last().filter(|_| is_more).map(|(project, _)| {
        Cursor::behind_row(project.as_bytes(), state.position()).text(List::Projects, store)
    });
    let reported = page
        .into_iter()
        .map(|(id, row)| project(cx, state, id, row));
    Ok(ListProjectsReply {
        projects: reported.collect::<Result<_, _>>()?,
        current: caller.project.clone(),
        next,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings: Vec::new(),
    })
}

fn project(cx: &Context, state: &State, id: String, row: ProjectRow) -> Result<Project, Refusal> {
    let room = ProjectState::of(cx)?;
    let place = room
        .place_in(state, Path::new(&row.path))?
        .filter(|place| place.project == id);
    let files = view::files(state, &id)?.into_iter();
    let worktrees = view::worktrees(state, &id)?.into_iter();
    Ok(Project {
        context_path: room.folder_of(&id).to_string_lossy().into_owned(),
        contexts: files
            .filter(|(_, row)| row.is_written())
            .map(|(file_type, _)| file_type)
            .collect(),
        templates: types_of(&room.templates(place.as_ref()))
            .into_iter()
            .collect(),
        worktrees: worktrees
            .map(|(path, row)| Worktree {
                path,
                branch: row.branch,
                noted_at: format_time(row.noted_at),
            })
            .collect(),
        name: row.name,
        path: row.path,
        created_at: format_time(row.created_at),
        updated_at: format_time(row.updated_at),
        project: id,
    })
}
