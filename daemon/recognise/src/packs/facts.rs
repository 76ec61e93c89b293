//! Facts about every match of a pattern. They let the search skip most of a text.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Limit on the sets of required byte kinds; more sets filter little more.
const HAS_MAX: usize = 6;
/// Limit on a start of a match, in bytes.
const START_BYTES_MAX: usize = 8;
/// Shortest start that is searched, in bytes; shorter ones occur everywhere.
const START_BYTES_MIN: usize = 2;
/// Limit on the starts of a pattern's matches. Upper and lower case of a letter count separately.
const STARTS_MAX: usize = 2048;
/// The white space character with the highest code point.
const LAST_WHITE: char = '\u{3000}';

/// A set of byte kinds: letters by case, digits, white space, control characters, non-ASCII bytes. Each other
/// ASCII character is a separate kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kinds(u64);

impl Kinds {
    /// ASCII white space.
    pub(super) const SPACE: Self = Self(1);
    const LOWER: Self = Self(1 << 1);
    const UPPER: Self = Self(1 << 2);
    /// ASCII digits.
    pub(super) const DIGIT: Self = Self(1 << 3);
    /// ASCII letters.
    pub(super) const LETTER: Self = Self::LOWER.with(Self::UPPER);

    /// Returns the kind of a byte.
    pub(super) const fn of(byte: u8) -> Self {
        Self(match byte {
            b' ' | 9..=13 => Self::SPACE.0,
            b'a'..=b'z' => Self::LOWER.0,
            b'A'..=b'Z' => Self::UPPER.0,
            b'0'..=b'9' => Self::DIGIT.0,
            128.. => 1 << 4,
            0..32 | 127 => 1 << 5,
            b'!'..=b'/' => 1 << (6 + byte - b'!'),
            b':'..=b'@' => 1 << (21 + byte - b':'),
            b'['..=b'`' => 1 << (28 + byte - b'['),
            b'{'..=b'~' => 1 << (34 + byte - b'{'),
        })
    }

    /// Returns the union of both sets.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether both sets share a kind.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// Facts about every match of a pattern.
#[derive(Clone, Debug)]
pub(super) struct PatternFacts {
    /// Where the pattern can match.
    pub(super) place: MatchLocation,
    /// Sets of byte kinds. Every match has at least one byte of each set.
    has: Vec<Kinds>,
    /// Length of the shortest match, in bytes.
    bytes_min: usize,
}

/// Where a pattern can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MatchLocation {
    /// Within words: a match has no ASCII white space.
    Word,
    /// At one of these lower-case prefixes. Trying the pattern at all of their occurrences takes no longer than
    /// reading the text, because the next few words decide each attempt.
    Start(Vec<Vec<u8>>),
    /// Anywhere.
    Text,
}

impl PatternFacts {
    pub(super) fn of(pattern: &Hir) -> Self {
        let bytes_min = pattern.properties().minimum_len().unwrap_or(0);
        Self {
            place: place(pattern, bytes_min),
            has: has(pattern),
            bytes_min,
        }
    }

    /// Adds required byte kinds.
    pub(super) fn and_has(&mut self, kinds: &[Kinds]) {
        self.has = least(self.has.iter().chain(kinds).copied().collect());
    }

    /// Returns whether bytes of these kinds may contain a match.
    pub(super) fn fit_kinds(&self, kinds: Kinds) -> bool {
        self.has.iter().all(|has| has.meets(kinds))
    }

    /// Returns whether this many bytes may contain a match.
    pub(super) const fn fit_bytes(&self, bytes: usize) -> bool {
        bytes >= self.bytes_min
    }
}

fn place(pattern: &Hir, bytes_min: usize) -> MatchLocation {
    if bytes_min == 0 {
        return MatchLocation::Text;
    }
    if !may_have(pattern).meets(Kinds::SPACE) {
        return MatchLocation::Word;
    }
    match starts(pattern).filter(|_| is_tame(pattern)) {
        Some(starts) => MatchLocation::Start(starts),
        None => MatchLocation::Text,
    }
}

/// Returns all byte kinds that a match may contain.
fn may_have(pattern: &Hir) -> Kinds {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Kinds::default(),
        HirKind::Literal(literal) => literal
            .0
            .iter()
            .fold(Kinds::default(), |all, byte| all.with(Kinds::of(*byte))),
        HirKind::Class(class) => of_class(class),
        HirKind::Repetition(repeated) => may_have(&repeated.sub),
        HirKind::Capture(group) => may_have(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(Kinds::default(), |all, part| all.with(may_have(part))),
    }
}

fn of_class(class: &Class) -> Kinds {
    let kinds = |start: u32, end: u32| {
        // All non-ASCII characters are one kind.
        let bytes = (start..=end.min(128)).map(|code| u8::try_from(code).unwrap_or(128));
        let first = u8::try_from(start).unwrap_or(128);
        bytes.fold(Kinds::of(first.min(128)), |all, byte| {
            all.with(Kinds::of(byte))
        })
    };
    let all = |all: Kinds, next: Kinds| all.with(next);
    match class {
        Class::Unicode(class) => class
            .iter()
            .map(|range| kinds(range.start().into(), range.end().into()))
            .fold(Kinds::default(), all),
        Class::Bytes(class) => class
            .iter()
            .map(|range| kinds(range.start().into(), range.end().into()))
            .fold(Kinds::default(), all),
    }
}

/// Returns sets of byte kinds. Every match has at least one byte of each set.
fn has(pattern: &Hir) -> Vec<Kinds> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Vec::new(),
        HirKind::Literal(literal) => least(literal.0.iter().map(|byte| Kinds::of(*byte)).collect()),
        HirKind::Class(class) => vec![of_class(class)],
        HirKind::Repetition(repeated) if repeated.min == 0 => Vec::new(),
        HirKind::Repetition(repeated) => has(&repeated.sub),
        HirKind::Capture(group) => has(&group.sub),
        HirKind::Concat(parts) => least(parts.iter().flat_map(has).collect()),
        HirKind::Alternation(parts) => {
            let mut parts = parts.iter().map(has);
            let first = parts.next().unwrap_or_default();
            // Either part may match, so each set is a union of one set from both.
            parts.fold(first, |all, part| {
                let either = |one: &Kinds| part.iter().map(move |other| one.with(*other)).collect();
                least(all.iter().flat_map::<Vec<Kinds>, _>(either).collect())
            })
        }
    }
}

/// Removes sets that others imply, and keeps the most selective ones.
fn least(mut sets: Vec<Kinds>) -> Vec<Kinds> {
    sets.sort_unstable_by_key(|set| (set.0.count_ones(), set.0));
    let mut kept: Vec<Kinds> = Vec::new();
    for set in sets {
        if kept.len() < HAS_MAX && !kept.iter().any(|known| known.is_within(set)) {
            kept.push(set);
        }
    }
    kept
}

/// Returns the lower-case prefixes of all matches; `None` if they are too many or too short to search.
fn starts(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let starts = Extractor::new()
        .limit_literal_len(START_BYTES_MAX)
        .limit_total(STARTS_MAX)
        .extract(pattern);
    let starts = starts.literals()?.iter();
    let mut starts: Vec<Vec<u8>> = starts
        .map(|start| {
            // The text after the first word varies much and filters little.
            let is_letter = |byte: &&u8| !byte.is_ascii() || byte.is_ascii_alphanumeric();
            let first = start.as_bytes().iter().take_while(is_letter);
            first.map(u8::to_ascii_lowercase).collect()
        })
        .collect();
    starts.sort_unstable();
    // The shorter prefix also finds the longer one.
    starts.dedup_by(|longer, shorter| longer.starts_with(shorter));
    let are_long = starts.iter().all(|one| one.len() >= START_BYTES_MIN);
    (are_long && !starts.is_empty()).then_some(starts)
}

/// Returns whether trying the pattern at each of its starts takes linear time. It must be bounded up to its
/// first white space. After that, an unbounded repetition must stay within a word or within white space.
fn is_tame(pattern: &Hir) -> bool {
    let parts = match pattern.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(pattern),
    };
    let mut in_first_word = true;
    parts.iter().all(|part| {
        let is_space = is_white(part) && part.properties().minimum_len() > Some(0);
        in_first_word &= !is_space;
        stays(part, in_first_word)
    })
}

fn stays(pattern: &Hir, in_first_word: bool) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => true,
        HirKind::Repetition(repeated) if repeated.max.is_none() => {
            is_white(&repeated.sub) || (!in_first_word && is_solid(&repeated.sub))
        }
        HirKind::Repetition(repeated) => stays(&repeated.sub, in_first_word),
        HirKind::Capture(group) => stays(&group.sub, in_first_word),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| stays(part, in_first_word))
        }
    }
}

/// Returns whether every match consists of white space only.
fn is_white(pattern: &Hir) -> bool {
    are_all(pattern, &|start, end| {
        (start..=end).all(char::is_whitespace)
    })
}

/// Returns whether no match contains white space.
fn is_solid(pattern: &Hir) -> bool {
    are_all(pattern, &|start, end| {
        !(start..=end.min(LAST_WHITE)).any(char::is_whitespace)
    })
}

/// Returns whether all character ranges in a pattern satisfy `are`.
fn are_all(pattern: &Hir, are: &dyn Fn(char, char) -> bool) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            text.chars().all(|one| are(one, one))
        }
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().all(|range| are(range.start(), range.end()))
        }
        HirKind::Class(Class::Bytes(class)) => class
            .iter()
            .all(|range| are(range.start().into(), range.end().into())),
        HirKind::Repetition(repeated) => are_all(&repeated.sub, are),
        HirKind::Capture(group) => are_all(&group.sub, are),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| are_all(part, are))
        }
    }
}
