//! Formats JSON over many lines and preserves every digit and escape.

/// Breaks JSON into lines, indented by two spaces per level. It does not parse: invalid JSON stays invalid.
pub fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let (mut is_in_text, mut is_escaped) = (false, false);
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if is_in_text {
            out.push(character);
            is_in_text = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '"' => {
                is_in_text = true;
                out.push(character);
            }
            '{' | '[' => {
                out.push(character);
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        break_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            ' ' | '\t' | '\n' | '\r' => {}
            _ => out.push(character),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn lines_are_broken_outside_of_texts_alone() {
        let json = r#"{"a":[1.10,{"b":"x,{\"\\"}],"c":{},"d":[]}"#;
        let wanted = "{\n  \"a\": [\n    1.10,\n    {\n      \"b\": \"x,{\\\"\\\\\"\n    }\n  ],\n  \
                      \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(json), wanted);
        let value: Value = serde_json::from_str(&pretty(json)).unwrap();
        assert_eq!(value.to_string(), json);
        assert_eq!(pretty("]}"), "\n]\n}");
    }
}
