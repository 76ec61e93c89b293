//! What people write on the command line or pipe in, checked and read.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use lore::protocol::AsOf;
use serde_json::{Map, Value};

use super::Failure;
use super::output::{sanitize, sanitize_lines};

/// An id.
pub fn id<T: FromStr<Err: Display>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error: T::Err| Failure::Usage(sanitize_lines(&error.to_string())))
}

/// A JSON object that stands behind `flag`.
pub fn object(flag: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::Usage(format!("{flag} is not a JSON object: {error}")))
}

/// A position or time that stands behind `flag`.
pub fn moment(flag: &str, text: &str) -> Result<AsOf, Failure> {
    text.parse()
        .map_err(|error| Failure::Usage(format!("{flag}: {error}")))
}

/// The text of an argument, or for `-` all of standard input; `what` names it in errors.
pub fn text(what: &str, argument: &str) -> Result<String, Failure> {
    utf8(what, text_or_stdin(argument)?)
}

/// An argument, or for `-` all of standard input.
pub fn text_or_stdin(text: &str) -> io::Result<Vec<u8>> {
    match text {
        "-" => {
            let mut input = Vec::new();
            io::stdin().lock().read_to_end(&mut input)?;
            Ok(input)
        }
        _ => Ok(text.as_bytes().to_vec()),
    }
}

/// The content of a file, or for `-` of standard input, byte for byte; `what` names it in errors. At most `bytes_max`.
pub fn file_text(what: &str, file: &Path, bytes_max: u64) -> Result<String, Failure> {
    let from: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(file).map_err(|error| named(&error, file))?),
    };
    let mut bytes = Vec::new();
    let read = from
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes);
    let length = read.map_err(|error| named(&error, file))? as u64;
    if length > bytes_max {
        return Err(Failure::Usage(format!(
            "{what} has more than {bytes_max} bytes, the limit of one call"
        )));
    }
    utf8(what, bytes)
}

/// An error about a file, with its path.
pub fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Bytes as the text they should be.
fn utf8(what: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!(
            "{what} is not UTF-8; encode it, for example as Base64"
        ))
    })
}

/// A path from the working directory on: the daemon knows no other folder of the client.
pub fn absolute(path: &str) -> Result<String, Failure> {
    let whole = std::path::absolute(path)?.into_os_string();
    whole
        .into_string()
        .map_err(|_| Failure::Usage(format!("{path} is in a folder whose name is not UTF-8")))
}

/// Preferences from `NAME=JSON`, the last of each name.
pub fn preferences(texts: &[&str]) -> Result<Map<String, Value>, Failure> {
    let mut all = Map::new();
    for text in texts {
        let invalid = |why: &str| {
            let text = sanitize(text, 80);
            Failure::Usage(format!(
                "--preference {text}: {why}; expected NAME=JSON, such as auto_save=true or theme='\"dark\"'"
            ))
        };
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| invalid("there is no `=`"))?;
        let value = serde_json::from_str(value)
            .map_err(|error| invalid(&format!("the value is not JSON ({error})")))?;
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(texts: &[&str]) -> Result<Value, String> {
        preferences(texts)
            .map(Value::Object)
            .map_err(|failure| match failure {
                Failure::Usage(message) => message,
                Failure::Call(_) | Failure::Io(_) => unreachable!(),
            })
    }

    #[test]
    fn preferences_are_names_and_json() {
        let all = read(&["theme=\"a=b\"", "n=1", "n=null"]).unwrap();
        assert_eq!(all, json!({"theme": "a=b", "n": null}));
        let refused = read(&["theme=dark"]).unwrap_err();
        assert!(refused.contains("theme='\"dark\"'"), "{refused}");
        let refused = read(&["\u{9b}"]).unwrap_err();
        assert!(refused.starts_with("--preference \\u{9b}: there is no `=`"));
    }
}
