//! The calls of one connection that wait for what is to come. They stand beside the calls in flight
//! and hold up no others; what ends the connection ends them, too.

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;

use crate::operation::WaitPermit;

/// Calls that wait, by the ids that their connection gave them.
pub struct WaitingCalls {
    max: usize,
    /// Ends all of them.
    over: CancellationToken,
    calls: HashMap<u64, CancellationToken>,
}

impl WaitingCalls {
    /// None yet, and at most so many.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self {
            max,
            over: CancellationToken::new(),
            calls: HashMap::new(),
        }
    }

    /// One more, which may wait unless there are too many or its id is in use: then it counts as
    /// any other call, and is refused if it would wait.
    pub fn begin(&mut self, id: u64) -> (WaitPermit, bool) {
        if self.calls.len() >= self.max || self.calls.contains_key(&id) {
            return (WaitPermit::used_up(self.max), false);
        }
        let over = self.over.child_token();
        self.calls.insert(id, over.clone());
        (WaitPermit::until(over), true)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// The caller gives this one up: it answers with what it has.
    pub fn cancel(&self, id: u64) {
        if let Some(call) = self.calls.get(&id) {
            call.cancel();
        }
    }

    /// This one was answered.
    pub fn end(&mut self, id: u64) {
        self.calls.remove(&id);
    }

    /// Nobody waits any longer.
    pub fn end_all(&self) {
        self.over.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many may wait, each under an id of its own; a place is free again once its call has
    /// ended.
    #[test]
    fn places_to_wait_are_counted() {
        let mut waiting = WaitingCalls::new(2);
        let (first, true) = waiting.begin(1) else {
            panic!("there is room")
        };
        assert!(!waiting.begin(1).1, "the id is in use");
        let (second, true) = waiting.begin(2) else {
            panic!("there is room")
        };
        let (third, false) = waiting.begin(3) else {
            panic!("there is none")
        };
        assert!(first.check().is_ok() && third.check().is_err());
        waiting.cancel(1);
        assert!(first.is_over() && !second.is_over());
        waiting.end(1);
        assert!(waiting.begin(3).1);
        waiting.end_all();
        assert!(second.is_over() && waiting.len() == 2);
    }
}
