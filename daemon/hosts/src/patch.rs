//! The files of a patch in Codex's format (`*** Begin Patch`).

use crate::tools::{FileChange, FileEdit, absolute};

/// Files of one patch that are listed.
const FILES_MAX: usize = 256;

/// Lists the files that a patch changes, with the lines that it adds to each.
pub fn edits(patch: &str, cwd: Option<&str>) -> Vec<FileEdit> {
    let mut found: Vec<FileEdit> = Vec::new();
    for line in patch.lines() {
        let begun = [
            ("*** Add File: ", FileChange::Created),
            ("*** Update File: ", FileChange::Modified),
            ("*** Delete File: ", FileChange::Deleted),
        ]
        .into_iter()
        .find_map(|(mark, change)| Some((line.strip_prefix(mark)?, change)));
        if let Some((path, change)) = begun {
            if found.len() == FILES_MAX {
                break;
            }
            found.push(FileEdit {
                path: absolute(path.trim(), cwd),
                change,
                new_text: None,
            });
        } else if line.starts_with("*** End Patch") {
            break;
        } else if let Some(edit) = found.last_mut() {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                edit.change = FileChange::Moved(absolute(path.trim(), cwd));
            } else if let Some(added) = line.strip_prefix('+') {
                let text = edit.new_text.get_or_insert_default();
                text.push_str(added);
                text.push('\n');
            }
        }
    }
    found
}
