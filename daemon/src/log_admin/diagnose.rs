//! The `diagnose` operation: what `lored doctor` finds, from the running daemon.

use std::sync::Arc;

use lore::protocol::diagnose::{DiagnoseArgs, DiagnoseReply, HealthFinding};
use lore::protocol::status::StatusReply;

use super::status::report;
use crate::error::{Code, Refusal};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};

/// The checks of the program that serves. They read files and change nothing.
pub type HealthChecks = Arc<dyn Fn(&StatusReply) -> Vec<HealthFinding> + Send + Sync>;

/// `diagnose`.
pub struct Diagnose;

impl Op for Diagnose {
    type Args = DiagnoseArgs;
    type Reply = DiagnoseReply;
    const NAME: &'static str = "diagnose";
    const TITLE: &'static str = "Diagnose the daemon";
    const DESCRIPTION: &'static str = "Checks the daemon's settings, folders, machine, spool and followers, and returns each \
        finding with what helps.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<DiagnoseArgs>) -> Result<DiagnoseReply, Refusal> {
        let Some(checks) = call.cx.extensions.get::<HealthChecks>().cloned() else {
            let message = "this daemon does not examine itself, because it serves all users";
            return Err(Refusal::new(Code::Forbidden, message)
                .hint("An administrator can run `lored doctor`."));
        };
        let (status, _) = report(&call.cx).await?;
        let findings = blocking(move || Ok(checks(&status))).await?;
        Ok(DiagnoseReply {
            findings,
            warnings: Vec::new(),
        })
    }
}
