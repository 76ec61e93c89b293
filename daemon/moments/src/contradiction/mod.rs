//! Whether a later statement says the same as an earlier one, or contradicts it. No model is asked.
//!
//! A statement is taken apart into what it is about (its subject), when or where it holds (its scope), and what it says of
//! that. Two statements contradict each other if they are about the same in the same scope, and differ in exactly one place
//! where only one thing can stand: a value, or what something is, uses or is kept in; or if one denies what the other says.
//! In doubt both statements stay, because a wrong contradiction would hide a statement that holds.

mod reading;
mod roles;

use crate::text::beginning;
use crate::text::tokens::tokens;
use reading::{StatementReader, copula, without_lead, without_replaced};

/// Bytes of a statement that are read.
const BYTES_MAX: usize = 1_000;
/// Words of a statement that are compared.
const UNITS_MAX: usize = 40;
/// Words in which two statements may differ at one place.
const DIFFERENCE_MAX: usize = 3;

/// How a later statement relates to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It says the same.
    Same,
    /// Both cannot hold.
    Contradicts,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhrasePart {
    /// What the statement is about.
    Subject,
    /// What it says.
    Complement,
    /// When, where or for what it holds.
    Scope,
}

/// A word that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    hash: u64,
    place: PhrasePart,
    /// Whether it has a digit, a path or the like.
    is_value: bool,
    /// Whether it is a name or an acronym.
    is_name: bool,
    /// The [kinds](roles::kinds) of software that it names.
    kinds: u64,
}

/// A statement, prepared to be compared with others.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    units: Vec<Unit>,
    subject: WordSet,
    scope: WordSet,
    complement: WordSet,
    /// The main verb: a copula counts as one verb in all its forms.
    verb: Option<u64>,
    is_functional: bool,
    is_denied: bool,
    /// Whether it ends an earlier statement: "no longer", "stop using".
    is_ended: bool,
    has_attribute: bool,
    /// The things that it replaces, such as X in "instead of X", each as its words.
    replaced: Vec<Vec<u64>>,
}

/// The words of one part of a statement, ascending, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WordSet(Box<[u64]>);

impl WordSet {
    fn of(units: &[Unit], place: PhrasePart) -> Self {
        let units = units.iter().filter(|unit| unit.place == place);
        let mut words: Vec<u64> = units.map(|unit| unit.hash).collect();
        words.sort_unstable();
        words.dedup();
        Self(words.into())
    }

    fn has(&self, word: u64) -> bool {
        self.0.binary_search(&word).is_ok()
    }

    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().all(|word| other.has(*word))
    }
}

impl Statement {
    /// Prepares a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = beginning(text, BYTES_MAX).replace('\n', " ");
        let all = tokens(without_lead(&text));
        let (said, replaced) = without_replaced(&all);
        let mut statement = StatementReader::default().read(&said);
        statement.replaced = replaced;
        let words = |place| WordSet::of(&statement.units, place);
        let (subject, scope) = (words(PhrasePart::Subject), words(PhrasePart::Scope));
        let complement = words(PhrasePart::Complement);
        Self {
            subject,
            scope,
            complement,
            ..statement
        }
    }

    /// Returns how a later statement relates to this one; `None` if both may hold.
    #[must_use]
    pub fn relation(&self, later: &Self) -> Option<Relation> {
        if self.units.is_empty() {
            return None;
        }
        let is_replaced = later.replaced.iter().any(|gone| self.asserts(gone, later));
        if is_replaced {
            return Some(Relation::Contradicts);
        }
        if later.is_ended && self.is_ended_by(later) {
            return Some(Relation::Contradicts);
        }
        if later.units.is_empty() || !self.is_about_the_same(later) {
            return None;
        }
        let (one, two) = (
            self.of(PhrasePart::Complement),
            later.of(PhrasePart::Complement),
        );
        let differ = difference(&one, &two);
        let Some((mine, theirs)) = differ else {
            // The words are the same.
            let has_content = self.units.len() >= 2;
            return match (self.is_denied == later.is_denied, self.verb == later.verb) {
                (true, true) => Some(Relation::Same),
                (false, true) if has_content => Some(Relation::Contradicts),
                _ => None,
            };
        };
        let may_differ = !mine.is_empty()
            && !theirs.is_empty()
            && mine.len() <= DIFFERENCE_MAX
            && theirs.len() <= DIFFERENCE_MAX
            && !self.is_denied
            && !later.is_denied;
        (may_differ && self.has_one_value(later, mine, theirs)).then_some(Relation::Contradicts)
    }

    /// Lists the words by which statements about the same are found; some more than once.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let replaced = self.replaced.iter().flatten().copied();
        self.units.iter().map(|unit| unit.hash).chain(replaced)
    }

    fn of(&self, place: PhrasePart) -> Vec<Unit> {
        let units = self.units.iter().filter(|unit| unit.place == place);
        units.copied().collect()
    }

    fn is_about_the_same(&self, later: &Self) -> bool {
        self.subject == later.subject && self.scope == later.scope
    }

    /// Whether a later statement ends this one: in all scopes, if it names none.
    fn is_ended_by(&self, later: &Self) -> bool {
        !self.is_denied
            && self.verb == later.verb
            && self.subject == later.subject
            && later.complement != WordSet::default()
            && later.complement.is_within(&self.complement)
            && later.scope.is_within(&self.scope)
    }

    /// Whether only one of two differing things can be so.
    fn has_one_value(&self, later: &Self, mine: &[Unit], theirs: &[Unit]) -> bool {
        let common = self.units.len() - mine.len();
        let common_in_complement = self.of(PhrasePart::Complement).len() - mine.len();
        let has_subject = self
            .units
            .iter()
            .any(|unit| unit.place == PhrasePart::Subject);
        let is_same_verb = self.verb == later.verb && self.verb.is_some();
        let kinds = |units: &[Unit]| units.iter().fold(0, |all, unit| all | unit.kinds);
        let (kinds_of_mine, kinds_of_theirs) = (kinds(mine), kinds(theirs));
        let are_known = kinds_of_mine != 0 && kinds_of_theirs != 0;
        let shared_kinds = kinds_of_mine & kinds_of_theirs;
        if are_known && shared_kinds == 0 {
            // React and TypeScript are used beside each other.
            return false;
        }
        let are_values =
            mine.iter().any(|unit| unit.is_value) && theirs.iter().any(|unit| unit.is_value);
        if are_values {
            let is_likely = is_same_verb || (has_subject && common_in_complement > 0);
            return is_likely && (common > 0 || (self.is_functional && !has_subject));
        }
        if !is_same_verb || !self.is_functional {
            return false;
        }
        if common == 0 {
            // "Use npm." and "Use yarn."
            return self.verb != Some(copula()) && roles::single(shared_kinds) != 0;
        }
        let are_names = |units: &[Unit]| units.iter().all(|unit| unit.is_name || unit.is_value);
        let is_copula = self.verb == Some(copula());
        !is_copula
            || common_in_complement > 0
            || self.has_attribute
            || (are_names(mine) && are_names(theirs))
    }

    /// Whether this statement asserts what a later one replaces.
    fn asserts(&self, gone: &[u64], later: &Self) -> bool {
        let others = self.units.iter().filter(|unit| !gone.contains(&unit.hash));
        let is_shared = |unit: &Unit| later.units.iter().any(|one| one.hash == unit.hash);
        let is_same_verb = self.verb.is_some() && self.verb == later.verb;
        !gone.is_empty()
            && !self.is_denied
            && self.is_functional
            && gone.iter().all(|word| self.complement.has(*word))
            && (is_same_verb || others.into_iter().any(is_shared))
    }
}

/// Returns the parts in which two lists of words differ, if there is one such place; `None` if they are the same.
fn difference<'u>(one: &'u [Unit], two: &'u [Unit]) -> Option<(&'u [Unit], &'u [Unit])> {
    let is_same = |(one, two): &(&Unit, &Unit)| one.hash == two.hash;
    let begin = one.iter().zip(two).take_while(is_same).count();
    let most = one.len().min(two.len()) - begin;
    let end = one.iter().rev().zip(two.iter().rev());
    let end = end.take_while(is_same).count().min(most);
    let part = |all: &'u [Unit]| all.get(begin..all.len() - end).unwrap_or_default();
    let (mine, theirs) = (part(one), part(two));
    (!mine.is_empty() || !theirs.is_empty()).then_some((mine, theirs))
}
