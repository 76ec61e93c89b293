//! Tokens of a sentence for cues: words in lower case, and the marks that end clauses.

/// Tokens of one sentence that are read.
const TOKENS_MAX: usize = 160;

/// Prefixes that French elides: they are words of their own.
const ELIDED: [&str; 12] = [
    "l", "d", "n", "j", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu",
];

/// A token of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word in lower case with straight apostrophes, or one mark.
    pub text: String,
    /// Whether its first letter is a capital one.
    pub is_capital: bool,
    /// Whether it can be a name or a value: it has a digit, an inner capital, or a `_`, `/`, `@` or dot inside.
    pub is_specific: bool,
    /// Whether it is an acronym, perhaps in the plural: a name, but a word of a language like others.
    pub is_acronym: bool,
}

impl Token {
    /// Whether it is a mark.
    #[must_use]
    pub fn is_mark(&self) -> bool {
        !self.text.chars().any(char::is_alphanumeric)
    }
}

/// Whether a character can stand inside a word.
const fn joins(c: char) -> bool {
    matches!(c, '\'' | '’' | '_' | '-' | '.' | '/' | '@' | '+' | '#')
}

/// Splits a sentence into its tokens.
#[must_use]
pub fn tokens(sentence: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut chars = sentence.chars().peekable();
    while let Some(c) = chars.next() {
        if found.len() >= TOKENS_MAX {
            break;
        }
        let next_joins = chars.peek().is_some_and(|next| next.is_alphanumeric());
        if c.is_alphanumeric() || c == '_' || (joins(c) && next_joins && !word.is_empty()) {
            word.push(if c == '’' { '\'' } else { c });
            continue;
        }
        push_word(&mut found, &mut word);
        if matches!(
            c,
            ',' | ';' | ':' | '(' | ')' | '?' | '!' | '.' | '–' | '—' | '"' | '，' | '；' | '：'
        ) {
            push(&mut found, c.to_string(), false, false, false);
        }
    }
    push_word(&mut found, &mut word);
    found
}

fn push(
    found: &mut Vec<Token>,
    text: String,
    is_capital: bool,
    is_specific: bool,
    is_acronym: bool,
) {
    found.push(Token {
        text,
        is_capital,
        is_specific,
        is_acronym,
    });
}

fn push_word(found: &mut Vec<Token>, word: &mut String) {
    if word.is_empty() {
        return;
    }
    let whole = std::mem::take(word);
    let (elided, rest) = match whole.split_once('\'') {
        Some((prefix, rest)) if !rest.is_empty() => {
            let prefix = prefix.to_lowercase();
            let is_elided = ELIDED.contains(&prefix.as_str());
            (is_elided.then(|| format!("{prefix}'")), rest)
        }
        _ => (None, whole.as_str()),
    };
    let rest = if elided.is_some() {
        rest
    } else {
        whole.as_str()
    };
    if let Some(prefix) = elided {
        let is_capital = whole.chars().next().is_some_and(char::is_uppercase);
        push(found, prefix, is_capital, false, false);
    }
    let is_capital = rest.chars().next().is_some_and(char::is_uppercase);
    push(
        found,
        rest.to_lowercase(),
        is_capital,
        is_specific(rest),
        is_acronym(rest),
    );
}

/// Whether a word can only be a name or a value.
#[must_use]
pub fn is_specific(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    let has_inner_mark = inner.contains(['_', '/', '@', '.', '#']);
    let has_digit = inner.chars().any(|c| c.is_ascii_digit());
    let capitals = inner.chars().skip(1).filter(|c| c.is_uppercase()).count();
    has_inner_mark || has_digit || capitals > 0
}

/// Whether a word has only capital letters, but for an `s` at its end.
fn is_acronym(word: &str) -> bool {
    let letters = word.strip_suffix('s').unwrap_or(word);
    letters.chars().count() > 1 && letters.chars().all(char::is_uppercase)
}
