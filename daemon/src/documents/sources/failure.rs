//! Describes file system errors in short phrases that follow a path.

use std::io;

/// Describes why a file or folder cannot be read.
pub(super) fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::InvalidFilename => "its path is too long for the system".to_owned(),
        _ => match error.raw_os_error() {
            // Strips the error number that the standard library appends.
            Some(number) => {
                let text = error.to_string();
                let number = format!(" (os error {number})");
                text.strip_suffix(&number).unwrap_or(&text).to_owned()
            }
            None => error.to_string(),
        },
    }
}
