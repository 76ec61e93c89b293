//! What several verbs take, and how it is read.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lore::protocol::{Position, Serialize, SessionId};
use serde_json::{Map, Value};

use super::call::text_or_stdin;
use super::output::shown;
use super::{Failure, exchange};

/// Which session a verb is about.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// Which session; otherwise that of --session or LORE_SESSION, or your current one
    id: Option<String>,
}

impl Which {
    /// The session that was named; otherwise the daemon knows which one is meant.
    pub fn session(&self) -> Result<Option<SessionId>, Failure> {
        self.id.as_deref().map(exchange::id).transpose()
    }
}

/// What every write to a session takes.
#[derive(Debug, clap::Args)]
pub struct Guard {
    /// Refuse unless the lease with this token is still held
    #[arg(long, value_name = "TOKEN")]
    fence: Option<u64>,
    /// Idempotency key: the same call again does nothing twice
    #[arg(long, value_name = "TEXT")]
    pub key: Option<String>,
}

impl Guard {
    /// The lease that must still be held.
    pub fn fence(&self) -> Option<Position> {
        self.fence.map(Position)
    }
}

/// Which part of a long list.
#[derive(Debug, clap::Args)]
pub struct Page {
    /// At most so many, 1 to 500
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u64>,
    /// Go on where the last page ended, as its last line says
    #[arg(long, value_name = "CURSOR")]
    pub next: Option<String>,
}

/// The last line of a page, when there is another.
pub fn more(next: Option<&str>) -> String {
    next.map_or_else(String::new, |next| {
        format!("… more: --next {}\n", shown(next, 0))
    })
}

/// Reads one of a closed list by its name.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name)).try_map(move |said| {
        let found = all.iter().find(|(name, _)| *name == said);
        found
            .map(|(_, one)| *one)
            .ok_or("there is none of this name")
    })
}

/// The name that a value of a closed list has on the wire.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// So many of something, of which more than one takes an `s`.
pub fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The text of an argument, or for `-` all of standard input; `what` names it in a refusal.
pub fn text(what: &str, argument: String) -> Result<String, Failure> {
    exchange::utf8(what, text_or_stdin(argument)?)
}

/// What stands in a file, or for `-` on standard input, byte for byte; `what` names it in a refusal.
pub fn file_text(what: &str, file: &Path) -> Result<String, Failure> {
    let read = if file == Path::new("-") {
        let mut input = Vec::new();
        io::stdin().lock().read_to_end(&mut input).map(|_| input)
    } else {
        fs::read(file)
    };
    let bytes =
        read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    exchange::utf8(what, bytes)
}

/// Preferences from `NAME=JSON`, the last of one name; `None` when there are none.
pub fn preferences(said: &[String]) -> Result<Option<Map<String, Value>>, Failure> {
    let mut all = Map::new();
    for one in said {
        let wrong = |why: &str| {
            let one = shown(one, 80);
            Failure::Usage(format!(
                "--preference {one}: {why}; wanted is NAME=JSON, such as auto_save=true or \
                 theme='\"dark\"'"
            ))
        };
        let (name, value) = one
            .split_once('=')
            .ok_or_else(|| wrong("there is no `=`"))?;
        let value = serde_json::from_str(value)
            .map_err(|error| wrong(&format!("the value is no JSON ({error})")))?;
        all.insert(name.to_owned(), value);
    }
    Ok((!all.is_empty()).then_some(all))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(said: &[&str]) -> Result<Option<Map<String, Value>>, String> {
        let said: Vec<String> = said.iter().map(ToString::to_string).collect();
        preferences(&said).map_err(|failure| match failure {
            Failure::Usage(message) => message,
            Failure::Call(_) | Failure::Io(_) => unreachable!(),
        })
    }

    #[test]
    fn one_is_not_several() {
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(0, "event"), "0 events");
    }

    #[test]
    fn preferences_are_names_and_json() {
        let all = read(&["theme=\"a=b\"", "n=1", "n=null"]).unwrap().unwrap();
        assert_eq!(Value::Object(all), json!({"theme": "a=b", "n": null}));
        assert_eq!(read(&[]).unwrap(), None);
        let refused = read(&["theme=dark"]).unwrap_err();
        assert!(refused.contains("theme='\"dark\"'"), "{refused}");
        assert!(
            read(&["\u{9b}"])
                .unwrap_err()
                .starts_with("--preference \\u{9b}: there is no `=`")
        );
    }
}
