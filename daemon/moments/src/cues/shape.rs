//! The shape of a user's sentence: a statement about things, as against a request or a report of trouble.

use crate::text::language::Language;
use crate::text::list::WordList;
use crate::text::tokens::Token;
use crate::text::words::is_imperative;

/// Starts of a statement about things.
static SUBJECTS: WordList = WordList::new(
    "the our all every each any a an these those my both no der die das unser unsere alle jede jeder jedes ein eine \
    kein keine le la les l' notre nos chaque tous toutes aucun aucune un une el los las nuestro nuestra cada todos \
    todas ningún ninguna",
);

/// Words before a statement that are no part of it.
static MARKERS: WordList = WordList::new(
    "ok okay please also and but so bitte yeah yep nope hmm hm btw fyi oh well right",
);

/// Words before a statement that a mark divides from it.
static ANSWERS: WordList = WordList::new("no stop wait careful nah wrong nein halt non");

/// Words that are no subject of a statement about things.
static NO_SUBJECTS: WordList = WordList::new(
    "there here looks look sounds seems can could would should do does did is are was were will now then sure still maybe yes no \
    thanks not just only let's lets try first next finally kannst könntest peux-tu hay",
);

/// Words of a subject that has a lower-case start, at most.
const LOWER_SUBJECT_WORDS: usize = 4;

/// Words of a subject with its clauses, at most.
const SUBJECT_WORDS: usize = 11;

/// Verbs of lasting states.
static STATES: WordList = WordList::new(
    "is are has have needs need uses use runs run takes take lives live stays stay listens listen belongs belong \
    contains contain requires require arrives arrive lasts last goes go starts start ends end expires expire fades \
    fade talks talk speaks gets get comes come costs keeps keep means must may counts count follows follow writes \
    reads sends owns applies apply returns accepts accept supports support depends hold holds allows covers sits \
    sit points point serves works work sets opens closes pays stores loads saves checks rejects drops converts \
    send write print prints expect expects want wants treat treats shows filters dims ships ist sind hat haben läuft laufen braucht brauchen dauert dauern liegt liegen \
    bleibt bleiben geht gehen bekommt bekommen kommt kommen gilt gelten wird werden nutzt verwendet steht heißt muss müssen darf est sont a \
    ont utilise reste restent dure doit doivent tourne vient es son está tiene tienen usa usan dura duran debe \
    deben van va queda llega devuelve devuelven escucha corre returns return",
);

/// Verbs of other languages that are other words in English.
static ENGLISH_WORDS: WordList = WordList::new("a son van");

/// Words of trouble and of the moment: such a statement is a report.
static MOMENTARY: WordList = WordList::new(
    "blank last error errors since throwing happened happens fail fails failing failed broken red slow wrong again still typo missing crash crashes bug now \
    currently today seems looks good fine great nice weird confusing ugly there done ready empty green down flaky \
    hangs stuck unused kaputt rot langsam fehlt schon wieder gerade cassé lent encore maintenant roto lento ahora \
    yet doesn't isn't aren't don't didn't won't not nicht can't",
);

/// Those that make a report of a statement also in a later clause, which otherwise gives its reason.
static REPORTING: WordList = WordList::new(
    "throwing failing broken again still crashes crash now currently today seems looks weird confusing ugly flaky hangs stuck \
    good fine great nice kaputt schon wieder gerade cassé encore maintenant roto ahora",
);

static QUANTIFIERS: WordList = WordList::new(
    "every each all any no only nobody anything everything jede jeder jedes alle keine kein nur chaque tous toutes \
    aucun aucune cada todos todas ningún ninguna",
);

/// Words that start a ban.
static BANS: WordList = WordList::new("no kein keine keinen aucun aucune ningún ninguna");

/// Words after "no" that make it an answer or an idiom.
static IDIOMS: WordList =
    WordList::new("problem idea worries way luck thanks need one's it's i that's");

/// Returns the tokens without a leading marker such as "ok," or "please".
fn body(tokens: &[Token]) -> &[Token] {
    // "No, the titles are ..." is an answer, "No titles" is none.
    let answer = match tokens {
        [first, mark, ..] if ANSWERS.has(&first.text) && mark.is_mark() => 2,
        _ => 0,
    };
    let rest = tokens.get(answer..).unwrap_or_default();
    let skipped = rest
        .iter()
        .take_while(|token| token.is_mark() || MARKERS.has(&token.text));
    rest.get(skipped.count()..).unwrap_or_default()
}

/// Whether a sentence states how things are, in the present tense and not as a report of trouble.
#[must_use]
pub fn is_declarative(tokens: &[Token], language: Language) -> bool {
    let tokens = body(tokens);
    let Some(first) = tokens.first() else {
        return false;
    };
    if language == Language::Chinese {
        return false;
    }
    let is_english = language == Language::English;
    // After the subject, whose first word is no verb: "Table names are ...", "Music fades ...".
    let state = tokens.iter().skip(1).take(SUBJECT_WORDS).position(|token| {
        STATES.has(&token.text) && !(is_english && ENGLISH_WORDS.has(&token.text))
    });
    let Some(state) = state else {
        return false;
    };
    // The subject may have a clause, so the statement ends after its verb.
    let (statement, reason) = tokens.split_at(end_of_statement(tokens, state + 2));
    if statement.iter().any(|token| MOMENTARY.has(&token.text))
        || reason.iter().any(|token| REPORTING.has(&token.text))
    {
        return false;
    }
    let subject = tokens.get(..=state).unwrap_or_default();
    let is_personal = subject.iter().any(|token| {
        matches!(
            token.text.as_str(),
            "i" | "you"
                | "it"
                | "this"
                | "he"
                | "she"
                | "ich"
                | "du"
                | "je"
                | "tu"
                | "yo"
                | "es"
                | ","
                | "what"
                | "how"
                | "why"
                | "where"
                | "which"
                | "if"
                | "when"
        )
    });
    // Many people write without capitals: then the subject has to be short and without a clause of its own.
    let is_short_subject = state < LOWER_SUBJECT_WORDS
        && !NO_SUBJECTS.has(&first.text)
        && !subject
            .iter()
            .any(|token| matches!(token.text.as_str(), "that" | "which" | "who"));
    let is_nominal = SUBJECTS.has(&first.text) || first.is_capital || is_short_subject;
    // "Commit messages are ..."
    let third = tokens.get(2).map(|token| token.text.as_str());
    let is_compound = state == 1 && matches!(third, Some("is" | "are" | "have" | "need"));
    is_nominal && !is_personal && (is_compound || !is_imperative(&first.text))
}

/// Returns where the clause of a statement ends, at this place or later.
fn end_of_statement(tokens: &[Token], from: usize) -> usize {
    let rest = tokens.iter().enumerate().skip(from);
    let ends = |token: &Token| {
        matches!(
            token.text.as_str(),
            "," | ";" | ":" | "(" | "because" | "so" | "weil" | "car" | "porque"
        )
    };
    let end = rest.into_iter().find(|(_, token)| ends(token));
    end.map_or(tokens.len(), |(at, _)| at)
}

/// Whether a word is a verb of a lasting state: "is", "counts", "returns".
#[must_use]
pub fn is_state(word: &str) -> bool {
    STATES.has(word)
}

/// Whether a sentence forbids a kind of things: "No text smaller than 18 px".
#[must_use]
pub fn is_ban(tokens: &[Token]) -> bool {
    let tokens = body(tokens);
    let is_negative = tokens.first().is_some_and(|first| BANS.has(&first.text));
    is_negative
        && is_universal(tokens)
        && tokens.len() >= 5
        && !tokens
            .iter()
            .any(|token| MOMENTARY.has(&token.text) && token.text != "not")
}

/// Whether a sentence speaks of all things of a kind.
#[must_use]
pub fn is_universal(tokens: &[Token]) -> bool {
    let tokens = body(tokens);
    let (Some(first), Some(second)) = (tokens.first(), tokens.get(1)) else {
        return false;
    };
    QUANTIFIERS.has(&first.text)
        && !second.is_mark()
        && !IDIOMS.has(&second.text)
        && tokens.len() >= 4
}
