//! The `pause_capture` and `resume_capture` operations: hooks record and add nothing for a while.

use std::sync::Arc;

use lore::protocol::hooks::{
    PauseCaptureArgs, PauseCaptureReply, ResumeCaptureArgs, ResumeCaptureReply,
};

use crate::capture::view;
use crate::clock::format_time;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::capture::{CaptureEvent, CapturePaused};
use crate::events::{Event, NewEvent, empty_body, unexpected};
use crate::hint::{Tool, hint};
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::sessions;
use crate::state::State;

/// Longest pause with an end, in milliseconds: 366 days.
const PAUSE_MS_MAX: u64 = 366 * 24 * 3_600_000;

/// The `pause_capture` operation.
pub struct PauseCapture;

impl Op for PauseCapture {
    type Args = PauseCaptureArgs;
    type Reply = PauseCaptureReply;
    const NAME: &'static str = "pause_capture";
    const TITLE: &'static str = "Pause recording";
    const DESCRIPTION: &'static str = "Pauses what hooks record and add, everywhere or in a project, for a time or until \
        `resume_capture`. What is recorded by calls continues.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<PauseCaptureArgs>) -> Result<PauseCaptureReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        if let Some(ms) = args.ms
            && (ms == 0 || ms > PAUSE_MS_MAX)
        {
            return Err(Refusal::invalid(format!(
                "`ms` is {ms}; expected 1 to {PAUSE_MS_MAX}, which is 366 days"
            )));
        }
        let state = State::live(&cx, None).await?;
        let project = sessions::named_project(&cx, &state, &caller, args.project)?;
        let clock = cx.engine.clock();
        let paused = CapturePaused {
            until: args.ms.map(|ms| clock.now().saturating_add(ms * 1000)),
        };
        let command = Switch {
            projects: vec![project],
            event: CaptureEvent::Paused(paused),
            salt: clock.random(),
        };
        let outcome = Arc::clone(&cx).write(&caller, claim, 0, command).await?;
        let Event::Capture(CaptureEvent::Paused(paused)) = &outcome.meta else {
            return Err(unexpected(&outcome.event, "a pause").into());
        };
        Ok(PauseCaptureReply {
            until: paused.until.map(format_time),
            position: outcome.event.position(),
            durable: outcome.durable,
            project: outcome.event.header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

/// The `resume_capture` operation.
pub struct ResumeCapture;

impl Op for ResumeCapture {
    type Args = ResumeCaptureArgs;
    type Reply = ResumeCaptureReply;
    const NAME: &'static str = "resume_capture";
    const TITLE: &'static str = "Resume recording";
    const DESCRIPTION: &'static str =
        "Ends pauses of what hooks record and add: of a project, or all.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ResumeCaptureArgs>) -> Result<ResumeCaptureReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = State::live(&cx, None).await?;
        let project = sessions::named_project(&cx, &state, &caller, args.project)?;
        let mut pauses = view::pauses(&state, cx.engine.clock().now())?;
        if project.is_some() {
            if let Some(everywhere) = pauses.iter().find(|pause| pause.project.is_none()) {
                return Err(Refusal::new(
                    Code::Conflict,
                    format!(
                        "recording is paused everywhere since {}, not only in this project",
                        format_time(everywhere.since)
                    ),
                )
                .hint(hint![Tool::ResumeCapture, " without a project ends it."]));
            }
            pauses.retain(|pause| pause.project == project);
        }
        let ended = pauses.len() as u64;
        if ended == 0 {
            return Ok(ResumeCaptureReply {
                ended,
                position: state.position(),
                durable: cx.engine.is_durable(),
                warnings: vec!["recording was not paused".to_owned()],
            });
        }
        let command = Switch {
            projects: pauses.into_iter().map(|pause| pause.project).collect(),
            event: CaptureEvent::Resumed,
            salt: cx.engine.clock().random(),
        };
        let outcome = Arc::clone(&cx).write(&caller, None, 0, command).await?;
        Ok(ResumeCaptureReply {
            ended,
            position: outcome.event.position(),
            durable: outcome.durable,
            warnings: Vec::new(),
        })
    }
}

/// Records a pause or its end, in these projects; `None` stands for everywhere.
struct Switch {
    projects: Vec<Option<String>>,
    event: CaptureEvent,
    salt: [u8; 16],
}

impl Command for Switch {
    fn decide(&mut self, _: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let events = self.projects.iter().map(|project| NewEvent {
            project: project.clone(),
            ..NewEvent::global(self.event.clone(), empty_body(self.salt))
        });
        Ok(events.collect())
    }
}
