//! Calls on a project that another user shares: they run in the owner's memory, within the owner's permissions.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use lore::protocol::Args;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint, with};
use crate::operation::{Access, Caller, Context, Operation, TenantDirectory, blocking};
use crate::projects::{self, ShareAccess};

/// Operations that a project can be shared for: the operations on its context files.
const SHARED: [&str; 8] = [
    "append_context",
    "clear_context",
    "context_history",
    "diff_context",
    "get_context",
    "get_template",
    "list_contexts",
    "update_context",
];

/// A routed call.
pub struct RoutedCall {
    /// The memory that the call uses.
    pub context: Arc<Context>,
    /// The caller.
    pub caller: Caller,
    /// Arguments with the owner's name of the project.
    pub args: Args,
    /// Keeps that memory open.
    pub stays: Option<Box<dyn Any + Send + Sync>>,
}

/// Finds the memory that a call uses: `OWNER/PROJECT` as `project_id` names another user's project.
///
/// # Errors
/// `PROJECT_NOT_FOUND` when the project does not exist, or is not shared with the caller for this operation.
/// The error does not reveal which.
pub async fn route(
    cx: &Arc<Context>,
    operation: &Operation,
    caller: Caller,
    args: Args,
) -> Result<RoutedCall, Refusal> {
    let stay = |caller, args| RoutedCall {
        context: Arc::clone(cx),
        caller,
        args,
        stays: None,
    };
    let Some(tenant_directory) = cx.extensions.get::<TenantDirectory>() else {
        return Ok(stay(caller, args));
    };
    if !SHARED.contains(&operation.name) {
        return Ok(stay(caller, args));
    }
    let Some((owner, project)) = named(&args) else {
        return Ok(stay(caller, args));
    };
    let not_found = || {
        let message = format!(
            "no project `{owner}/{project}` that user {} may {}",
            caller.actor.uid,
            match operation.access {
                Access::Read => "read",
                Access::Write => "write",
            }
        );
        Refusal::new(Code::ProjectNotFound, message).hint(hint![
            "Its owner shares it",
            with(Tool::ShareProject),
            "; the reply says how you call it."
        ])
    };
    let (uid_of, name) = (tenant_directory.uid, owner.clone());
    let uid = blocking(move || Ok(uid_of(&name).ok())).await?;
    let uid = uid.ok_or_else(not_found)?;
    if uid == caller.actor.uid {
        return Ok(stay(caller, with_project(args, &project)?));
    }
    // The reason why a memory cannot be opened would reveal that it exists.
    let found = (tenant_directory.find)(uid).await;
    let other_tenant = found.ok().flatten().ok_or_else(not_found)?;
    let published = other_tenant.context.read(None).await?;
    let wanted = match operation.access {
        Access::Read => ShareAccess::Read,
        Access::Write => ShareAccess::Write,
    };
    let granted = projects::shared_with(&published.snapshot, &project, caller.actor.uid)?;
    if granted.is_none_or(|granted| granted < wanted) {
        return Err(not_found());
    }
    Ok(RoutedCall {
        context: other_tenant.context,
        // The caller's directory has no meaning for the owner's projects and sessions.
        caller: Caller {
            dir: None,
            project: None,
            session: None,
            host_session: None,
            ..caller
        },
        args: with_project(args, &project)?,
        stays: Some(other_tenant.stays),
    })
}

/// Returns the owner and the project, when the arguments name another user's.
fn named(args: &Args) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct NamedProject<'a> {
        #[serde(borrow, default)]
        project_id: Option<Cow<'a, str>>,
    }
    let id = match args {
        Args::Json(json) => serde_json::from_slice::<NamedProject<'_>>(json)
            .ok()?
            .project_id?
            .into_owned(),
        Args::Value(value) => value.get("project_id")?.as_str()?.to_owned(),
    };
    let (owner, project) = id.split_once('/')?;
    (!owner.is_empty() && !project.contains('/')).then(|| (owner.to_owned(), project.to_owned()))
}

/// Replaces the project in the arguments with the owner's name of it.
fn with_project(args: Args, project: &str) -> Result<Args, Refusal> {
    let mut value = match args {
        Args::Value(value) => value,
        args @ Args::Json(_) => args.read::<Value>()?,
    };
    if let Some(id) = value.get_mut("project_id") {
        *id = Value::from(project);
    }
    Ok(Args::Value(value))
}
