//! `compact`: releases the disk space of removed rows.

use lore::protocol::log::{CompactArgs, CompactReply};

use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op};

/// `compact`.
pub struct Compact;

impl Op for Compact {
    type Args = CompactArgs;
    type Reply = CompactReply;
    const NAME: &'static str = "compact";
    const TITLE: &'static str = "Give disk space back";
    const DESCRIPTION: &'static str = "Frees the disk space of removed data: its bytes are gone from tables and journal before the \
        reply. Other calls continue meanwhile.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<CompactArgs>) -> Result<CompactReply, Refusal> {
        let cx = call.cx;
        let done = cx.engine.compact().await?;
        Ok(CompactReply {
            bytes_before: done.bytes_before,
            bytes_after: done.bytes_after,
            took_ms: u64::try_from(done.took.as_millis()).unwrap_or(u64::MAX),
            position: cx.read(None).await?.tail.position,
            durable: cx.engine.is_durable(),
            warnings: done.warnings,
        })
    }
}
