//! Steps that do not repeat, recorded at full speed.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Corpus, Home, Lored, Peer, Random, arguments};

/// Steps whose results are made of a corpus's words.
#[derive(Clone, Copy)]
pub struct Recording<'c> {
    /// The words.
    pub corpus: &'c Corpus,
    /// Words of a result; a word takes about 9.5 bytes.
    pub words: usize,
    /// Number of steps recorded before, so that others follow.
    pub from: u64,
}

impl Recording<'_> {
    /// Clients at a time.
    pub const CLIENTS: usize = 4;
    /// Calls of each in flight.
    pub const IN_FLIGHT: usize = 32;
    /// Sessions, `bench-0` and so on, that get the steps.
    pub const SESSIONS: usize = 16;

    /// Records steps and returns the time that it took.
    pub fn run(self, home: &Home, steps: usize) -> Duration {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for client in 0..Self::CLIENTS {
                scope.spawn(move || {
                    let mut to = Lored::connect(&home.socket(), "record_step", |_| true);
                    let mut bodies = self.bodies(client, steps);
                    loop {
                        let next: Vec<Vec<u8>> = bodies.by_ref().take(Self::IN_FLIGHT).collect();
                        if next.is_empty() {
                            return;
                        }
                        to.trip(&next.iter().map(Vec::as_slice).collect::<Vec<_>>());
                    }
                });
            }
        });
        began.elapsed()
    }

    /// Returns what one of the clients sends when all of them record this many steps.
    pub fn bodies(&self, client: usize, steps: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut random = Random::new(self.from * Self::CLIENTS as u64 + client as u64 + 1);
        let own = steps / Self::CLIENTS + usize::from(client < steps % Self::CLIENTS);
        (0..own).map(move |_| {
            let session = random.below(Self::SESSIONS as u64);
            let id = random.below(1 << 40);
            let text = self.corpus.words(id, self.words);
            let result = format!(
                r#"{{"id":{id},"state":"merged","url":"https://example.com/pr/{id}","title":"{text}"}}"#
            );
            arguments(&format!("bench-{session}"), &result)
        })
    }
}

/// Returns the number of events that searches do not have in their indexes yet.
pub fn search_lag(home: &Home) -> u64 {
    let status = home.call("status", "{}");
    let followers = status.get("followers").and_then(Value::as_array);
    let search = followers
        .into_iter()
        .flatten()
        .find(|one| one.get("name").and_then(Value::as_str) == Some("search"));
    search
        .and_then(|one| one.get("lag")?.as_u64())
        .expect("the status says how far search is")
}
