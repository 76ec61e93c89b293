//! Recorded payloads: results as tools return them.

use std::fmt::Write;

/// A repeatable sequence (xorshift), so that every side gets the same bytes.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

const WORDS: [&str; 24] = [
    "the", "pull", "request", "was", "merged", "into", "main", "after", "review", "login", "loop",
    "session", "token", "deploy", "failed", "retry", "build", "green", "issue", "closed", "by",
    "agent", "branch", "commit",
];

/// Returns a result of about `bytes`: a JSON object with an id, a date, an address and text.
pub fn result(random: &mut Random, bytes: usize) -> String {
    let id = 1000 + random.below(900_000);
    let day = 1 + random.below(28);
    let mut text = format!(
        r#"{{"id":{id},"state":"merged","closedDate":"2026-11-{day:02}T10:11:12Z","author":{{"email":"dev{id}@example.com"}},"url":"https://example.com/pr/{id}","title":""#
    );
    while text.len() + 2 < bytes {
        let word = WORDS.get(random.below(24) as usize).copied();
        let _ = write!(text, "{} ", word.unwrap_or_default());
    }
    text.push_str("\"}");
    text
}

/// Returns the arguments of a `record_step` into `session`, as JSON.
pub fn arguments(session: &str, result: &str) -> Vec<u8> {
    format!(
        r#"{{"session":"{session}","tool":"get_pull_request","parameters":{{"repository":"lore","number":17}},"result":{result}}}"#
    )
    .into_bytes()
}
