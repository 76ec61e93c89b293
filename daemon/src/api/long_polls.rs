//! The long polls of one connection. They do not count as calls in flight and delay no other call; they end with
//! the connection.

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;

use crate::operation::WaitPermit;

/// Long polls, by the ids that their connection assigned.
pub struct LongPolls {
    max: usize,
    /// Ends all long polls.
    over: CancellationToken,
    calls: HashMap<u64, CancellationToken>,
}

impl LongPolls {
    /// Creates an empty set with a limit.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self {
            max,
            over: CancellationToken::new(),
            calls: HashMap::new(),
        }
    }

    /// Registers a call as a long poll. If the limit is reached or its id is in use, it counts as an ordinary call
    /// and is refused if it would wait.
    pub fn begin(&mut self, id: u64) -> (WaitPermit, bool) {
        if self.calls.len() >= self.max || self.calls.contains_key(&id) {
            return (WaitPermit::used_up(self.max), false);
        }
        let over = self.over.child_token();
        self.calls.insert(id, over.clone());
        (WaitPermit::until(over), true)
    }

    /// Returns the number of long polls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Ends a long poll early: it answers with its current result.
    pub fn cancel(&self, id: u64) {
        if let Some(call) = self.calls.get(&id) {
            call.cancel();
        }
    }

    /// Removes an answered long poll.
    pub fn end(&mut self, id: u64) {
        self.calls.remove(&id);
    }

    /// Ends all long polls.
    pub fn end_all(&self) {
        self.over.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit holds, each long poll needs a separate id, and a slot is free again once its call has ended.
    #[test]
    fn places_to_wait_are_counted() {
        let mut waiting = LongPolls::new(2);
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
