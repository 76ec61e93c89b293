//! The arguments of a call, as received.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Code, ErrorBody, nearest, within_limits};

/// Arguments: an object, as JSON text or already parsed.
///
/// ```
/// use lore::protocol::Args;
/// use serde_json::{Value, json};
///
/// let text = Args::Json(br#"{"session": "s-1"}"#.to_vec());
/// assert_eq!(text.read::<Value>()?, json!({"session": "s-1"}));
/// assert!(Args::Value(json!(["s-1"])).read::<Value>().is_err());
/// # Ok::<(), lore::protocol::ErrorBody>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Args {
    /// JSON as received: neither parsed nor checked against limits before it is read.
    Json(Vec<u8>),
    /// A parsed CBOR map.
    Value(Value),
}

impl Args {
    /// Returns the arguments as JSON text.
    #[must_use]
    pub fn into_json(self) -> Vec<u8> {
        match self {
            Self::Json(json) => json,
            Self::Value(value) => value.to_string().into_bytes(),
        }
    }

    /// Deserialises the arguments into the type of an operation.
    ///
    /// # Errors
    /// `INVALID_INPUT` that names the argument; for an unknown argument it suggests the nearest known one.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, ErrorBody> {
        match self {
            Self::Json(json) => {
                within_limits(&json)?;
                // serde would accept a list as the arguments in order.
                if json.trim_ascii_start().starts_with(b"[") {
                    return Err(no_object());
                }
                serde_json::from_slice(&json).map_err(|error| {
                    // serde_json calls a number in the place of a name a syntax error, but not in a value.
                    if error.is_syntax()
                        && let Ok(value) = serde_json::from_slice::<Value>(&json)
                        && let Err(error) = T::deserialize(&value)
                    {
                        return refusal(&error, &path_of::<T, _>(&value));
                    }
                    // The slower second parse finds the location of the error.
                    let mut again = serde_json::Deserializer::from_slice(&json);
                    refusal(&error, &path_of::<T, _>(&mut again))
                })
            }
            Self::Value(Value::Array(_)) => Err(no_object()),
            Self::Value(value) => {
                T::deserialize(&value).map_err(|error| refusal(&error, &path_of::<T, _>(&value)))
            }
        }
    }
}

fn no_object() -> ErrorBody {
    ErrorBody::new(
        Code::InvalidInput,
        "the arguments are a list; they are an object, each under its name",
    )
}

/// Returns the path of the argument that does not fit; empty if the error is in none of them.
fn path_of<'de, T: Deserialize<'de>, D: Deserializer<'de>>(input: D) -> String {
    match serde_path_to_error::deserialize::<D, T>(input) {
        Ok(_) => String::new(),
        Err(error) => error.path().to_string(),
    }
}

/// Describes in a sentence why arguments are refused.
fn refusal(error: &serde_json::Error, path: &str) -> ErrorBody {
    let said = error.to_string();
    if let Some(refusal) = unknown_argument(&said) {
        return refusal;
    }
    if error.is_syntax() || error.is_eof() {
        return ErrorBody::new(
            Code::InvalidInput,
            format!("the arguments are not JSON: {said}"),
        );
    }
    let message = match said.strip_prefix("missing field ") {
        Some(rest) => match rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
            Some((name, _)) => format!("the argument `{name}` is missing"),
            None => format!("an argument is missing: {rest}"),
        },
        None if matches!(path, "" | "." | "?") => format!("the arguments do not fit: {said}"),
        None => {
            let path: String = path.chars().take(200).collect();
            format!(
                "the argument `{path}` does not fit: {}",
                without_place(&said)
            )
        }
    };
    ErrorBody::new(Code::InvalidInput, message)
}

/// Removes the line and column from the end of a serde_json message.
fn without_place(said: &str) -> &str {
    said.rsplit_once(" at line ").map_or(said, |(said, _)| said)
}

/// Parses serde's message "unknown field `a`, expected one of `b`, `c`".
fn unknown_argument(said: &str) -> Option<ErrorBody> {
    let rest = said.strip_prefix("unknown field `")?;
    // The unknown name is the caller's text and may contain anything, so the list is split off from
    // the right.
    let (written, listed) = rest
        .rsplit_once("`, expected ")
        .or_else(|| rest.rsplit_once("`, there are "))?;
    let known: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let shown: String = written.chars().take(64).collect();
    let error = match nearest(written, known.iter().copied()) {
        Some(name) => {
            let message = format!("unknown argument `{shown}`; did you mean `{name}`?");
            ErrorBody::new(Code::InvalidInput, message)
        }
        None => ErrorBody::new(Code::InvalidInput, format!("unknown argument `{shown}`")),
    };
    Some(if known.is_empty() {
        error.hint("This operation takes no arguments.")
    } else {
        error.hint(format!("The arguments are {}.", known.join(", ")))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::super::log::CompactArgs;
    use super::super::search::SearchArgs;
    use super::super::steps::RecordStepArgs;
    use super::*;

    fn refused(args: Value) -> ErrorBody {
        Args::Value(args).read::<RecordStepArgs>().unwrap_err()
    }

    /// A number in the place of a name is not reported as invalid JSON.
    #[test]
    fn a_number_is_not_a_name() {
        let args = Args::Json(br#"{"query":"q","kinds":["message",1]}"#.to_vec());
        let message = args.read::<SearchArgs>().unwrap_err().message;
        assert!(
            message.starts_with("the argument `kinds[1]` does not fit: "),
            "{message}"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = refused(json!({"tool": "t", "reslt": 1}));
        assert_eq!(
            error.message,
            "unknown argument `reslt`; did you mean `result`?"
        );
        assert!(error.hint.unwrap().contains("purpose"));
        let error = refused(json!({"tool": "t", "a`, expected `b": 1}));
        assert_eq!(error.message, "unknown argument `a`, expected `b`");
        assert_eq!(
            refused(json!({"result": 1})).message,
            "the argument `tool` is missing"
        );
        let error = Args::Json(b"{".to_vec())
            .read::<RecordStepArgs>()
            .unwrap_err();
        assert!(
            error.message.starts_with("the arguments are not JSON"),
            "{error}"
        );
        let error = Args::Json(br#"{"all":1}"#.to_vec())
            .read::<CompactArgs>()
            .unwrap_err();
        assert_eq!(error.message, "unknown argument `all`");
        assert_eq!(error.hint.unwrap(), "This operation takes no arguments.");
    }

    /// The error names the argument of a wrong kind and the location in it, for every form of arguments.
    #[test]
    fn what_does_not_fit_is_named() {
        for (args, wanted) in [
            (
                json!({"tool": "t", "step": -1}),
                "the argument `step` does not fit: -1 is not a whole number of 0 or more",
            ),
            (
                json!({"tool": 7}),
                "the argument `tool` does not fit: invalid type: number, expected a string",
            ),
            (
                json!({"tool": "t", "session": "a b"}),
                "the argument `session` does not fit: a session id has the character ' '",
            ),
        ] {
            let text = Args::Json(args.to_string().into_bytes());
            for args in [text, Args::Value(args)] {
                let message = args.read::<RecordStepArgs>().unwrap_err().message;
                let kind = message.replace("integer `7`", "number");
                assert!(kind.starts_with(wanted), "{message}");
                assert!(!message.contains("line"), "{message}");
            }
        }
    }

    #[test]
    fn a_list_is_no_object() {
        let text = Args::Json(br#" ["s-1", 1, "t"]"#.to_vec());
        assert_eq!(text.read::<RecordStepArgs>().unwrap_err(), no_object());
        assert_eq!(refused(json!(["s-1", 1, "t"])), no_object());
        let error = Args::Json(b"[]".to_vec())
            .read::<CompactArgs>()
            .unwrap_err();
        assert_eq!(error, no_object());
    }

    #[test]
    fn json_deeper_than_the_limit_is_refused_before_it_is_parsed() {
        let json = format!(r#"{{"tool":"t","result":{}}}"#, "[".repeat(100_000));
        let error = Args::Json(json.into_bytes())
            .read::<RecordStepArgs>()
            .unwrap_err();
        assert!(error.message.contains("nested deeper than 128"), "{error}");
    }
}
