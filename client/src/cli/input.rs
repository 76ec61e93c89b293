//! Reads and checks values from the command line and from standard input.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::str::FromStr;

use lore::protocol::AsOf;
use serde_json::{Map, Value};

use super::Failure;
use super::output::{sanitize, sanitize_lines};

/// Parses an id.
pub fn id<T: FromStr<Err: Display>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error: T::Err| Failure::Usage(sanitize_lines(&error.to_string())))
}

/// Parses the JSON object of `flag`.
pub fn object(flag: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::Usage(format!("{flag} is not a JSON object: {error}")))
}

/// Parses the position or time of `flag`.
pub fn moment(flag: &str, text: &str) -> Result<AsOf, Failure> {
    text.parse()
        .map_err(|error| Failure::Usage(format!("{flag}: {error}")))
}

/// Returns the text of an argument, or all of standard input for `-`; `what` names it in errors.
pub fn text(what: &str, argument: &str) -> Result<String, Failure> {
    utf8(what, text_or_stdin(argument)?)
}

/// Returns an argument, or all of standard input for `-`.
pub fn text_or_stdin(text: &str) -> io::Result<Vec<u8>> {
    match text {
        "-" => {
            if io::stdin().is_terminal() {
                lore::errln!("lore: reading standard input; end it with Ctrl-D");
            }
            let mut input = Vec::new();
            io::stdin().lock().read_to_end(&mut input)?;
            Ok(input)
        }
        _ => Ok(text.as_bytes().to_vec()),
    }
}

/// Reads a file, or standard input for `-`, byte for byte, at most `bytes_max`; `what` names it in errors.
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

/// Adds the path to an error about a file.
pub fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn utf8(what: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!(
            "{what} is not UTF-8; encode it, for example as Base64"
        ))
    })
}

/// Makes a path absolute from the working directory, because the daemon does not know the client's directory.
pub fn absolute(path: &str) -> Result<String, Failure> {
    let whole = std::path::absolute(path)?.into_os_string();
    whole
        .into_string()
        .map_err(|_| Failure::Usage(format!("{path} is in a folder whose name is not UTF-8")))
}

/// Parses preferences in the form `NAME=JSON`; the last value of a name wins.
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
            .ok_or_else(|| invalid("`=` is missing"))?;
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
        assert!(refused.starts_with("--preference \\u{9b}: `=` is missing"));
    }
}
