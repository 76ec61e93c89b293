//! Background jobs for users of a system-wide daemon who are not connected: retention rules are applied and
//! forgotten data is erased, whether or not the user ever connects again.

use std::sync::Arc;

use super::tenants::Tenants;
use crate::background_jobs;
use crate::clock::{Clock, Micros};
use crate::error::{Code, Refusal};
use crate::operation::blocking;

/// Visits each user's memory some time after the start, to finish interrupted work, and then at the retention
/// interval if there are retention rules.
pub async fn run(tenants: &Arc<Tenants>) {
    tokio::time::sleep(background_jobs::RETAIN_FIRST).await;
    let mut is_first = true;
    loop {
        let is_any = tenants.shared().lives.retention.get().is_any();
        if (is_first || is_any)
            && let Err(error) = round(tenants, Clock::System.now()).await
        {
            tracing::warn!(%error, "the users' memories are not known");
        }
        is_first = false;
        tokio::time::sleep(background_jobs::RETAIN_TICK).await;
    }
}

/// Visits each memory once for the work that is due; one that does not open is retried in the next round.
pub(super) async fn round(tenants: &Arc<Tenants>, now: Micros) -> Result<(), Refusal> {
    let all = Arc::clone(tenants);
    let known = blocking(move || {
        let known = all.known();
        known.map_err(|error| Refusal::new(Code::StorageUnavailable, error.to_string()))
    });
    for uid in known.await? {
        let rules = *tenants.shared().lives.retention.get();
        let visited = tenants.visit(uid, |context| async move {
            background_jobs::while_absent(&context, rules, now).await;
        });
        if let Err(error) = visited.await {
            tracing::warn!(uid, %error, "a user's memory was not looked after");
        }
    }
    Ok(())
}
