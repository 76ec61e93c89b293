//! `[capture]`: what hooks record and add.

use super::Error;
use super::setting::{EffectTime, Setting, ValueType};
use crate::projects::{CaptureTable, Coordination};

/// Every key.
pub const SETTINGS: &[Setting] = &[
    switch(
        "capture.prompts",
        "Whether hooks record prompts. `[capture]` in a project's `.lore.toml` has the same keys; the stricter value holds.",
    ),
    switch("capture.answers", "Whether hooks record answers."),
    switch(
        "capture.tools",
        "Whether hooks record calls of tools and their results.",
    ),
    switch(
        "capture.add",
        "Whether hooks add text to contexts of models. What is not recorded gets no text, either.",
    ),
    Setting {
        key: "capture.coordination",
        description: "What agents learn of others that work on the same files: `off`, `warn` (a line before an edit, and at a prompt) or `ask` (a person is asked before the edit, too, where the host can ask: Claude Code and VS Code).",
        takes: ValueType::OneOf(&["off", "warn", "ask"]),
        acts: EffectTime::AtOnce,
        default: |_| Some("\"warn\"".to_owned()),
    },
    Setting {
        key: "capture.result_bytes_max",
        description: "Bytes of a result that hooks record. A longer one loses its middle; 0 records none.",
        takes: ValueType::Whole {
            least: 0,
            most: RESULT_BYTES_MAX,
        },
        acts: EffectTime::AtOnce,
        default: |_| Some(RESULT_BYTES_MAX.to_string()),
    },
    Setting {
        key: "capture.exclude",
        description: "Files of which hooks record nothing, as `.gitignore` patterns: calls that read or change them, and command lines that name them.",
        takes: ValueType::Texts,
        acts: EffectTime::AtOnce,
        default: |_| Some("[]".to_owned()),
    },
];

/// Texts of a payload are never longer, in bytes.
const RESULT_BYTES_MAX: u64 = 256 << 10;

const fn switch(key: &'static str, description: &'static str) -> Setting {
    Setting {
        key,
        description,
        takes: ValueType::Flag,
        acts: EffectTime::AtOnce,
        default: |_| Some("true".to_owned()),
    }
}

/// Checks the table.
///
/// # Errors
/// When a value is out of range or a pattern is too long.
pub fn checked(mut table: CaptureTable) -> Result<CaptureTable, Error> {
    // The default, said.
    let switches = [
        &mut table.prompts,
        &mut table.answers,
        &mut table.tools,
        &mut table.add,
    ];
    for switch in switches {
        switch.take_if(|is_on| *is_on);
    }
    table.coordination.take_if(|one| *one == Coordination::Warn);
    let mut bytes = 0;
    super::set(
        &mut bytes,
        "result_bytes_max",
        table.result_bytes_max,
        0,
        RESULT_BYTES_MAX,
    )?;
    table
        .result_bytes_max
        .take_if(|bytes| *bytes == RESULT_BYTES_MAX);
    match table.problem() {
        Some(problem) => Err(Error::Whole(problem)),
        None => Ok(table),
    }
}
