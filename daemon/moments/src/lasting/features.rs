//! The features of a sentence's form.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::explanation::is_past;
use crate::passing::orders_once;
use crate::text::list::WordList;
use crate::text::tokens::Token;
use crate::text::words::is_imperative;

/// Words that name nothing: they make the form of a sentence.
static FUNCTION_WORDS: WordList = WordList::new(
    "the a an and or but if so because since as that which who when where while until unless before after otherwise instead rather \
    than then though although i you we they he she it this these those there here our your their his her its my us me them one \
    nobody everyone everybody someone anyone nothing anything everything no not never always only ever just even still already yet \
    again now later soon today yesterday tomorrow currently is are was were be been being am has have had do does did don't doesn't \
    didn't isn't aren't wasn't weren't can can't cannot could couldn't may might must mustn't shall should shouldn't will won't would \
    wouldn't need needs needn't want wants let lets let's it's that's i'm i'd i've i'll we're we've we'll you're they're there's \
    please in on at to from by of off for with without into onto over under above below between within per via during against about \
    around through out up down all each every any both some more most less least fewer other another same such own first last next \
    new old very too also either neither what why how what's keep keeps stay stays use uses make makes take takes get gets go goes \
    come comes run runs put \
    der die das den dem ein eine einen einem und oder aber wenn weil da damit dass sonst statt nur nie immer kein keine keinen nicht \
    ist sind war waren wird werden hat haben muss müssen soll sollen darf dürfen kann können bitte wir ich sie er es uns unser auf im \
    am an mit ohne für von vom zum zur bei nach vor über unter bis seit als wie auch noch schon mal jetzt heute mir",
);

/// Words of a short sentence, of a medium one, and those that count for the length.
const SHORT: usize = 3;
const MEDIUM: usize = 7;
const LONG: usize = 40;

/// A pair of neighbours says partly what the two words say.
const PAIR: f32 = 0.7;

/// Part of a sentence's form.
#[derive(Clone, Copy, Debug)]
pub enum Feature<'a> {
    /// A function word.
    Word(&'a str),
    /// The first word, or its class.
    First(&'a str),
    /// The second word, or its class.
    Second(&'a str),
    /// Two function words side by side.
    Pair(&'a str, &'a str),
    /// Anything else.
    Shape(&'static str),
}

impl Feature<'_> {
    /// Returns the name in the table of weights.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Word(word) => format!("word:{word}"),
            Self::First(word) => format!("first:{word}"),
            Self::Second(word) => format!("second:{word}"),
            Self::Pair(one, other) => format!("pair:{one}_{other}"),
            Self::Shape(shape) => format!("shape:{shape}"),
        }
    }

    /// Returns the hash of the name, without making it.
    pub(super) fn key(&self) -> u64 {
        let mut key = Key::default();
        match self {
            Self::Word(word) => key.add("word:").add(word),
            Self::First(word) => key.add("first:").add(word),
            Self::Second(word) => key.add("second:").add(word),
            Self::Pair(one, other) => key.add("pair:").add(one).add("_").add(other),
            Self::Shape(shape) => key.add("shape:").add(shape),
        };
        key.0.finish()
    }
}

/// A hash of bytes, one by one, so that the parts of a name hash as the whole.
#[derive(Default)]
struct Key(FxHasher);

impl Key {
    fn add(&mut self, text: &str) -> &mut Self {
        for byte in text.bytes() {
            self.0.write_u8(byte);
        }
        self
    }
}

pub(super) fn key_of_name(name: &str) -> u64 {
    let mut key = Key::default();
    key.add(name);
    key.0.finish()
}

/// Calls a function with each feature of a sentence and its value.
pub fn each_feature(text: &str, tokens: &[Token], add: &mut dyn FnMut(Feature<'_>, f32)) {
    let words: Vec<&Token> = tokens.iter().filter(|token| !token.is_mark()).collect();
    let (Some(first), count) = (words.first(), words.len()) else {
        return;
    };
    let is_repeated = |at: usize| {
        let before = words.iter().take(at);
        before
            .into_iter()
            .any(|word| word.text == words.get(at).map_or("", |word| &word.text))
    };
    for (at, word) in words.iter().enumerate() {
        if FUNCTION_WORDS.has(&word.text) && !is_repeated(at) {
            add(Feature::Word(&word.text), 1.0);
        }
    }
    add(Feature::First(class(first)), 1.0);
    if let Some(second) = words.get(1) {
        add(Feature::Second(class(second)), 1.0);
    }
    for pair in tokens.windows(2) {
        if let [one, other] = pair
            && FUNCTION_WORDS.has(&one.text)
            && FUNCTION_WORDS.has(&other.text)
        {
            add(Feature::Pair(&one.text, &other.text), PAIR);
        }
    }
    shapes(text, tokens, &words, count, add);
}

/// What a word is if its own name says nothing.
fn class(word: &Token) -> &str {
    let text = word.text.as_str();
    if FUNCTION_WORDS.has(text) {
        return text;
    }
    if is_imperative(text) {
        return "<request>";
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return "<number>";
    }
    let ends = [("ing", "<ing>"), ("ed", "<ed>"), ("s", "<s>")];
    let end = ends.iter().find(|(end, _)| text.ends_with(end));
    end.map_or("<other>", |(_, name)| name)
}

fn shapes(
    text: &str,
    tokens: &[Token],
    words: &[&Token],
    count: usize,
    add: &mut dyn FnMut(Feature<'_>, f32),
) {
    let text = text.trim_end();
    let mark = |mark: &str| tokens.iter().filter(|token| token.text == mark).count();
    let mut when = |is_so: bool, name: &'static str| {
        if is_so {
            add(Feature::Shape(name), 1.0);
        }
    };
    when(true, "constant");
    when(count <= SHORT, "short");
    when(count < MEDIUM, "medium");
    when(text.ends_with('?'), "question");
    when(text.ends_with('!'), "exclamation");
    when(text.ends_with('.'), "stop");
    when(mark(";") > 0, "semicolon");
    when(mark(":") > 0, "colon");
    when(mark("(") > 0, "parenthesis");
    when(text.contains(['"', '`']), "quote");
    when(
        words.first().is_some_and(|first| first.is_capital),
        "capital",
    );
    when(orders_once(tokens), "order_later");
    when(
        words
            .iter()
            .any(|word| word.text.starts_with(|c: char| c.is_ascii_digit())),
        "number",
    );
    when(words.iter().any(|word| word.is_specific), "specific");
    when(words.iter().any(|word| is_path(&word.text)), "path");
    add(Feature::Shape("length"), count.min(LONG) as f32 / 20.0);
    add(Feature::Shape("commas"), mark(",").min(2) as f32 / 2.0);
    let past = words.iter().filter(|word| is_past(&word.text)).count();
    add(Feature::Shape("past"), past.min(2) as f32 / 2.0);
}

/// Whether a word names a file: "src/lib.rs".
fn is_path(word: &str) -> bool {
    let ending = word.rsplit_once('.').map(|(_, ending)| ending);
    let is_ending = |ending: &str| {
        (1..=4).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphabetic())
    };
    word.contains('/') || ending.is_some_and(is_ending)
}
