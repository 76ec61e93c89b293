//! `lored files`: lists the files of a folder that a source would ingest, with the bytes of those that the daemon
//! does not have, as lines on standard output. `lore docs add` calls it where the daemon cannot read the files.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lore::paths::Paths;
use lore::protocol::documents::{FileLine, KnownFile, SENT_BYTES_MAX};

use super::{Outcome, text};
use crate::clock::{Clock, format_time};
use crate::config::Config;
use crate::documents::sources::{SourceScope, UploadCandidate, candidate};
use crate::log::Hash;
use crate::projects::ProjectLocation;

/// Writes the lines. After the first one, reads the daemon's known files from standard input.
///
/// # Errors
/// A sentence, when the path is not a valid source, or standard input or output fails.
pub fn run(
    config: &Config,
    paths: &Paths,
    path: &Path,
    include: &[String],
    exclude: &[String],
) -> Outcome {
    let own = [paths.data.clone()];
    let reach = SourceScope::new(path, include, exclude, &own).map_err(text)?;
    let reach = match ProjectLocation::of(reach.base(), &config.projects.configured) {
        Some(place) => reach.within(&place.root, &place.marker.exclude),
        None => reach,
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut out = BufWriter::new(io::stdout().lock());
    let root = FileLine::Root {
        path: reach.path().to_string_lossy().into_owned(),
        warnings: reach.notice(home.as_deref()).into_iter().collect(),
    };
    put(&mut out, &root).map_err(text)?;
    out.flush().map_err(text)?;
    let known = known(BufReader::new(io::stdin().lock()))?;
    let clock = Clock::System;
    let count = candidate(&reach, known, SENT_BYTES_MAX, &clock, &mut |candidate| {
        put(&mut out, &line(candidate))
    });
    let count = count.map_err(text)?;
    let end = FileLine::End {
        found: count.found,
        unchanged: count.unchanged,
    };
    put(&mut out, &end).map_err(text)?;
    out.flush().map_err(text)?;
    Ok(true)
}

/// Reads the daemon's known files, by path.
fn known(lines: impl BufRead) -> Result<BTreeMap<String, Option<Hash>>, String> {
    let mut known = BTreeMap::new();
    for line in lines.lines() {
        let line: KnownFile = serde_json::from_str(&line.map_err(text)?).map_err(text)?;
        let hash = line.sha256.map(|digits| digits.parse()).transpose();
        known.insert(line.name, hash.map_err(text)?);
    }
    Ok(known)
}

fn line(candidate: UploadCandidate) -> FileLine {
    match candidate {
        UploadCandidate::File(name, content) => FileLine::File {
            name,
            modified: u64::try_from(content.stamp.mtime)
                .ok()
                .map(|nanoseconds| format_time(nanoseconds / 1000)),
            base64: BASE64.encode(&content.bytes),
        },
        UploadCandidate::Failed(name, reason) => FileLine::Failed { name, reason },
        UploadCandidate::Gone(name) => FileLine::Gone { name },
        UploadCandidate::Trouble(trouble) => FileLine::Trouble {
            path: trouble.path,
            reason: trouble.reason,
        },
    }
}

fn put(out: &mut impl Write, line: &FileLine) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Known files arrive line by line; an invalid line ends the run with a sentence.
    #[test]
    fn what_is_known_is_read() {
        let hash = Hash::of(b"one");
        let lines = format!("{{\"name\":\"a\",\"sha256\":\"{hash}\"}}\n{{\"name\":\"b\"}}\n");
        let found = known(lines.as_bytes()).unwrap();
        let wanted = [("a".to_owned(), Some(hash)), ("b".to_owned(), None)];
        assert_eq!(found, BTreeMap::from(wanted));
        for wrong in ["{}", "a", "{\"name\":\"a\",\"sha256\":\"12\"}"] {
            assert!(known(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
