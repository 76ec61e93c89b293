//! Takes a statement apart: its subject, its verb, what it says, and where that holds.

use super::{PhrasePart, Statement, UNITS_MAX, Unit, roles};
use crate::text::list::WordList;
use crate::text::tokens::{Token, tokens};
use crate::text::words::{hash, is_imperative, stem_any};

/// Words that introduce a statement, as phrases; the longest ones first.
static LEADS: WordList = WordList::new(
    "we have decided that|we've decided that|it was decided that|we decided that|we decided to|we have decided to|\
     we agreed that|we agreed to|it turns out that|it turned out that|from now on|as of now|as of today|note that|\
     please note that|remember that|remember|decision|correction|update|fact|preference|note|important|actually|please|\
     wir haben entschieden dass|ab jetzt|ab sofort|bitte|merke|nous avons décidé que|désormais|à partir de maintenant|\
     hemos decidido que|a partir de ahora|recuerda que|no",
);

/// Words that say nothing here in any of the languages.
static EMPTY: WordList = WordList::new(
    "the a an we i you they it he she our my your their its this that these those there here now also just only and or then \
     please always must should shall will would can could may might have has had to do does did of by so still today \
     currently every each any all both again own der die das den dem des ein eine einen einem einer eines wir ich du sie es \
     man und oder immer soll sollen muss müssen bitte jetzt auch nur le la les l' un une des du de d' nous je tu vous ils on \
     et ou toujours doit doivent faut maintenant el los las una unos del nosotros yo se y o siempre debe deben ahora",
);

/// Words that deny.
static NEGATIONS: WordList = WordList::new(
    "not no never don't doesn't isn't aren't won't shouldn't mustn't can't cannot didn't wasn't without avoid neither nor \
     nicht kein keine keinen keinem keiner nie niemals pas jamais ne n' nunca jamás",
);

/// Phrases that deny, or say that something ended.
static ENDINGS: WordList = WordList::new(
    "no longer|not any more|not anymore|anymore|any longer|stop using|stopped using|nicht mehr|ne plus|ya no",
);

/// Forms of "to be".
static COPULAS: WordList = WordList::new(
    "is are was were be been being ist sind war waren wird werden wurde est sont était es son era está",
);

/// Verbs of which only one thing is true at a time.
static FUNCTIONAL: WordList = WordList::new(
    "use uses used using prefer prefers preferred sets name names named call calls called host hosts hosted live lives lived \
     default defaults indent indents indented deploy deploys deployed return returns returned require requires required happen \
     happens pin pins pinned choose chosen pick picked listen listens lauscht gespeichert verwendet verwende verwenden nutzt nutzen \
     nutze écoute utilise utilisons stockés stockées escucha usa usamos guarda guardan expire expires takes costs \
     restored sorted ordered based located mounted configured",
);

/// Verbs that put something somewhere or into a form: the same, and what they put comes before the place.
static STORING: WordList = WordList::new(
    "store stores stored keep keeps kept save saves saved put write writes written log logs logged format formats formatted encode \
     encodes encoded serialise serialised serialize serialized hash hashes hashed speichere stocke guarda",
);

/// Verbs that are of that kind only with a place directly behind them: "runs on", but not "run the tests".
static WITH_PLACE: WordList =
    WordList::new("run runs start starts started end ends ended build builds built läuft moved");

/// Words before a time or a limit, if a number follows.
static TIMINGS: WordList = WordList::new(
    "at after within before every um nach innerhalb après dans avant después antes cada",
);

/// Words that may precede the verb of an order.
static BEFORE_ORDERS: WordList =
    WordList::new("do please always just only also bitte immer toujours siempre");

/// Words that name what has one value only.
static ATTRIBUTES: WordList = WordList::new(
    "default owner branch port host url address name format language framework database version timeout limit license licence \
     region currency timezone zone manager reviewer maintainer tool strategy style convention standard key path deadline day \
     backend frontend engine provider editor shell formatter linter runner registry domain bucket queue topic lead contact order \
     standardzweig sprache währung branche langue devise rama idioma moneda",
);

/// Words that begin when or for what something holds.
static CONDITIONS: WordList = WordList::new(
    "for when if unless while during before after except until wenn falls während vor nach für pour quand si pendant avant après \
     para cuando mientras durante antes después",
);

/// Words before a place: what they begin belongs to the verb, or if an object stands before them, to the scope.
static PLACES: WordList = WordList::new(
    "in on at with within under inside im in auf bei mit unter dans sur sous avec en con sobre bajo",
);

/// Words before what something is used as, or moved to.
static TARGETS: WordList = WordList::new("as to into from als zu comme como");

/// The verb that stands for all forms of "to be".
pub(super) fn copula() -> u64 {
    hash("be")
}

/// Returns a text without the words before its statement.
pub(super) fn without_lead(text: &str) -> &str {
    let mut rest = text.trim();
    // Some come one after another: "Correction: from now on …".
    for _ in 0..3 {
        let lower = rest.to_lowercase();
        let lead = LEADS.iter().find(|lead| {
            lower.strip_prefix(lead).is_some_and(|after| {
                // "no" and "note" are leads only before a mark.
                let is_short =
                    lead.split_whitespace().count() == 1 && *lead != "please" && *lead != "bitte";
                match is_short {
                    true => after.starts_with([':', ',']),
                    false => after.starts_with([' ', ':', ',']),
                }
            })
        });
        let Some(lead) = lead.filter(|_| lower.len() == rest.len()) else {
            break;
        };
        let after = rest.get(lead.len()..).unwrap_or_default();
        rest = after.trim_start_matches([' ', ':', ',']);
    }
    rest
}

/// Returns the words without "instead of X" and the like, and each X.
///
/// "Switched from X to Y" says that Y is used.
pub(super) fn without_replaced(all: &[Token]) -> (Vec<Token>, Vec<Vec<u64>>) {
    let texts: Vec<&str> = all.iter().map(|token| token.text.as_str()).collect();
    let (mut said, mut replaced) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < all.len() {
        let rest = texts.get(at..).unwrap_or_default();
        let (skipped, ends): (usize, &[&str]) = match rest {
            ["instead", "of", ..] | ["rather", "than", ..] => {
                (2, &["for", "in", "on", "when", "if"])
            }
            ["anstelle", "von", ..] | ["au", "lieu", ..] | ["en", "lugar", ..] => (2, &[]),
            ["statt", ..] | ["anstatt", ..] => (1, &["für", "in", "wenn"]),
            [
                "switched" | "switch" | "moved" | "migrated" | "changed" | "went",
                "from",
                ..,
            ] => (2, &["to"]),
            ["replaced" | "replace", ..] if rest.contains(&"with") || rest.contains(&"by") => {
                (1, &["with", "by"])
            }
            _ => (0, &[]),
        };
        if skipped == 0 {
            said.extend(all.get(at).cloned());
            at += 1;
            continue;
        }
        let begin = at + skipped;
        let words = all.iter().skip(begin);
        let words =
            words.take_while(|token| !token.is_mark() && !ends.contains(&token.text.as_str()));
        let gone: Vec<&Token> = words.collect();
        at = begin + gone.len();
        if ends.first() == Some(&"to") {
            said.extend(tokens("use"));
        }
        let gone: Vec<u64> = gone
            .into_iter()
            .filter(|token| !is_empty(&token.text))
            .map(|token| hash(&stemmed(token)))
            .collect();
        if !gone.is_empty() {
            replaced.push(gone);
        }
    }
    (said, replaced)
}

fn is_empty(word: &str) -> bool {
    EMPTY.has(word)
}

fn stemmed(token: &Token) -> String {
    match token.is_specific && !token.is_acronym {
        true => token.text.clone(),
        false => stem_any(&token.text),
    }
}

/// The state of reading a statement.
#[derive(Default)]
pub(super) struct StatementReader {
    made: Statement,
    /// What is read now; `None` before the verb.
    place: Option<PhrasePart>,
    /// Whether the verb has an object already.
    has_object: bool,
    /// Whether the verb puts its object somewhere.
    is_storing: bool,
    /// Whether a scope came before the verb: it ends at a comma.
    is_leading_scope: bool,
    /// The first word, if it was taken for a verb.
    first_verb: Option<Unit>,
}

impl StatementReader {
    pub(super) fn read(mut self, tokens: &[Token]) -> Statement {
        let joined = tokens.iter().map(|token| token.text.as_str());
        let joined = joined.collect::<Vec<_>>().join(" ");
        let ended = ENDINGS.iter().find(|phrase| joined.contains(phrase));
        let in_ending: Vec<&str> = ended
            .map(|phrase| phrase.split(' ').collect())
            .unwrap_or_default();
        let mut denials = usize::from(ended.is_some());
        self.made.is_ended = ended.is_some();
        let mut is_first = true;
        for (at, token) in tokens.iter().enumerate() {
            let word = token.text.as_str();
            let rest = tokens.get(at + 1..).unwrap_or_default();
            if token.is_mark() {
                self.mark(word);
            } else if in_ending.contains(&word) && word != "using" {
            } else if NEGATIONS.has(word) {
                denials += 1;
            } else {
                self.word(token, is_first, rest);
            }
            is_first &= NEGATIONS.has(word) || BEFORE_ORDERS.has(word);
            if self.made.units.len() >= UNITS_MAX {
                break;
            }
        }
        self.made.is_denied = denials % 2 == 1;
        self.made
    }

    fn mark(&mut self, mark: &str) {
        if self.is_leading_scope && mark == "," {
            self.is_leading_scope = false;
            self.place = None;
        }
    }

    fn word(&mut self, token: &Token, is_first: bool, rest: &[Token]) {
        let word = token.text.as_str();
        if COPULAS.has(word) {
            self.copula();
            return;
        }
        let has_value = rest.first().is_some_and(is_value);
        if TIMINGS.has(word) && has_value && !self.made.units.is_empty() {
            self.place = Some(PhrasePart::Complement);
            return;
        }
        if CONDITIONS.has(word) || PLACES.has(word) {
            let is_before_verb = self.made.verb.is_none();
            let opens = self.has_object && !self.is_storing;
            if CONDITIONS.has(word) || opens || is_before_verb {
                self.is_leading_scope |= is_before_verb && self.made.units.is_empty();
                self.place = Some(PhrasePart::Scope);
            }
            return;
        }
        if TARGETS.has(word) || is_empty(word) || self.is_verb(word, token, is_first, rest) {
            return;
        }
        if ATTRIBUTES.has(word) && self.place.is_none() {
            self.made.has_attribute = true;
        }
        let place = self.place.unwrap_or(PhrasePart::Subject);
        self.has_object |= place == PhrasePart::Complement;
        self.made.units.push(unit(token, place, is_first));
    }

    /// Takes a word for the verb, or for what is done.
    fn is_verb(&mut self, word: &str, token: &Token, is_first: bool, rest: &[Token]) -> bool {
        let has_place = rest.first().is_some_and(|next| PLACES.has(&next.text));
        let puts = |later: &Token| PLACES.has(&later.text) || TARGETS.has(&later.text);
        let is_storing = STORING.has(word) && rest.iter().any(puts);
        let is_functional =
            FUNCTIONAL.has(word) || is_storing || (WITH_PLACE.has(word) && has_place);
        if self.made.verb.is_none() {
            // An order begins with its verb.
            let is_verb = match is_first {
                true => is_functional || is_imperative(word),
                false => is_functional && self.place != Some(PhrasePart::Scope),
            };
            if is_verb {
                self.first_verb = is_first.then(|| unit(token, PhrasePart::Subject, true));
                self.verb(hash(&stem_any(word)), is_functional);
                self.is_storing = is_storing;
            }
            return is_verb;
        }
        // "is stored": what is done counts, not that it is.
        let is_participle = is_functional
            && self.made.verb == Some(copula())
            && !self.has_object
            && self.place == Some(PhrasePart::Complement);
        if is_participle {
            self.made.verb = Some(hash(&stem_any(word)));
            self.is_storing = is_storing;
        }
        is_participle
    }

    /// Takes "is" for the verb: then a first word that looked like an order is a part of the subject.
    fn copula(&mut self) {
        if self.made.verb.is_none() {
            self.verb(copula(), true);
        } else if let Some(first) = self.first_verb.take()
            && self
                .made
                .units
                .iter()
                .all(|unit| unit.place == PhrasePart::Complement)
        {
            for unit in &mut self.made.units {
                unit.place = PhrasePart::Subject;
            }
            self.made.units.insert(0, first);
            self.has_object = false;
            self.is_storing = false;
            self.verb(copula(), true);
        }
    }

    fn verb(&mut self, verb: u64, is_functional: bool) {
        self.made.verb = Some(verb);
        self.made.is_functional = is_functional;
        self.place = Some(PhrasePart::Complement);
        self.is_leading_scope = false;
    }
}

/// Whether a word has a digit, a path or the like.
const fn is_value(token: &Token) -> bool {
    token.is_specific && !token.is_acronym
}

fn unit(token: &Token, place: PhrasePart, is_first: bool) -> Unit {
    Unit {
        hash: hash(&stemmed(token)),
        place,
        is_value: is_value(token),
        is_name: token.is_acronym || token.is_specific || (token.is_capital && !is_first),
        kinds: roles::kinds(&token.text),
    }
}
