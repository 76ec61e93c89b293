//! The arguments and the reply fields that operations have in common, as generic code reads them.
//!
//! `#[wire(args(...))]` and `#[wire(reply(...))]` declare them and implement these traits.

use super::{AsOf, Meta, Position, SessionId};

/// The common arguments of an operation; `None` where it has none of the kind, or it was not given.
pub trait CommonArgs {
    /// The session that is read or written.
    fn session(&self) -> Option<&SessionId> {
        None
    }
    /// The moment that is read.
    fn as_of(&self) -> Option<&AsOf> {
        None
    }
    /// The position that a read waits for.
    fn at_least(&self) -> Option<Position> {
        None
    }
    /// The token of a lease.
    fn fence(&self) -> Option<Position> {
        None
    }
    /// The idempotency key.
    fn key(&self) -> Option<&str> {
        None
    }
    /// The agent that acts.
    fn agent(&self) -> Option<&str> {
        None
    }
}

/// The common fields of a reply.
pub trait CommonReply {
    /// What is reported beside a reply whose shape its source fixes.
    fn meta(&self) -> Option<Meta> {
        None
    }
    /// What the caller should know, where the reply has a place for it.
    fn warnings(&mut self) -> Option<&mut Vec<String>> {
        None
    }
}
