//! The `record_hook` operation.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::join_all;
use lore::protocol::Position;
use lore::protocol::hooks::{RecordHookArgs, RecordHookReply};
use lored_hosts::{HookEvent, Host, OWN_MARKS, Observation, Observed};
use lored_redact::SecretCounts;

use super::prepare;
use crate::capture::command::RecordObservation;
use crate::capture::inject::{self, HookText, InjectionPoint};
use crate::capture::{Capture, view, whose};
use crate::engine::{KeyClaim, Outcome};
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::capture::CaptureEvent;
use crate::log::Hash;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects::{Coordination, ProjectState};
use crate::search::SearchIndexes;
use crate::state::State;

/// Larger payloads are read off the event loop, in bytes.
const INLINE_BYTES_MAX: usize = 2 << 10;
/// Age of a report after which its hook has gone, unless it says otherwise, in milliseconds.
const WAITS_MS: u64 = 100;
/// Why a person is asked before an edit.
const ASKED: &str = "Another session works on this file now; lore says which one.";
/// What the idempotency key of an observation stands for: its key alone identifies it.
const CLAIMED: &[u8] = b"record_hook";

/// The `record_hook` operation.
pub struct RecordHook;

impl Op for RecordHook {
    type Args = RecordHookArgs;
    type Reply = RecordHookReply;
    const NAME: &'static str = "record_hook";
    const TITLE: &'static str = "Record what a host reports";
    const DESCRIPTION: &'static str = "Records what the host of an agent hands to its hooks, and returns what the hook has to print. For \
        hosts, not for models.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const TAKES_BYTES: bool = true;

    async fn call(call: Call<RecordHookArgs>) -> Result<RecordHookReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        Capture::of(&cx)?.note_hook();
        inject::meaning::keep(SearchIndexes::of(&cx)?.models());
        let state = State::live(&cx, None).await?;
        let shared = Arc::clone(&cx);
        // Starts and prompts read the folder's branch; calls of tools come most often.
        let is_call = args.payload.contains("tool") || args.payload.contains("Tool");
        let is_small = is_call && args.payload.len() <= INLINE_BYTES_MAX;
        let read = move || HookReport::read(&shared, &state, &caller, args);
        let report = match is_small {
            true => read()?,
            false => blocking(read).await?,
        };
        report.record(&cx).await
    }
}

/// A payload with its observations, prepared to be recorded.
struct HookReport {
    event: HookEvent,
    /// Where text may be added; `None` if it would come too late.
    point: Option<InjectionPoint>,
    warning: Option<String>,
    caller: Caller,
    prepared: Vec<(KeyClaim, usize, RecordObservation)>,
}

impl HookReport {
    fn read(
        cx: &Context,
        state: &State,
        hook: &Caller,
        args: RecordHookArgs,
    ) -> Result<Self, Refusal> {
        let capture = Capture::of(cx)?;
        let mut found = SecretCounts::default();
        let payload = cx.redactor.json(args.payload.as_bytes(), &mut found);
        let name = args.event.as_deref().unwrap_or_default();
        let mut event = lored_hosts::read(Host::from_name(&args.host), name, &payload, &OWN_MARKS);
        let now_ms = i64::try_from(cx.engine.clock().now() / 1000).unwrap_or(i64::MAX);
        event.received_at(args.received_at.unwrap_or(now_ms));
        if let Some(status) = args.exit_status {
            event.learn_exit_status(status);
        }
        if let Some(folder) = args.folder {
            event.source.cwd.get_or_insert(folder);
        }
        if matches!(
            event.observations.first().map(|one| &one.what),
            Some(Observed::SessionStarted { .. })
        ) {
            capture.forget_folders();
        }
        let age_ms = now_ms.saturating_sub(args.received_at.unwrap_or(now_ms));
        let waits_ms = args.waits_ms.unwrap_or(WAITS_MS);
        // The clock may have been set back.
        let is_read = u64::try_from(age_ms).unwrap_or_default() <= waits_ms;
        let point = InjectionPoint::of(&event).filter(|_| is_read);
        let caller = whose::caller(cx, capture, state, hook, &event.source)?;
        whose::note(capture, hook, &event.source, caller.host_session.as_deref());
        let is_end = |one: &Observation| matches!(one.what, Observed::SessionEnded { .. });
        if event.observations.iter().any(is_end) {
            whose::note_end(capture, &event.source);
        }
        let received_at = args.received_at.unwrap_or(now_ms);
        let received_at = u64::try_from(received_at).unwrap_or_default() * 1000;
        if view::is_paused(state, caller.project.as_deref(), received_at)? {
            return Ok(Self {
                event,
                point: None,
                warning: None,
                caller,
                prepared: Vec::new(),
            });
        }
        let rules = whose::rules(cx, capture, state, caller.dir.as_deref())?;
        let point = point.filter(|_| rules.as_ref().is_none_or(|rules| rules.adds()));
        let coordination = rules.as_ref().map(|rules| rules.coordination());
        let point = point.map(|point| InjectionPoint {
            coordination: coordination.unwrap_or_default(),
            ..point
        });
        if let Some(rules) = &rules {
            event.observations.retain(|one| rules.records(one));
            for one in &mut event.observations {
                rules.limit(&mut one.what);
            }
        }
        // Hooks of hosts that give no id state the process itself.
        let process = args.process.filter(|_| hook.boxed_as.is_none());
        let process = process.or_else(|| hook.host_session.clone());
        if let Some(process) = process.as_deref().filter(|one| one.starts_with("process:")) {
            capture.host_processes.note(process);
        }
        let mut joined = match process {
            Some(process) => whose::joined(state, &caller, process)?,
            None => None,
        };
        let shared = prepare::ReportFacts {
            parent: whose::parent(state, &caller, &event.source)?,
            branch: branch(cx, &event)?,
            unknown_fields: event.unknown_fields.clone(),
        };
        let mut prepared = Vec::new();
        for observation in std::mem::take(&mut event.observations) {
            let claim = claim_of(capture, &caller, &observation);
            let command = prepare::prepare(cx, state, &caller, observation, &shared)?;
            if let Some(mut command) = command {
                command.observed.joined = joined.take();
                prepared.push((claim, command.body.bytes.len(), command));
            }
        }
        Ok(Self {
            event,
            point,
            warning: found.sentence(),
            caller,
            prepared,
        })
    }

    /// Records the observations in one group, and returns the answer for the host.
    async fn record(self, cx: &Arc<Context>) -> Result<RecordHookReply, Refusal> {
        let writes = self.prepared.into_iter().map(|(claim, bytes, command)| {
            let (cx, caller) = (Arc::clone(cx), self.caller.clone());
            async move { cx.write(&caller, Some(claim), bytes, command).await }
        });
        let mut reply = RecordHookReply {
            output: String::new(),
            recorded: 0,
            duplicates: 0,
            position: Position(0),
            durable: !cx.engine.is_in_memory(),
            warnings: self.warning.into_iter().collect(),
        };
        let outcomes = join_all(writes).await;
        // A report that was repeated was answered before: its text would be there twice.
        let is_new = matches!(outcomes.first(), Some(Ok(outcome)) if !outcome.replayed);
        let mut session = None;
        for outcome in outcomes {
            if let Ok(outcome) = &outcome {
                session.clone_from(&outcome.event.header.session);
            }
            count(&mut reply, outcome)?;
        }
        let asks = self.point.as_ref().map(|point| point.coordination) == Some(Coordination::Ask);
        let added = match (self.point, session) {
            (Some(point), Some(session)) if is_new => {
                inject::add(cx, &self.caller, point, session, reply.position).await
            }
            _ => HookText::default(),
        };
        let (host, name) = (self.event.host, self.event.name.as_str());
        let output = match asks && added.is_collision {
            true => lored_hosts::render_question(host, name, &added.text, ASKED),
            false => lored_hosts::render(host, name, &added.text),
        };
        reply.output = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(reply)
    }
}

/// Returns the branch on which a session starts or a prompt is given: between them, few agents change it.
fn branch(cx: &Context, event: &HookEvent) -> Result<Option<String>, Refusal> {
    let may_differ = event.observations.iter().any(|one| {
        matches!(
            one.what,
            Observed::SessionStarted { .. } | Observed::Prompt { .. }
        )
    });
    let folder = event.source.cwd.as_deref().filter(|_| may_differ);
    let projects = ProjectState::of(cx)?;
    Ok(folder.and_then(|folder| projects.branch_of(Path::new(folder))))
}

/// Returns the idempotency key of an observation. Without an id of the host, the key holds for a short time.
fn claim_of(capture: &Capture, caller: &Caller, observation: &Observation) -> KeyClaim {
    let key = observation.key.as_str();
    let text = match observation.key.is_exact() {
        true => key.to_owned(),
        false => {
            let at_ms = observation.source.at_ms.unwrap_or_default();
            format!("{key}@{}", capture.recent.note(key, at_ms))
        }
    };
    claim(caller, &text)
}

/// Claims a key of an observation. The log checks it with the actor of its event.
pub(in crate::capture) fn claim(caller: &Caller, text: &str) -> KeyClaim {
    // Keys with long ids are longer than those of callers may be.
    KeyClaim::new(text, &caller.actor, Hash::of(CLAIMED))
}

fn count(reply: &mut RecordHookReply, outcome: Result<Outcome, Refusal>) -> Result<(), Refusal> {
    match outcome {
        Ok(outcome) => {
            let is_repeated = matches!(outcome.meta, Event::Capture(CaptureEvent::Repeated(_)));
            match outcome.replayed || is_repeated {
                true => reply.duplicates += 1,
                false => reply.recorded += 1,
            }
            reply.position = reply.position.max(outcome.event.position());
            reply.durable &= outcome.durable;
            Ok(())
        }
        // It was recorded, and has been forgotten since: it stays forgotten.
        Err(refusal) if refusal.code == Code::NotFound => {
            reply.duplicates += 1;
            Ok(())
        }
        Err(refusal) => Err(refusal),
    }
}
