//! The `open_page` operation.

use std::time::Duration;

use lore::protocol::page::{OpenPageArgs, OpenPageReply};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{LinkRequest, PageRequests};
use crate::error::{Code, Refusal};
use crate::operation::{Access, Call, MemoryBound, Op, Operation};

/// Time for the page to open.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The operations of this module.
pub const OPERATIONS: &[Operation] = &[Operation::of::<OpenPage>()];

/// The `open_page` operation.
struct OpenPage;

impl Op for OpenPage {
    type Args = OpenPageArgs;
    type Reply = OpenPageReply;
    const NAME: &'static str = "open_page";
    const TITLE: &'static str = "Open the page";
    const DESCRIPTION: &'static str = "Returns a link to a page on which a person can look at everything that is recorded, with a \
        browser on this machine. It works once. The daemon listens on a free port of the loopback until it has had no viewer for \
        half an hour.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<OpenPageArgs>) -> Result<OpenPageReply, Refusal> {
        let gone = || Refusal::new(Code::StorageUnavailable, "the daemon is stopping");
        let Some(requests) = call.cx.extensions.get::<PageRequests>() else {
            return Err(Refusal::new(Code::Forbidden, "this daemon has no page"));
        };
        if call.caller.boxed_as.is_some() {
            let message = "the page shows everything, and a mailbox is for one session";
            return Err(Refusal::new(Code::Forbidden, message)
                .hint("A person can open it with `lore page` outside of the sandbox."));
        }
        let (reply, link) = oneshot::channel();
        let uid = call.caller.actor.uid;
        let request = LinkRequest { uid, reply };
        requests.0.send(request).await.map_err(|_| gone())?;
        let link = timeout(ANSWER_MAX, link).await.map_err(|_| {
            let seconds = ANSWER_MAX.as_secs();
            Refusal::new(
                Code::Timeout,
                format!("the page did not open within {seconds} s"),
            )
        })?;
        let url = link.map_err(|_| gone())?.map_err(Refusal::from)?;
        Ok(OpenPageReply {
            url,
            warnings: Vec::new(),
        })
    }
}
