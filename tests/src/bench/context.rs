//! Slowly changing contexts, as agents save them step by step.

use std::fmt::Write;

use super::payload::Random;

/// Approximate size of a message and of a state entry, in bytes.
const MESSAGE_BYTES: usize = 900;
const ENTRY_BYTES: usize = 72;
const PLAN_STEPS: usize = 20;

/// A context: messages, a map of short strings, a plan, and the number of the step.
///
/// Messages make up eight of ten bytes. Values are stored as JSON, so that a step is cheap.
#[derive(Debug, Clone)]
pub struct Context {
    random: Random,
    messages: Vec<String>,
    state: Vec<String>,
    step: usize,
}

impl Context {
    /// Creates a context of about `bytes`, the same for the same seed.
    pub fn new(seed: u64, bytes: usize) -> Self {
        let mut random = Random::new(seed);
        let messages = (bytes * 8 / 10 / MESSAGE_BYTES).max(1);
        let messages = (0..messages).map(|n| message(&mut random, n)).collect();
        let state = (bytes * 2 / 10 / ENTRY_BYTES).max(1);
        let state = (0..state).map(|n| entry(&mut random, n)).collect();
        Self {
            random,
            messages,
            state,
            step: 0,
        }
    }

    /// Rewrites about one hundredth of the context, at random places.
    pub fn step(&mut self) {
        self.step += 1;
        let bytes: usize = self
            .messages
            .iter()
            .chain(&self.state)
            .map(String::len)
            .sum();
        let mut left = (bytes / 100) as i64;
        while left > 0 {
            // A message if most of one is left to rewrite, entries for the rest.
            let is_message = left > MESSAGE_BYTES as i64 * 2 / 3;
            let (list, make): (_, fn(&mut Random, usize) -> String) = if is_message {
                (&mut self.messages, message)
            } else {
                (&mut self.state, entry)
            };
            let place = self.random.below(list.len() as u64) as usize;
            let new = make(&mut self.random, place);
            left -= new.len() as i64;
            if let Some(old) = list.get_mut(place) {
                *old = new;
            }
        }
    }

    /// Returns the context as JSON.
    pub fn json(&self) -> String {
        let plan: Vec<String> = (0..PLAN_STEPS)
            .map(|n| format!(r#"{{"task":{n},"done":false}}"#))
            .collect();
        format!(
            r#"{{"messages":[{}],"state":{{{}}},"plan":[{}],"step":{}}}"#,
            self.messages.join(","),
            self.state.join(","),
            plan.join(","),
            self.step
        )
    }
}

fn message(random: &mut Random, number: usize) -> String {
    const ROLES: [&str; 3] = ["user", "assistant", "tool"];
    let role = ROLES.get(random.below(3) as usize).copied();
    let mut json = format!(
        r#"{{"id":"m-{number}-{:08x}","role":"{}","content":""#,
        random.below(1 << 32),
        role.unwrap_or_default()
    );
    text(random, &mut json, MESSAGE_BYTES - 2);
    json.push_str("\"}");
    json
}

fn entry(random: &mut Random, number: usize) -> String {
    let mut json = format!(r#""k{number:05}":""#);
    text(random, &mut json, ENTRY_BYTES - 1);
    json.push('"');
    json
}

/// Appends words up to `bytes`, from about 500 words, so that the text compresses like English.
fn text(random: &mut Random, json: &mut String, bytes: usize) {
    const STEMS: [&str; 16] = [
        "merge", "review", "token", "deploy", "build", "issue", "agent", "branch", "commit",
        "login", "session", "host", "port", "file", "node", "task",
    ];
    while json.len() < bytes {
        let stem = STEMS.get(random.below(16) as usize).copied();
        let _ = match random.below(32) {
            0 => write!(json, "{} ", stem.unwrap_or_default()),
            number => write!(json, "{}{number} ", stem.unwrap_or_default()),
        };
    }
    json.truncate(bytes);
}
