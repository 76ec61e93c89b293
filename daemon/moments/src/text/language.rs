//! The language of a sentence, by its function words.

use super::is_cjk;
use super::list::WordList;
use super::tokens::Token;

/// A language that has cues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// English, and whatever has no function words of another one.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Chinese.
    Chinese,
}

pub(super) static GERMAN: WordList = WordList::new(
    "der die das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden wurde nicht \
    kein keine keinen mit von für auf aus bei nach zu zum zur im ins wir ich du er sie es man bitte immer nie \
    niemals jede jeder jedes jeden alle nur soll sollen muss müssen darf dürfen kann können statt weil dass damit \
    wie warum was schon wieder noch ab bleibt bleiben nein ja mir uns diese dieser diesen hat habe haben lieber \
    außer ohne vom am füge zeige mach sollte sollten falsch nehmen",
);
pub(super) static FRENCH: WordList = WordList::new(
    "le la les l' d' n' j' qu' c' un une des du de et ou est sont était pas ne jamais toujours on nous vous je tu \
    il elle ils avec pour dans sur aux au que qui ce cette ces désormais chaque tous toutes doit doivent faut \
    plutôt non oui mais sans avons ai a pourquoi quel quelle venait",
);
pub(super) static SPANISH: WordList = WordList::new(
    "el la los las un una unos del de al y o es son era está no nunca siempre nosotros yo que con para por en sobre \
    se lo le nos cada todos todas debe deben hay pero sin más ahora qué cuál cómo porque lugar vez voy a he sí \
    usar quedamos prefiero partir adelante",
);
pub(super) static ENGLISH: WordList = WordList::new(
    "the a an and or but is are was were be not no never always with of for on in from to we i you it they that \
    this these must should can do does don't let's please every all only when because by at as our my",
);

/// Returns the language of a sentence.
#[must_use]
pub fn language(sentence: &str, tokens: &[Token]) -> Language {
    let cjk = sentence.chars().filter(|c| is_cjk(*c)).take(2).count();
    if cjk > 1 {
        return Language::Chinese;
    }
    let count = |words: &WordList| tokens.iter().filter(|token| words.has(&token.text)).count();
    let accents = |letters: &[char]| usize::from(sentence.contains(letters));
    let mut best = (Language::English, count(&ENGLISH));
    let others = [
        (
            Language::German,
            count(&GERMAN) + accents(&['ä', 'ö', 'ü', 'ß']),
        ),
        (
            Language::French,
            count(&FRENCH) + accents(&['é', 'è', 'ê', 'ç', 'à', 'ù', 'î', 'ô']),
        ),
        (
            Language::Spanish,
            count(&SPANISH) + accents(&['ñ', '¿', '¡', 'á', 'í', 'ó', 'ú']),
        ),
    ];
    for (language, hits) in others {
        if hits > best.1 {
            best = (language, hits);
        }
    }
    best.0
}
