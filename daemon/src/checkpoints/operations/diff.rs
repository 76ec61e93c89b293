//! `workflow_checkpoint_diff`.

use lore::protocol::RawJson;
use lore::protocol::checkpoints::{DiffArgs, DiffReply, Difference};

use super::{StoredCheckpoint, meta_of_read};
use crate::checkpoints::difference;
use crate::error::{Code, Refusal};
use crate::operation::cursor::page_limit;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::state::State;

const LIMIT: u64 = 1000;
const LIMIT_MAX: u64 = 10_000;

pub struct Diff;

impl Op for Diff {
    type Args = DiffArgs;
    type Reply = DiffReply;
    const NAME: &'static str = "workflow_checkpoint_diff";
    const TITLE: &'static str = "Compare two checkpoints";
    const DESCRIPTION: &'static str =
        "Compares two checkpoints: values added, removed and changed, by JSON Pointer.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<DiffArgs>) -> Result<DiffReply, Refusal> {
        let Call { cx, args, .. } = call;
        let limit = page_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || {
            let from = StoredCheckpoint::of(&state, &args.from)?;
            let to = StoredCheckpoint::of(&state, &args.to)?;
            let old = from.context(&cx, &state)?;
            let new = to.context(&cx, &state)?;
            let found = difference(&old.text, &new.text, limit);
            let mut reply = DiffReply {
                from: from.checkpoint_id()?,
                to: to.checkpoint_id()?,
                added: Vec::new(),
                removed: Vec::new(),
                changed: Vec::new(),
                left_out: (found.left_out > 0).then_some(found.left_out as u64),
                meta: Some(meta_of_read(&cx, &state, Vec::new())),
            };
            for change in found.changes {
                let list = match (change.old, change.new) {
                    (None, _) => &mut reply.added,
                    (Some(_), None) => &mut reply.removed,
                    (Some(_), Some(_)) => &mut reply.changed,
                };
                list.push(Difference {
                    path: change.pointer,
                    old: change.old.map(json).transpose()?,
                    new: change.new.map(json).transpose()?,
                });
            }
            Ok(reply)
        })
        .await
    }
}

fn json(text: &str) -> Result<RawJson, Refusal> {
    RawJson::parse(text.to_owned()).map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
}
