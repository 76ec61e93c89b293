//! The lines of a context for search, `key.path: value`: read from canonical JSON without building a tree.

use memchr::memchr;

/// Maximum depth of keys whose values are searchable.
const DEPTH_MAX: usize = 16;

/// Visits the lines of a context in order: one for each text and number, with the names of the keys above it, and one for
/// each further line of a text. Of all lines together, with their ends, the first `bytes_max` bytes are visited.
pub fn for_each_line(json: &str, bytes_max: usize, visit: &mut dyn FnMut(&str)) {
    let mut lines = Lines {
        rest: json,
        path: String::new(),
        keys: 0,
        line: String::new(),
        bytes_left: bytes_max,
        visit,
    };
    // `None` is the end: the limit is reached, or the text is not canonical JSON.
    let _ = lines.value();
}

struct Lines<'j, 'v> {
    rest: &'j str,
    /// The keys above the value, with dots between them.
    path: String,
    /// Their number.
    keys: usize,
    /// Memory for a line.
    line: String,
    bytes_left: usize,
    visit: &'v mut dyn FnMut(&str),
}

impl<'j> Lines<'j, '_> {
    /// Reads a value. Canonical JSON is nested at most [`crate::canonical::DEPTH_MAX`] deep.
    fn value(&mut self) -> Option<()> {
        match self.rest.as_bytes().first()? {
            b'{' => self.members(),
            b'[' => self.elements(),
            b'"' => {
                let text = self.string()?;
                self.leaf(text)
            }
            b'n' | b't' | b'f' => self.plain().map(|_| ()),
            _ => {
                let number = self.plain()?;
                self.leaf(number)
            }
        }
    }

    fn members(&mut self) -> Option<()> {
        self.skip()?;
        while self.rest.as_bytes().first()? != &b'}' {
            self.take(b',');
            let key = self.string()?;
            let path = self.path.len();
            if self.keys > 0 {
                self.path.push('.');
            }
            push_unescaped(&mut self.path, key);
            self.keys += 1;
            self.take(b':');
            self.value()?;
            self.keys -= 1;
            self.path.truncate(path);
        }
        self.skip()
    }

    fn elements(&mut self) -> Option<()> {
        self.skip()?;
        while self.rest.as_bytes().first()? != &b']' {
            self.take(b',');
            self.value()?;
        }
        self.skip()
    }

    /// Reads a string; returns it without its quotes, escaped.
    fn string(&mut self) -> Option<&'j str> {
        let inner = self.rest.strip_prefix('"')?;
        let mut end = 0;
        loop {
            end += memchr(b'"', inner.as_bytes().get(end..)?)?;
            let before = inner.as_bytes().get(..end)?;
            let escapes = before.iter().rev().take_while(|byte| **byte == b'\\');
            if escapes.count() % 2 == 0 {
                break;
            }
            end += 1;
        }
        self.rest = inner.get(end + 1..)?;
        inner.get(..end)
    }

    /// Reads a number or a literal.
    fn plain(&mut self) -> Option<&'j str> {
        let bytes = self.rest.as_bytes();
        let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}');
        let end = bytes.iter().position(is_end).unwrap_or(bytes.len());
        let (plain, rest) = self.rest.split_at_checked(end.max(1))?;
        self.rest = rest;
        Some(plain)
    }

    fn skip(&mut self) -> Option<()> {
        self.rest = self.rest.get(1..)?;
        Some(())
    }

    fn take(&mut self, byte: u8) {
        if self.rest.as_bytes().first() == Some(&byte) {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
    }

    fn leaf(&mut self, escaped: &str) -> Option<()> {
        if self.keys > DEPTH_MAX {
            return Some(());
        }
        self.line.clear();
        self.line.push_str(&self.path);
        self.line.push_str(": ");
        push_unescaped(&mut self.line, escaped);
        self.line.push('\n');
        // A line that is cut is the last: a character too wide for the rest may leave a few bytes of it unused.
        let left = self.bytes_left.checked_sub(self.line.len());
        self.line
            .truncate(self.line.floor_char_boundary(self.bytes_left));
        self.line.lines().for_each(&mut *self.visit);
        self.bytes_left = left.filter(|left| *left > 0)?;
        Some(())
    }
}

/// Appends the content of a canonical string, given without its quotes.
fn push_unescaped(out: &mut String, mut escaped: &str) {
    while let Some(plain) = memchr(b'\\', escaped.as_bytes()) {
        out.push_str(escaped.get(..plain).unwrap_or_default());
        let mut rest = escaped.get(plain + 1..).unwrap_or_default().chars();
        let character = match rest.next() {
            Some('b') => '\u{8}',
            Some('t') => '\t',
            Some('n') => '\n',
            Some('f') => '\u{c}',
            Some('r') => '\r',
            Some('u') => {
                // Only control characters have this form.
                let digits = rest.as_str().get(..4).unwrap_or_default();
                rest = rest.as_str().get(4..).unwrap_or_default().chars();
                let code = u32::from_str_radix(digits, 16).ok();
                code.and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            Some(itself) => itself,
            None => break,
        };
        out.push(character);
        escaped = rest.as_str();
    }
    out.push_str(escaped);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::canonical::Canonical;

    fn lines(json: &str, bytes_max: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for_each_line(json, bytes_max, &mut |line| lines.push(line.to_owned()));
        lines
    }

    /// The same by a tree.
    fn of_tree(value: &Value, above: &mut Vec<String>, text: &mut String) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    above.push(key.clone());
                    of_tree(value, above, text);
                    above.pop();
                }
            }
            Value::Array(all) => all.iter().for_each(|one| of_tree(one, above, text)),
            Value::Null | Value::Bool(_) => {}
            _ if above.len() > DEPTH_MAX => {}
            Value::String(of) => *text += &format!("{}: {of}\n", above.join(".")),
            Value::Number(of) => *text += &format!("{}: {of}\n", above.join(".")),
        }
    }

    #[test]
    fn texts_and_numbers_with_their_keys() {
        let context = json!({
            "goal": "ship\nit \"now\"", "": {"x": 1.10, "y": [true, null, "a\\", "", "\u{1}b"]}, "e": [], "o": {},
        });
        let canonical = Canonical::of(&context.to_string()).unwrap().text;
        let all = [
            ".x: 1.1",
            ".y: a\\",
            ".y: ",
            ".y: \u{1}b",
            "goal: ship",
            "it \"now\"",
        ];
        assert_eq!(lines(&canonical, 1000), all);
        assert_eq!(lines(&canonical, 12), [".x: 1.1", ".y: "]);
        assert_eq!(lines(&canonical, 0), [""; 0]);
        assert_eq!(lines("{\"a", 9), [""; 0], "not JSON");
        let wide = r#"{"in":["é",0]}"#;
        assert_eq!(
            lines(wide, 5),
            ["in: "],
            "nothing after a line that was cut"
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\\\n\\r\\té漢\u{2}]{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(20, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c\"é.]{0,2}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_tree(value in value(), bytes_max in 1..400_usize) {
            let object = json!({ "in": value });
            let canonical = Canonical::of(&object.to_string()).unwrap().text;
            let mut text = String::new();
            of_tree(&serde_json::from_str(&canonical).unwrap(), &mut Vec::new(), &mut text);
            text.truncate(text.floor_char_boundary(bytes_max));
            prop_assert_eq!(lines(&canonical, bytes_max), text.lines().collect::<Vec<_>>());
        }
    }
}
