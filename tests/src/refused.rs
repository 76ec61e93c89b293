//! Lists of calls that must be refused, in text files next to their tests.

use lore::protocol::Code;
use serde_json::Value;

use crate::has_words;

/// A line of such a list: `OPERATION ARGUMENTS => CODE words | words`.
pub struct RefusedCall {
    /// The operation.
    pub name: String,
    /// Its arguments.
    pub args: Value,
    code: String,
    words: Vec<String>,
}

/// Parses a list. Each name in `values` stands for a text, in arguments and words.
///
/// # Panics
/// When a line is malformed.
pub fn refused_calls(list: &str, values: &[(&str, &str)]) -> Vec<RefusedCall> {
    let list = list.lines().filter(|line| !line.starts_with('#'));
    list.map(|line| {
        let fill = |text: &str| {
            let values = values.iter();
            values.fold(text.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            })
        };
        let (call, error) = line.rsplit_once(" => ").expect("a call and its error");
        let (name, args) = call.split_once(' ').expect("an operation and arguments");
        let (code, words) = error.split_once(' ').unwrap_or((error, ""));
        RefusedCall {
            name: name.to_owned(),
            args: serde_json::from_str(&fill(args))
                .unwrap_or_else(|error| panic!("{line}: {error}")),
            code: code.to_owned(),
            words: words.split(" | ").map(fill).collect(),
        }
    })
    .collect()
}

impl RefusedCall {
    /// Checks code, status and words of the error.
    #[track_caller]
    pub fn check(&self, refusal: &Value) {
        let text = |name: &str| {
            refusal
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let args: String = self.args.to_string().chars().take(200).collect();
        let shown = format!("{} {args} => {refusal:#}", self.name);
        assert_eq!(text("code"), self.code, "{shown}");
        let code = Code::ALL.iter().find(|code| code.as_str() == self.code);
        let expected = code.map(|code| u64::from(code.status()));
        let status = refusal.get("status").and_then(Value::as_u64);
        assert_eq!(status, expected, "{shown}");
        let length = text("message").len();
        assert!((11..600).contains(&length), "{shown}");
        has_words(format!("{} {}", text("message"), text("hint")), &self.words);
    }
}
