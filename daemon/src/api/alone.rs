//! One call without a connection: its answer is one frame.

use lore::protocol::frame;
use lore::protocol::{Args, Code, ErrorBody};

use super::dispatch::{Dispatch, within};
use super::hints::Reader;
use super::operations::TABLE;
use crate::error::Refusal;
use crate::operation::{Access, Caller};

/// A call without a connection.
#[derive(Debug)]
pub struct LoneCall {
    /// Its number, repeated in the answer.
    pub id: u64,
    /// Name of the operation.
    pub name: String,
    /// Arguments.
    pub args: Args,
}

impl LoneCall {
    /// Returns whether it changes nothing.
    #[must_use]
    pub fn is_read(&self) -> bool {
        TABLE
            .get(self.name.as_str())
            .is_some_and(|operation| operation.access == Access::Read)
    }

    /// Carries it out and returns the frame of the answer, of at most `bytes_max` bytes.
    pub async fn answer(self, dispatch: &Dispatch, caller: Caller, bytes_max: usize) -> Vec<u8> {
        let Self { id, name, args } = self;
        let reader = Reader::of(&caller.actor.client);
        let answer = within(bytes_max, dispatch.call(caller, &name, args).await);
        let mut bytes = Vec::new();
        match answer {
            Ok(reply) => {
                // Metadata consists of numbers and strings, so it always encodes.
                let meta = reply.meta.as_ref();
                let meta = meta.and_then(|meta| serde_json::to_vec(meta).ok());
                let json = reply.json.get().as_bytes();
                frame::encode_answer(&mut bytes, id, json, meta.as_deref());
            }
            Err(refusal) => {
                let body = reader.body(&refusal, Some(&name));
                frame::encode_error(&mut bytes, Some(id), &body);
            }
        }
        bytes
    }
}

/// Returns the frame of an answer that refuses.
#[must_use]
pub fn refused(id: Option<u64>, refusal: &Refusal) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::encode_error(&mut bytes, id, &refusal.to_body());
    bytes
}

/// Returns the frame of an answer for a request that cannot be read.
#[must_use]
pub fn unreadable(why: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let body = ErrorBody::new(
        Code::InvalidInput,
        format!("the request cannot be read: {why}"),
    );
    frame::encode_error(&mut bytes, None, &body);
    bytes
}
