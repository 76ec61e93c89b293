//! What is done for the users of a system-wide daemon who are not connected: what the rules of retention mean is
//! forgotten, and what was forgotten is erased, whether or not its user ever comes again.

use std::sync::Arc;

use super::tenants::Tenants;
use crate::background_jobs;
use crate::clock::{Clock, Micros};
use crate::error::{Code, Refusal};
use crate::operation::blocking;

/// Goes to each user's memory a while after the start, to end what an earlier daemon was kept from, and then as often
/// as rules of retention are carried out, if there are any.
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

/// Goes to each once, for what is due at a moment; one that does not open is left for the next time.
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
