//! What every match of a pattern has: facts by which most of a text is passed over unread.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Sets of which a match has a byte each, at most: more tell hardly more.
const HAS_MAX: usize = 6;
/// How much of the start of a match is looked for, in bytes.
const START_BYTES_MAX: usize = 8;
/// Shortest start that is looked for, in bytes: shorter ones are everywhere.
const START_BYTES_MIN: usize = 2;
/// Ways in which a match may start, at most; each letter in both cases is one.
const STARTS_MAX: usize = 2048;
/// No white space has a greater number.
const LAST_WHITE: char = '\u{3000}';

/// Kinds of bytes, as a set: letters by case, digits, white space, control characters, what is not
/// ASCII. Every other character of ASCII is a kind of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kinds(u64);

impl Kinds {
    /// White space of ASCII.
    pub(super) const SPACE: Self = Self(1);
    const LOWER: Self = Self(1 << 1);
    const UPPER: Self = Self(1 << 2);
    /// Digits.
    pub(super) const DIGIT: Self = Self(1 << 3);
    /// Letters of ASCII.
    pub(super) const LETTER: Self = Self::LOWER.with(Self::UPPER);

    /// The kind of a byte.
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

    /// Those of both.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether both have a kind.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// What every match of a pattern has.
#[derive(Clone, Debug)]
pub(super) struct PatternFacts {
    /// Where its matches are.
    pub(super) place: MatchLocation,
    /// Of each of these kinds it has a byte.
    has: Vec<Kinds>,
    /// The bytes of the shortest.
    bytes_min: usize,
}

/// Where the matches of a pattern are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MatchLocation {
    /// Each within a word: it has no white space of ASCII.
    Word,
    /// Each begins with one of these, in small letters. Whether one begins somewhere is told by the
    /// words that follow: looking at all of these places takes no longer than reading the text.
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

    /// A match has one of these kinds, too.
    pub(super) fn and_has(&mut self, kinds: &[Kinds]) {
        self.has = least(self.has.iter().chain(kinds).copied().collect());
    }

    /// Whether there may be a match among bytes of these kinds.
    pub(super) fn fit_kinds(&self, kinds: Kinds) -> bool {
        self.has.iter().all(|has| has.meets(kinds))
    }

    /// Whether there may be a match among so many bytes.
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

/// All kinds that a match may have.
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
        // What is not ASCII is one kind.
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

/// Sets of which every match has a byte each.
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
            // Whichever part matched: something of the one or of the other.
            parts.fold(first, |all, part| {
                let either = |one: &Kinds| part.iter().map(move |other| one.with(*other)).collect();
                least(all.iter().flat_map::<Vec<Kinds>, _>(either).collect())
            })
        }
    }
}

/// Without the sets that others imply; those that tell most.
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

/// How every match starts, in small letters; `None` when that would be too much or too little to
/// look for.
fn starts(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let starts = Extractor::new()
        .limit_literal_len(START_BYTES_MAX)
        .limit_total(STARTS_MAX)
        .extract(pattern);
    let starts = starts.literals()?.iter();
    let mut starts: Vec<Vec<u8>> = starts
        .map(|start| {
            // What may be behind the first word is of many forms, and tells little.
            let is_letter = |byte: &&u8| !byte.is_ascii() || byte.is_ascii_alphanumeric();
            let first = start.as_bytes().iter().take_while(is_letter);
            first.map(u8::to_ascii_lowercase).collect()
        })
        .collect();
    starts.sort_unstable();
    // What starts with another one is found with it.
    starts.dedup_by(|longer, shorter| longer.starts_with(shorter));
    let are_long = starts.iter().all(|one| one.len() >= START_BYTES_MIN);
    (are_long && !starts.is_empty()).then_some(starts)
}

/// Whether trying the pattern wherever it may start reads no part of a text often: up to its first
/// white space it is bounded, and then what repeats without bound stays within a word, or within
/// white space.
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

/// Whether all characters of all matches are white space.
fn is_white(pattern: &Hir) -> bool {
    are_all(pattern, &|start, end| {
        (start..=end).all(char::is_whitespace)
    })
}

/// Whether no character of any match is white space.
fn is_solid(pattern: &Hir) -> bool {
    are_all(pattern, &|start, end| {
        !(start..=end.min(LAST_WHITE)).any(char::is_whitespace)
    })
}

/// Whether all ranges of characters in a pattern are such.
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
