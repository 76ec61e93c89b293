//! `lored convert`: another program's data as lines on standard output; called by `lore import --from`.

use std::io::BufWriter;
use std::path::Path;

use super::{Outcome, text};
use crate::importers::{Kind, Prefix, convert};

/// Writes the lines; reports skipped data on standard error.
///
/// # Errors
/// A sentence, when the file cannot be converted.
pub fn run(kind: Kind, path: &Path, project: Option<&Path>, prefix: Option<Prefix>) -> Outcome {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut aside = |what: &str| lore::errln!("lored: {what}");
    convert(kind, path, project, prefix, &mut out, &mut aside).map_err(text)?;
    Ok(true)
}
