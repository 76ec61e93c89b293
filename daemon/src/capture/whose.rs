//! Whose session an observation belongs to: that of the host's conversation, a subagent's own, in the folder's project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lore::host_session::is_host_session;
use lore::paths::our_uid;
use lored_hosts::{Host, Source};

use super::Capture;
use super::rules::CaptureRules;
use crate::error::{Code, Refusal};
use crate::log::{Actor, Hash};
use crate::operation::{AGENT_BYTES_MAX, Caller, Context};
use crate::projects::{CaptureTable, ProjectState};
use crate::sessions::{self, HostSession};
use crate::state::State;

/// Agents of a subagent's session among which its own is.
const AGENTS_MAX: usize = 8;
/// Longest id that stands in a host session as it is, in bytes; a longer one is hashed.
const ID_BYTES_MAX: usize = 100;

/// Returns the caller that an observation is recorded for.
///
/// Reads the file system for a folder that is new; do not call it on the event loop.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn caller(
    cx: &Context,
    capture: &Capture,
    state: &State,
    hook: &Caller,
    source: &Source,
) -> Result<Caller, Refusal> {
    if let Some(id) = &hook.boxed_as {
        return boxed(hook, source, id);
    }
    let dir = source.cwd.as_ref().map(PathBuf::from);
    let dir = dir.filter(|dir| dir.is_absolute());
    let (dir, project) = match dir {
        Some(dir) if hook.dir.as_ref() != Some(&dir) => {
            let rules = rules(cx, capture, state, Some(&dir))?;
            (Some(dir), rules.and_then(|rules| rules.project.clone()))
        }
        _ => (hook.dir.clone(), hook.project.clone()),
    };
    let host_session = named(hook, source)
        .or_else(|| host_session(source))
        .or_else(|| hook.host_session.clone());
    let mut caller = Caller {
        actor: actor(hook, source),
        dir,
        project,
        session: None,
        host_session,
        default_key: None,
        ..hook.clone()
    };
    if source.agent.is_some()
        && let Some(known) = known_agent(state, &caller, source.host)?
    {
        caller = caller.with_agent(Some(&known))?;
    }
    Ok(caller)
}

/// Returns the agent of a subagent's session, if it has one. A hook and a transcript may name its kind differently, or not at
/// all, and keys are those of one agent.
fn known_agent(state: &State, caller: &Caller, host: Host) -> Result<Option<String>, Refusal> {
    let Some(session) = sessions::of_host(state, &HostSession::of(caller).hash())? else {
        return Ok(None);
    };
    let agents = sessions::agents(state, &session, AGENTS_MAX)?.into_iter();
    let mut its = agents.filter(|agent| agent.split('/').next() == Some(host.name()));
    Ok(its.next())
}

fn actor(hook: &Caller, source: &Source) -> Arc<Actor> {
    Arc::new(Actor {
        agent: agent(source),
        ..(*hook.actor).clone()
    })
}

/// Notes the host session of a hook, so that its mailbox is served.
pub(super) fn note(capture: &Capture, hook: &Caller, source: &Source, stated: Option<&str>) {
    if hook.boxed_as.is_some() || source.agent.is_some() || hook.actor.uid != our_uid() {
        return;
    }
    if let (Some(id), Some(stated)) = (host_session(source), stated) {
        let folder = source.cwd.as_ref().map(Path::new);
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder = folder.or(hook.dir.as_deref());
        capture.host_sessions.note(&id, stated, folder);
    }
}

/// Notes the end of a host session: its mailbox is not needed any more.
pub(super) fn note_end(capture: &Capture, source: &Source) {
    if source.agent.is_none()
        && let Some(id) = host_session(source)
    {
        capture.host_sessions.note_end(&id);
    }
}

/// Returns the caller for a report from a sandbox: its own host session or a subagent of it, in its folder.
fn boxed(hook: &Caller, source: &Source, id: &str) -> Result<Caller, Refusal> {
    let host_session = match host_session(source) {
        None => hook.host_session.clone(),
        Some(said) if said == id => hook.host_session.clone(),
        Some(said)
            if said
                .strip_prefix(id)
                .is_some_and(|rest| rest.starts_with("/agent-")) =>
        {
            Some(said)
        }
        Some(_) => {
            let message = "a hook in a sandbox reports about its own session only";
            return Err(Refusal::new(Code::Forbidden, message));
        }
    };
    Ok(Caller {
        actor: actor(hook, source),
        session: None,
        host_session,
        default_key: None,
        ..hook.clone()
    })
}

/// Returns what is recorded in a caller's folder; `None` without one.
///
/// Reads the file system for a folder that is new; do not call it on the event loop.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn rules(
    cx: &Context,
    capture: &Capture,
    state: &State,
    dir: Option<&Path>,
) -> Result<Option<Arc<CaptureRules>>, Refusal> {
    let find = |dir: &Path, settings: &CaptureTable| {
        let place = ProjectState::of(cx)?.place_in(state, dir)?;
        Ok(CaptureRules::new(settings, place.as_ref()))
    };
    dir.map(|dir| capture.rules(dir, |settings| find(dir, settings)))
        .transpose()
}

/// Returns the host session of a host's process that is to become the caller's, if it is not yet.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn joined(
    state: &State,
    caller: &Caller,
    process: String,
) -> Result<Option<String>, Refusal> {
    let is_process = process.starts_with("process:") && is_host_session(&process);
    if !is_process || caller.host_session.as_ref() == Some(&process) {
        return Ok(None);
    }
    let own = HostSession::of(caller).hash();
    let project = caller.project.as_deref();
    let its = HostSession::new(process.clone(), caller.actor.uid, project).hash();
    let its = sessions::of_host(state, &its)?;
    let is_same = its.is_some() && its == sessions::of_host(state, &own)?;
    Ok((!is_same).then_some(process))
}

/// Returns the session here that the session of a subagent belongs to, if it is known.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn parent(
    state: &State,
    caller: &Caller,
    source: &Source,
) -> Result<Option<String>, Refusal> {
    let parent = match (&source.agent, &source.parent_session) {
        (Some(_), _) => Source {
            agent: None,
            ..source.clone()
        },
        (None, Some(parent)) if caller.boxed_as.is_none() => Source {
            session: Some(parent.clone()),
            ..source.clone()
        },
        (None, _) => return Ok(None),
    };
    let Some(text) = host_session(&parent) else {
        return Ok(None);
    };
    let host = HostSession::new(text, caller.actor.uid, caller.project.as_deref());
    Ok(sessions::of_host(state, &host.hash())?)
}

/// Returns the name of the agent: the host's, with the subagent's kind.
fn agent(source: &Source) -> String {
    let mut name = source.host.name().to_owned();
    if let Some(subagent) = &source.agent {
        let kind = subagent.kind.trim();
        let kind = if kind.is_empty() { "subagent" } else { kind };
        name.push('/');
        name.extend(kind.chars().filter(|c| !c.is_control()));
    }
    name.truncate(name.floor_char_boundary(AGENT_BYTES_MAX));
    name
}

/// Returns the session that `LORE_SESSION` names: it wins over the host's, except for subagents, which have their own.
fn named(hook: &Caller, source: &Source) -> Option<String> {
    let stated = hook.host_session.as_deref()?;
    let is_named = stated.starts_with("session:") && source.agent.is_none();
    is_named.then(|| stated.to_owned())
}

/// Returns the host session of an observation, in the form in which bridges and commands state it.
pub(super) fn host_session(source: &Source) -> Option<String> {
    let session = source.session.as_deref().filter(|id| !id.is_empty())?;
    let mut text = format!("{}:{}", kind(source.host), id(session));
    if let Some(subagent) = &source.agent {
        text.push_str("/agent-");
        text.push_str(&id(&subagent.id));
    }
    Some(text)
}

/// Returns the kind of a host's sessions: that of the variable in which it tells their ids.
const fn kind(host: Host) -> &'static str {
    match host {
        Host::ClaudeCode => "claude",
        _ => host.name(),
    }
}

/// Returns an id as a part of a host session: hosts may send any text.
fn id(id: &str) -> String {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain && id.len() <= ID_BYTES_MAX {
        return id.to_owned();
    }
    let hash = Hash::of(id.as_bytes()).to_string();
    format!("~{}", hash.get(..32).unwrap_or(&hash))
}

#[cfg(test)]
mod tests {
    use lored_hosts::Subagent;

    use super::*;

    fn source(host: Host, session: &str, agent: Option<&str>) -> Source {
        Source {
            host,
            session: Some(session.to_owned()),
            parent_session: None,
            agent: agent.map(|id| Subagent {
                id: id.to_owned(),
                kind: "Explore\n".to_owned(),
            }),
            turn: None,
            cwd: None,
            at_ms: None,
        }
    }

    #[test]
    fn a_hook_states_the_session_as_bridges_do() {
        for (host, kind) in [
            (Host::ClaudeCode, "claude"),
            (Host::Codex, "codex"),
            (Host::GeminiCli, "gemini"),
            (Host::QwenCode, "qwen"),
            (Host::CopilotCli, "copilot"),
        ] {
            let stated = host_session(&source(host, "s-1", None));
            assert_eq!(stated, Some(format!("{kind}:s-1")));
        }
        let of_agent = source(Host::ClaudeCode, "s-1", Some("a1"));
        assert_eq!(
            host_session(&of_agent).as_deref(),
            Some("claude:s-1/agent-a1")
        );
        assert_eq!(agent(&of_agent), "claude-code/Explore");
        assert_eq!(host_session(&source(Host::Codex, "", None)), None);
    }

    #[test]
    fn any_id_makes_a_host_session_of_the_right_form() {
        for odd in ["a b", "a\u{7}", "é", &"x".repeat(10_000)] {
            let stated = host_session(&source(Host::OpenCode, odd, Some(odd))).unwrap_or_default();
            assert!(is_host_session(&stated), "{stated}");
        }
    }
}
