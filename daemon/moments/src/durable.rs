//! Which sentences of a message hold for longer than its turn: decisions, rules, corrections, findings, preferences, facts.
//!
//! Cues in five languages add up; hedges, plans, reports of work done and questions count against them. Only such sentences are
//! candidates for injection: what a sentence *is* matters more than how well it matches.

use std::ops::Range;

use crate::antecedent::join_with_antecedent;
use crate::budget::one_line;
use crate::choice::choice;
use crate::cues;
use crate::explanation::explains;
use crate::lasting::lasting;
use crate::numbered::numbered_choices;
use crate::passing::{is_passing, orders_once};
use crate::reproach::is_reproach;
use crate::text::language::{Language, language};
use crate::text::list::WordList;
use crate::text::split::{Sentence, sentences};
use crate::text::tokens::{Token, tokens};

/// A sentence counts as durable from this cue on.
pub const CUE_COUNTS: f32 = 1.0;

/// A sentence is a candidate for injection from this cue on.
pub const CUE_CANDIDATE: f32 = 0.7;

/// How sure a question is that says what should have been done.
const REPROACH: f32 = 0.8;

/// Logits of a sentence's form: from here on it lasts although no cue knows it, from here on it counts as sure, and below here a weak
/// cue is not believed.
const FORM_LASTS: f32 = 0.0;
const FORM_LASTS_OF_AGENT: f32 = 0.25;
const FORM_SURE: f32 = 1.5;
const FORM_PASSES: f32 = -2.5;

/// The cue of a sentence that only its form shows, and from where on a cue needs no form.
const CUE_BY_FORM: f32 = 0.8;
const CUE_SURE: f32 = 1.3;

/// Cues do not grow beyond this.
const CUE_MAX: f32 = 3.0;

/// Words that a durable sentence has at least. Chinese is counted in characters, of which it needs twice as many.
const WORDS_MIN: usize = 3;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Speaker {
    /// The user.
    User,
    /// An agent.
    Agent,
}

/// What a durable sentence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DurableKind {
    /// What the user asked to be remembered.
    Remember,
    /// What was decided.
    Decision,
    /// A question with the short reply that decided it.
    Choice,
    /// What always or never holds.
    Rule,
    /// What was wrong before.
    Correction,
    /// A cause, or how something was found to behave.
    Finding,
    /// What the user likes better.
    Preference,
    /// How things are: an address, a name, a limit.
    Fact,
}

impl DurableKind {
    /// Returns the word in lines and in the log. Words never change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Decision => "decision",
            Self::Choice => "choice",
            Self::Rule => "rule",
            Self::Correction => "correction",
            Self::Finding => "finding",
            Self::Preference => "preference",
            Self::Fact => "fact",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Remember,
        Self::Decision,
        Self::Choice,
        Self::Rule,
        Self::Correction,
        Self::Finding,
        Self::Preference,
        Self::Fact,
    ];
}

/// A message, and what came before it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its text.
    pub text: &'a str,
    /// Who said it.
    pub speaker: Speaker,
    /// The answer that a prompt replies to, if there is one.
    pub previous_answer: Option<&'a str>,
    /// Whether the agent edited files in the turn before a prompt: then "use X instead" corrects it.
    pub follows_edit: bool,
}

impl<'a> Message<'a> {
    /// Returns a prompt that nothing precedes.
    #[must_use]
    pub const fn prompt(text: &'a str) -> Self {
        Self {
            text,
            speaker: Speaker::User,
            previous_answer: None,
            follows_edit: false,
        }
    }

    /// Returns an agent's answer.
    #[must_use]
    pub const fn answer(text: &'a str) -> Self {
        Self {
            text,
            speaker: Speaker::Agent,
            previous_answer: None,
            follows_edit: false,
        }
    }
}

/// A durable sentence of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct DurableSentence {
    /// The sentence in one line; for a choice the question and the reply.
    pub text: String,
    /// Its bytes in the message; for a choice those of the reply.
    pub span: Range<usize>,
    /// What it is.
    pub kind: DurableKind,
    /// How sure that is, 0.7 to 3: at [`CUE_CANDIDATE`] it may be injected, at [`CUE_COUNTS`] it counts as a decision.
    pub cue: f32,
    /// Its language.
    pub language: Language,
}

impl DurableSentence {
    /// Returns a text that was recorded to be remembered: it holds whatever its words are.
    #[must_use]
    pub fn remembered(text: &str, kind: DurableKind) -> Self {
        Self {
            text: one_line(text),
            span: 0..text.len(),
            kind,
            cue: CUE_MAX,
            language: language(text, &tokens(text)),
        }
    }
}

/// Returns the durable sentences of a message, in its order.
#[must_use]
pub fn durable(message: &Message) -> Vec<DurableSentence> {
    let mut found = Vec::new();
    if message.speaker == Speaker::User
        && let Some(answer) = message.previous_answer
    {
        found = numbered_choices(answer, message.text);
        if found.is_empty()
            && let Some(choice) = choice(answer, message.text)
        {
            let text = choice.text();
            let language = language(&text, &tokens(&text));
            return vec![DurableSentence {
                text,
                span: choice.reply_span,
                kind: DurableKind::Choice,
                cue: 2.0,
                language,
            }];
        }
    }
    let replies: Vec<Range<usize>> = found.iter().map(|one| one.span.clone()).collect();
    let is_reply = |span: &Range<usize>| {
        let mut spans = replies.iter();
        spans.any(|reply| reply.start < span.end && span.start < reply.end)
    };
    let own = sentences(message.text);
    let mut is_remembered = false;
    for (at, sentence) in own.iter().enumerate() {
        if is_reply(&sentence.span) {
            continue;
        }
        // "Remember this:" speaks of what follows.
        let mut durable = judge(sentence, message, is_remembered);
        let before = at.checked_sub(1).and_then(|before| own.get(before));
        if let (Some(durable), Some(before)) = (&mut durable, before) {
            join_with_antecedent(durable, before, &mut found);
        }
        is_remembered = durable
            .as_ref()
            .is_some_and(|one| one.kind == DurableKind::Remember)
            && sentence.text.ends_with(':');
        found.extend(durable.filter(|_| !is_remembered));
    }
    found
}

/// Returns the sentences of a message in which durable ones are looked for.
#[must_use]
pub fn message_sentences(message: &str) -> Vec<String> {
    let own = sentences(message).into_iter();
    own.map(|sentence| sentence.text).collect()
}

/// Whether a message asks that something is remembered.
#[must_use]
pub fn asks_to_remember(text: &str) -> bool {
    let found = durable(&Message::prompt(text));
    found.iter().any(|one| one.kind == DurableKind::Remember)
}

fn judge(sentence: &Sentence, message: &Message, is_remembered: bool) -> Option<DurableSentence> {
    let tokens = tokens(&sentence.text);
    let language = language(&sentence.text, &tokens);
    let words = tokens.iter().filter(|token| !token.is_mark()).count();
    let is_long_enough = match language {
        Language::Chinese => sentence.text.chars().count() > 2 * WORDS_MIN,
        _ => words >= WORDS_MIN,
    };
    if !is_long_enough {
        return None;
    }
    if sentence.is_question || asks(&tokens) {
        let is_user = message.speaker == Speaker::User;
        return (is_user && is_reproach(&tokens, language)).then(|| DurableSentence {
            text: sentence.text.clone(),
            span: sentence.span.clone(),
            kind: DurableKind::Correction,
            cue: REPROACH,
            language,
        });
    }
    if !is_remembered && is_passing(sentence, &tokens, message) {
        return None;
    }
    let sum = cues::sum(&sentence.text, &tokens, language, message.speaker);
    let (mut weight, mut kind) = (sum.weight, sum.kind);
    let is_user = message.speaker == Speaker::User;
    if is_user {
        let is_statement = cues::is_declarative(&tokens, language);
        let is_ban = cues::is_ban(&tokens);
        if cues::is_universal(&tokens) && (is_statement || is_ban || kind.is_some()) {
            weight += if kind.is_some() { 0.4 } else { 1.2 };
            kind = kind.or(Some(DurableKind::Rule));
        }
        // "The chart is too narrow, widen it" gives the reason for an order that is done once.
        let orders = orders_once(&tokens);
        if orders && kind == Some(DurableKind::Rule) && weight < CUE_COUNTS {
            kind = None;
            weight = 0.0;
        }
        if is_statement && !orders {
            let is_specific = tokens
                .iter()
                .skip(1)
                .any(|token| token.is_specific || token.is_capital);
            weight += match (kind.is_some(), is_specific) {
                (true, _) => 0.3,
                (false, true) => 1.0,
                (false, false) => 0.8,
            };
            kind = kind.or(Some(DurableKind::Fact));
        }
        if message.follows_edit && is_correcting(&tokens) && sum.weight > -1.0 {
            weight += 0.8;
            if kind != Some(DurableKind::Rule) || sum.weight < CUE_COUNTS {
                kind = Some(DurableKind::Correction);
            }
        }
        if is_remembered {
            weight = weight.max(0.0) + 2.0;
            kind = Some(DurableKind::Remember);
        }
    } else if kind.is_none_or(|kind| kind == DurableKind::Finding)
        && explains(&tokens, language)
        && sum.weight > -1.0
    {
        weight += 1.0;
        kind = Some(DurableKind::Finding);
    }
    let is_known = kind.is_some() && weight >= CUE_CANDIDATE;
    // The form decides only where cues do not.
    let is_open = match is_known {
        true => weight < CUE_SURE,
        false => sum.weight > -1.0 && !points_at_hand(&tokens),
    };
    let form = (is_open && kind != Some(DurableKind::Remember))
        .then(|| lasting(&sentence.text, &tokens, language, message.speaker))
        .flatten();
    if let Some(form) = form {
        if is_known && form < FORM_PASSES {
            return None;
        }
        let lasts = if is_user {
            FORM_LASTS
        } else {
            FORM_LASTS_OF_AGENT
        };
        if !is_known && form >= lasts {
            kind = kind.or_else(|| Some(kind_by_form(&tokens, is_user)));
            weight = if form >= FORM_SURE {
                CUE_COUNTS
            } else {
                CUE_BY_FORM
            };
        }
    }
    let kind = kind?;
    (weight >= CUE_CANDIDATE).then(|| DurableSentence {
        text: sentence.text.clone(),
        span: sentence.span.clone(),
        kind,
        cue: weight.min(CUE_MAX),
        language,
    })
}

/// Words of a short order about what is at hand: "apply this review".
const AT_HAND_WORDS: usize = 5;

fn points_at_hand(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| !token.is_mark());
    let is_pointing = |token: &Token| matches!(token.text.as_str(), "this" | "these" | "that");
    words.clone().count() <= AT_HAND_WORDS && words.nth(1).is_some_and(is_pointing)
}

/// Words of a rule.
static RULING: WordList = WordList::new(
    "no not never only must mustn't can't cannot won't don't always nothing nobody every \
    kein keine keinen nie nicht nur immer muss müssen darf",
);

/// Returns what a sentence is of which only the form shows that it lasts.
fn kind_by_form(tokens: &[Token], is_user: bool) -> DurableKind {
    let is_personal = tokens
        .iter()
        .any(|token| matches!(token.text.as_str(), "i" | "we" | "ich" | "wir"));
    match (is_user, is_personal) {
        (true, _) if tokens.iter().any(|token| RULING.has(&token.text)) => DurableKind::Rule,
        (true, _) => DurableKind::Fact,
        (false, true) => DurableKind::Decision,
        (false, false) => DurableKind::Finding,
    }
}

/// Words that start a question, also without its mark; and those that do so before a pronoun.
static INTERROGATIVES: WordList = WordList::new(
    "what why how where who whose is are does did was were warum wieso weshalb wer wo pourquoi comment qué cómo cuándo",
);
static AUXILIARIES: WordList = WordList::new("can could do would will should shall may have has");
static PRONOUNS: WordList = WordList::new("you we i it they this that there the he she");

/// Whether a sentence asks, by its first words.
fn asks(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| !token.is_mark());
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    INTERROGATIVES.has(&first.text) || (AUXILIARIES.has(&first.text) && PRONOUNS.has(&second.text))
}

/// Whether a prompt right after an edit corrects it.
fn is_correcting(tokens: &[Token]) -> bool {
    let has = |words: &[&str]| {
        tokens
            .iter()
            .take(12)
            .any(|token| words.contains(&token.text.as_str()))
    };
    has(&[
        "instead",
        "not",
        "rather",
        "wrong",
        "no",
        "shouldn't",
        "don't",
        "statt",
        "nicht",
        "nein",
        "pas",
        "plutôt",
        "sino",
    ]) && tokens.len() >= 4
}
