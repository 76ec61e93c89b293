//! The operations on a session as a whole.

mod diff;
mod export;
mod export_log;
mod fork;
mod get;
mod import;
mod import_log;
mod metrics;

pub(super) use get::transfer;

use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::operation::Operation;

/// Default size at which a page of an export ends, in bytes.
const PAGE_BYTES: u64 = 256 << 10;
/// Maximum of `bytes_max`.
const PAGE_BYTES_MAX: u64 = 32 << 20;

/// The operations of this module.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<get::GetSession>(),
    Operation::of::<fork::ForkSession>(),
    Operation::of::<diff::DiffSession>(),
    Operation::of::<export::ExportSession>(),
    Operation::of::<import::ImportSession>(),
];

/// The operations on all recorded data.
pub const MEASURES: &[Operation] = &[
    Operation::of::<metrics::Metrics>(),
    Operation::of::<export_log::ExportLog>(),
    Operation::of::<import_log::ImportLog>(),
];

/// Returns the size at which a page of an export ends, in bytes.
fn page_bytes(bytes_max: Option<u64>) -> Result<usize, Refusal> {
    let bytes_max = bytes_max.unwrap_or(PAGE_BYTES);
    if !(1..=PAGE_BYTES_MAX).contains(&bytes_max) {
        return Err(Refusal::invalid(format!(
            "`bytes_max` is {bytes_max}; a page ends after 1 to {PAGE_BYTES_MAX} bytes"
        ))
        .hint(hint![
            "Use ",
            arg("next"),
            " of the reply for the following page."
        ]));
    }
    Ok(usize::try_from(bytes_max).unwrap_or(usize::MAX))
}
