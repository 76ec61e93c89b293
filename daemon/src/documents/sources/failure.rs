//! What the file system would not do, in few words that stand behind a path.

use std::io;

/// Why a file or folder is not read.
pub(super) fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "there is no permission to read it".to_owned(),
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::InvalidFilename => "its path is too long for the system".to_owned(),
        _ => match error.raw_os_error() {
            // Without the number that the standard library adds.
            Some(number) => {
                let text = error.to_string();
                let number = format!(" (os error {number})");
                text.strip_suffix(&number).unwrap_or(&text).to_owned()
            }
            None => error.to_string(),
        },
    }
}
