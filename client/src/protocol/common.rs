//! Common arguments and reply fields of operations, for generic code.

use super::{AsOf, ChosenBy, Meta, Position, SessionId};

/// Common arguments of an operation. A method returns `None` if the operation has no such argument or it is
/// absent.
pub trait CommonArgs {
    /// Returns the session to read or write.
    fn session(&self) -> Option<&SessionId> {
        None
    }
    /// Returns the log position or time to read at.
    fn as_of(&self) -> Option<&AsOf> {
        None
    }
    /// Returns the log position that a read waits for.
    fn at_least(&self) -> Option<Position> {
        None
    }
    /// Returns the fencing token of a lease.
    fn fence(&self) -> Option<Position> {
        None
    }
    /// Returns the idempotency key.
    fn key(&self) -> Option<&str> {
        None
    }
    /// Returns the calling agent.
    fn agent(&self) -> Option<&str> {
        None
    }
}

/// Common fields of a reply.
pub trait CommonReply {
    /// Returns the metadata of a reply whose structure its specification fixes.
    fn meta(&self) -> Option<Meta> {
        None
    }
    /// Sets which session was used, unless the operation sets it.
    fn set_session(&mut self, _session: &SessionId) {}
    /// Sets how the session was chosen, if the reply is about one.
    fn set_chosen_by(&mut self, _by: ChosenBy) {}
    /// Returns the list of warnings, if the reply has one.
    fn warnings(&mut self) -> Option<&mut Vec<String>> {
        None
    }
}
