//! aider's chat history, a Markdown file (seen in 0.86): `#### ` before the lines of a prompt, `> ` before those of the
//! program, and the agent's text between.

use super::FileState;
use crate::events::common;
use crate::maker::Maker;
use crate::observation::{Author, Observation, Observed, Origin, StartCause};
use crate::own_text::OwnMarks;

/// Who wrote a line.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Writer {
    User,
    Program,
    Session,
    Agent,
}

fn writer(line: &[u8]) -> Writer {
    if line.starts_with(b"#### ") {
        Writer::User
    } else if line.starts_with(b"> ") {
        Writer::Program
    } else if line.starts_with(b"# aider chat started at ") {
        Writer::Session
    } else {
        Writer::Agent
    }
}

/// Splits the file into runs of lines of one writer.
pub fn blocks(bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut current = None;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // An empty line belongs to what is before it.
        let is_empty = line.iter().all(u8::is_ascii_whitespace);
        let next = writer(line);
        if !is_empty && current != Some(next) {
            found.extend(bytes.get(from..at).filter(|_| current.is_some()));
            from = at;
            current = Some(next);
        }
        at += line.len();
    }
    found.extend(bytes.get(from..at).filter(|_| current.is_some()));
    found
}

/// Reads a block.
pub fn read(state: &mut FileState, block: &[u8], marks: &OwnMarks<'_>) -> Vec<Observation> {
    let text = String::from_utf8_lossy(block);
    let mut maker = Maker::new(state.source.clone(), Origin::Transcript, 0);
    match writer(block) {
        Writer::User => {
            let lines = text
                .lines()
                .map(|line| line.strip_prefix("#### ").unwrap_or(line).trim_end());
            let prompt = lines.collect::<Vec<_>>().join("\n");
            common::add_prompt(&mut maker, &prompt, Author::User, None, marks);
        }
        Writer::Agent => {
            let text = text.trim().to_owned();
            if !text.is_empty() {
                maker.add(Observed::Answer { text }, None);
            }
        }
        Writer::Session => {
            // The time of the start is all that the file has for an id.
            let started = text
                .trim()
                .trim_start_matches("# aider chat started at ")
                .to_owned();
            state.source.session = Some(started);
            maker.source.session.clone_from(&state.source.session);
            let cause = StartCause::Startup;
            common::started(&mut maker, Observed::SessionStarted { cause, model: None });
        }
        Writer::Program => {}
    }
    maker.made
}
