//! The refusal of an update of an outdated version: both versions, the sections that both changed, and their merge
//! if the changes do not touch.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::content_of;
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};
use crate::operation::Context;
use crate::projects::changes::{both_changed, changed_sections};
use crate::projects::entry_merge::merge_entries;
use crate::projects::template::Template;
use crate::projects::view::{self, FileRow};
use crate::state::State;

/// A longer version is reported by its number alone.
const SIDE_BYTES_MAX: usize = 128 * 1024;
/// Time limit for merging.
pub(super) const MERGED_MAX: Duration = Duration::from_secs(2);

/// The two sides of a conflicting update.
pub struct ConflictSides {
    /// The project's id.
    pub project: String,
    /// The file type.
    pub file_type: String,
    /// The version that the caller's change was made from.
    pub expected: u64,
    /// The newest version.
    pub newest: Option<FileRow>,
    /// The caller's content, if the change is a complete content.
    pub yours: Option<String>,
    /// The template of the file, if there is one.
    pub template: Option<Arc<Template>>,
}

/// Builds the refusal, with base, theirs and yours.
pub fn refusal(cx: &Context, state: &State, sides: ConflictSides) -> Result<Refusal, Refusal> {
    let read = |row: Option<&FileRow>| match row.filter(|row| row.is_written()) {
        Some(row) => content_of(cx, state, row.place()),
        None => Ok(String::new()),
    };
    let base = view::version(state, &sides.project, &sides.file_type, sides.expected)?;
    let base = read(base.as_ref())?;
    let theirs = read(sides.newest.as_ref())?;
    let (newest, by, at) = match &sides.newest {
        Some(row) => (row.written.version, row.agent.as_str(), format_time(row.at)),
        None => (0, "", String::new()),
    };
    let mut details = json!({
        "file_type": sides.file_type,
        "project": sides.project,
        "base": side(sides.expected, &base),
        "theirs": side(newest, &theirs),
        "changed_by_theirs": changed_sections(&base, &theirs),
    });
    let Value::Object(reported) = &mut details else {
        return Err(Refusal::new(
            Code::Internal,
            "the details are not an object",
        ));
    };
    if let Some(object) = reported.get_mut("theirs").and_then(Value::as_object_mut) {
        object.insert("agent".to_owned(), by.into());
        object.insert("updated_at".to_owned(), at.into());
    }
    let mut both = Vec::new();
    if let Some(yours) = &sides.yours {
        both = both_changed(&base, &theirs, yours);
        reported.insert("yours".to_owned(), side(sides.expected, yours));
        reported.insert(
            "changed_by_yours".to_owned(),
            changed_sections(&base, yours).into(),
        );
        reported.insert("changed_by_both".to_owned(), both.clone().into());
        let template = sides.template.as_deref();
        let merge = merge_entries(&base, yours, &theirs, template, MERGED_MAX);
        if merge.conflicts.is_empty() && merge.text.len() <= SIDE_BYTES_MAX {
            reported.insert("merged".to_owned(), merge.text.into());
        }
    }
    let is_merged = reported.contains_key("merged");
    let sections = match (&sides.yours, both.as_slice()) {
        // An appended entry or a cleared file has no changed sections.
        (None, _) => match changed_sections(&base, &theirs).as_slice() {
            [] => "no section".to_owned(),
            theirs => theirs.join(", "),
        },
        (Some(_), []) => "none of the sections that you changed".to_owned(),
        (Some(_), both) => format!("as you did, {}", both.join(", ")),
    };
    let by = match by {
        "" => String::new(),
        by => format!(", by `{by}`"),
    };
    Ok(Refusal::new(
        Code::Conflict,
        format!(
            "`{}` is at version {newest}{by}; you changed version {}. They changed {sections}",
            sides.file_type, sides.expected
        ),
    )
    .hint(match is_merged {
        true => hint![
            "`details.merged` has both changes: check it, and call again with it and ",
            arg("expected_version"),
            format!(" {newest}.")
        ],
        false => hint![
            "Bring your changes into `details.theirs`, and call again with ",
            arg("expected_version"),
            format!(" {newest}.")
        ],
    })
    .details(details))
}

fn side(version: u64, content: &str) -> Value {
    match content.len() {
        0..=SIDE_BYTES_MAX => json!({"version": version, "content": content}),
        bytes => json!({"version": version, "bytes": bytes}),
    }
}
