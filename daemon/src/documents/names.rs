//! Valid names of sent documents and of their sources.

use crate::error::Refusal;

/// Limit on the name of a document, in bytes.
const NAME_BYTES_MAX: usize = 1024;
/// Limit on the name of a source, in bytes.
const SOURCE_BYTES_MAX: usize = 4096;

/// Refuses a name that cannot be the path of a file below a folder.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let is_name = name.len() <= NAME_BYTES_MAX
        && !name.chars().any(char::is_control)
        && name.split('/').all(is_part);
    if is_name {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(Refusal::invalid(format!(
        "`name` is {shown:?}; a name has 1 to {NAME_BYTES_MAX} bytes, no control characters, and no part that is \
         empty, `.` or `..`"
    ))
    .hint("Give a name such as `plan.md` or `reports/2026/costs.pdf`."))
}

/// Refuses an invalid name for a source of sent documents.
pub fn check_source(field: &str, name: &str) -> Result<(), Refusal> {
    let is_name = !name.trim().is_empty()
        && name.len() <= SOURCE_BYTES_MAX
        && !name.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "`{field}` has 1 to {SOURCE_BYTES_MAX} bytes and no control characters"
    )))
}
