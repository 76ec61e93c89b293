//! The project that a call names: an id, a path in its folder, or `current` for the caller's own.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use lore::protocol::several_nearest;

use super::view::{self, SessionFilter};
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::log::{EventScope, Log, Position};
use crate::operation::{Caller, Context};
use crate::rows::until;
use crate::store::{Error, Rows};

/// The name that stands for the caller's project.
pub const CURRENT: &str = "current";
/// Number of the newest sessions whose projects are compared to find similar names.
const NEAR_AMONG: usize = 2000;
/// Limit on the projects that a refusal names.
const NAMED_MAX: usize = 5;
/// Longest part of an unknown name that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// The id and the folder of a project.
pub type ProjectFolder = (String, String);

/// Lists the projects that are registered, with or without sessions. The module of projects gives it.
#[derive(Clone, Copy)]
pub struct RegisteredProjects(pub fn(&dyn Rows) -> Result<Vec<ProjectFolder>, Error>);

/// Returns the caller's project for `current`, and any other name as it is.
///
/// # Errors
/// `PROJECT_NOT_FOUND` for `current` if the caller has no project.
pub fn current_or(caller: &Caller, named: Option<String>) -> Result<Option<String>, Refusal> {
    if named.as_deref() != Some(CURRENT) {
        return Ok(named);
    }
    let own = caller.project.clone().ok_or_else(|| {
        Refusal::new(
            Code::ProjectNotFound,
            "`current` is the project of the caller's working directory, and this caller has none",
        )
        .hint(hint![Tool::ListProjects, " lists the ids."])
    })?;
    Ok(Some(own))
}

/// Returns the project that a call names: the caller's for `current`, or another one that exists.
///
/// # Errors
/// `PROJECT_NOT_FOUND` for a project that nothing was recorded in, with similar ones.
pub fn named_project(
    cx: &Context,
    rows: &dyn Rows,
    caller: &Caller,
    named: Option<String>,
) -> Result<Option<String>, Refusal> {
    let Some(project) = current_or(caller, named)? else {
        return Ok(None);
    };
    let is_own = caller.project.as_deref() == Some(&*project);
    if is_own || exists(cx, rows, &project)? {
        return Ok(Some(project));
    }
    match at_path(cx, rows, &project)? {
        Some(project) => Ok(Some(project)),
        None => Err(unknown(cx, rows, &project)?),
    }
}

/// Returns the registered project whose folder has this absolute path or contains it: the innermost.
fn at_path(cx: &Context, rows: &dyn Rows, path: &str) -> Result<Option<String>, Error> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Ok(None);
    }
    let around = registered(cx, rows)?
        .into_iter()
        .filter(|(_, folder)| !folder.is_empty() && path.starts_with(folder));
    let innermost = around.max_by_key(|(_, folder)| folder.len());
    Ok(innermost.map(|(project, _)| project))
}

/// Returns whether a project has a session.
///
/// # Errors
/// When a row cannot be read.
pub fn has_session(rows: &dyn Rows, project: &str) -> Result<bool, Error> {
    let mut has_session = false;
    view::newest(rows, SessionFilter::Project(project), None, &mut |_, _| {
        has_session = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(has_session)
}

/// Returns whether a project is registered, has a session, or has events of its own.
fn exists(cx: &Context, rows: &dyn Rows, project: &str) -> Result<bool, Error> {
    if has_session(rows, project)?
        || registered(cx, rows)?
            .iter()
            .any(|(known, _)| known == project)
    {
        return Ok(true);
    }
    let scope = EventScope::Project(project);
    let events = Log::new(rows).stream(scope, Position(0), Position(u64::MAX - 1), 1)?;
    Ok(!events.is_empty())
}

fn registered(cx: &Context, rows: &dyn Rows) -> Result<Vec<ProjectFolder>, Error> {
    match cx.extensions.get::<RegisteredProjects>() {
        Some(RegisteredProjects(list)) => list(rows),
        None => Ok(Vec::new()),
    }
}

/// Builds the refusal for an unknown project: the similar ones, else the newest.
fn unknown(cx: &Context, rows: &dyn Rows, project: &str) -> Result<Refusal, Error> {
    let (mut newest, mut looked_at) = (Vec::new(), 0);
    view::newest(rows, SessionFilter::All, None, &mut |session, _| {
        looked_at += 1;
        if let Some(of) = view::get(rows, session)?.and_then(|row| row.project)
            && !newest.contains(&of)
        {
            newest.push(of);
        }
        Ok(until(looked_at == NEAR_AMONG))
    })?;
    for (known, _) in registered(cx, rows)? {
        if !newest.contains(&known) {
            newest.push(known);
        }
    }
    let known: BTreeSet<&str> = newest.iter().map(|known| &**known).collect();
    let mut near = several_nearest(project, known, NAMED_MAX);
    let shown: String = project.chars().take(SHOWN_CHARS_MAX).collect();
    let says = match (near.is_empty(), newest.is_empty()) {
        (_, true) => "No project exists yet.".to_owned(),
        (true, false) => {
            near = newest
                .iter()
                .take(NAMED_MAX)
                .map(|known| &**known)
                .collect();
            format!("There are {}.", quoted(&near))
        }
        (false, false) => format!("The nearest are {}.", quoted(&near)),
    };
    Ok(Refusal::new(
        Code::ProjectNotFound,
        format!("project `{shown}` not found"),
    )
    .hint(hint![
        says;
        "`current` is your own."; Tool::ListProjects, " lists the ids."
    ]))
}

fn quoted(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
