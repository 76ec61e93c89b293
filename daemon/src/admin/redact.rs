//! `lored redact`: reports the secrets in files, or prints the files without them.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lored_redact::{Redactor, Rules, SecretCounts, SharedRules};

use super::{Outcome, text};
use crate::config::Config;

/// Writes redacted files to standard output, one after the other; `-` is standard input.
///
/// # Errors
/// A sentence, when a file cannot be read or the output cannot be written.
pub fn print(config: &Config, files: &[PathBuf]) -> Outcome {
    let redactor = redactor(config)?;
    let mut out = std::io::stdout().lock();
    for file in files {
        let content = read(file)?;
        let redacted = redactor.text(&content, &mut SecretCounts::default());
        out.write_all(redacted.as_bytes()).map_err(text)?;
    }
    Ok(true)
}

/// Reports file, line and kind of each secret in files, never the secret itself; returns whether there is none.
///
/// # Errors
/// A sentence, when a file cannot be read or the output cannot be written.
pub fn check(config: &Config, files: &[PathBuf]) -> Outcome {
    let redactor = redactor(config)?;
    let mut out = std::io::stdout().lock();
    let mut count = 0;
    for file in files {
        let content = read(file)?;
        let (mut line, mut from) = (1, 0);
        for finding in redactor.findings(&content) {
            let passed = content.get(from..finding.range.start).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
            from = finding.range.start;
            count += 1;
            writeln!(out, "{}:{line}: {}", file.display(), finding.kind).map_err(text)?;
        }
    }
    writeln!(out, "{count} found in {} files", files.len()).map_err(text)?;
    Ok(count == 0)
}

fn redactor(config: &Config) -> Result<Redactor, String> {
    let rules = Rules::new(&config.redaction).map_err(text)?;
    Ok(Redactor::new(SharedRules::new(rules)))
}

/// Reads a file as text; invalid UTF-8 becomes U+FFFD.
fn read(file: &Path) -> Result<String, String> {
    let read = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = read.map_err(|error| format!("reading {}: {error}", file.display()))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
    })
}
