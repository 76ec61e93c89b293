//! How long reading and parsing transcripts takes: `cargo run --release -p lored-hosts --example transcripts -- FOLDER`.
//!
//! Every `.jsonl` below a home folder is read line by line, as the daemon does, and nothing is recorded.
//! `tests/bench/transcripts.py` makes such a folder.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use lored_hosts::Host;
use lored_hosts::transcript::{FileState, read_line};

/// What was read.
#[derive(Default)]
struct Totals {
    files: u64,
    bytes: u64,
    lines: u64,
    observations: u64,
}

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let began = Instant::now();
    let mut totals = Totals::default();
    walk(Path::new(&folder), &mut totals)?;
    let seconds = began.elapsed().as_secs_f64();
    let Totals {
        files,
        bytes,
        lines,
        observations,
    } = totals;
    println!(
        "{files} files, {:.0} MB, {lines} lines, {observations} observations: {seconds:.1} s on one thread, {:.0} MB/s",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / seconds
    );
    Ok(())
}

fn walk(folder: &Path, totals: &mut Totals) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, totals)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let is_codex = path.components().any(|part| part.as_os_str() == ".codex");
            read(
                &path,
                if is_codex {
                    Host::Codex
                } else {
                    Host::ClaudeCode
                },
                totals,
            )?;
        }
    }
    Ok(())
}

fn read(path: &Path, host: Host, totals: &mut Totals) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut state, mut line) = (FileState::new(host), Vec::new());
    totals.files += 1;
    loop {
        line.clear();
        let bytes = lines.read_until(b'\n', &mut line)?;
        if bytes == 0 {
            return Ok(());
        }
        totals.bytes += bytes as u64;
        totals.lines += 1;
        let observations = read_line(&mut state, &line, &lored_hosts::OwnMarks::default());
        totals.observations += observations.len() as u64;
    }
}
