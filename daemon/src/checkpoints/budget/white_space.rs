//! Removes redundant white space: runs of blanks within a line, trailing blanks, repeated blank lines.

/// Returns the text without redundant white space. Indentation stays, because it has a meaning.
pub(super) fn squeeze(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len());
    let mut blank_lines = 0;
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let line = line.trim_end_matches(is_blank);
        blank_lines = if line.is_empty() { blank_lines + 1 } else { 0 };
        if blank_lines <= 1 {
            squeeze_line(line, &mut squeezed);
            squeezed.push_str(end);
        }
    }
    squeezed
}

fn squeeze_line(line: &str, squeezed: &mut String) {
    let inner = line.trim_start_matches(is_blank);
    squeezed.push_str(line.strip_suffix(inner).unwrap_or_default());
    let mut was_blank = false;
    for character in inner.chars() {
        if !is_blank(character) {
            squeezed.push(character);
        } else if !was_blank {
            squeezed.push(' ');
        }
        was_blank = is_blank(character);
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::squeeze;

    #[test]
    fn only_needless_white_space_goes() {
        for (text, squeezed) in [
            ("a  b\t\tc", "a b c"),
            ("if x:\n    y  =  1  \n", "if x:\n    y = 1\n"),
            ("a\n\n\n\nb", "a\n\nb"),
            ("a\n  \n\t\nb", "a\n\nb"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\u{a0}\u{a0}b", "a\u{a0}\u{a0}b"),
            ("", ""),
            ("   ", ""),
            ("a b\n\nc", "a b\n\nc"),
        ] {
            assert_eq!(squeeze(text), squeezed, "{text:?}");
            assert_eq!(squeeze(squeezed), squeezed, "twice is once");
        }
    }
}
