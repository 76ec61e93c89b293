//! A reference implementation of the index that scans every unit.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analyser::{Analyser, AnalysisMode, neighbours};
use super::super::postings::Field;
use super::*;

#[derive(Default)]
pub struct Oracle {
    units: BTreeMap<u64, KnownText>,
}

struct KnownText {
    unit: IndexedText,
    own: WordBag,
    around: WordBag,
}

#[derive(Default)]
struct WordBag {
    counts: BTreeMap<String, u32>,
    length: u32,
}

impl WordBag {
    fn of(text: &str) -> Self {
        let mut bag = Self::default();
        Analyser::new().tokens(text, AnalysisMode::Index, &mut |token| {
            *bag.counts.entry(token.term.to_owned()).or_default() += 1;
            bag.length += u32::from(token.counted);
            true
        });
        bag
    }
}

impl KnownText {
    fn bag(&self, field: Field) -> Option<&WordBag> {
        match field {
            Field::Documents | Field::Talk => {
                (Field::own(self.unit.kind.class()) == field).then_some(&self.own)
            }
            Field::Around => (self.unit.kind.class() == Class::Talk).then_some(&self.around),
        }
    }

    fn count(&self, field: Field, term: &str) -> u32 {
        let count = self.bag(field).and_then(|bag| bag.counts.get(term));
        count.copied().unwrap_or(0)
    }
}

impl Oracle {
    /// Applies changes and returns the removed keys, ascending.
    pub fn apply(&mut self, changes: &[Change]) -> Vec<u64> {
        let mut removed = Vec::new();
        for change in changes {
            let goes = |unit: &IndexedText| match change {
                Change::Add(_) => false,
                Change::RemoveGroup { group, before } => {
                    unit.group == *group && unit.position() < *before
                }
                Change::RemoveSession { session, before } => {
                    *session != 0 && unit.session == *session && unit.position() < *before
                }
                Change::RemovePosition { position } => unit.position() == *position,
            };
            self.units.retain(|key, known| {
                let goes = goes(&known.unit);
                if goes {
                    removed.push(*key);
                }
                !goes
            });
            if let Change::Add(addition) = change {
                let before = addition.before.iter().flatten();
                let around: String = before.map(|text| format!("{text}\n")).collect();
                let around = around + &addition.text;
                let known = || KnownText {
                    unit: addition.unit,
                    own: WordBag::of(&addition.text),
                    around: WordBag::of(&around),
                };
                self.units.entry(addition.unit.key).or_insert_with(known);
            }
        }
        removed.sort_unstable();
        removed
    }

    pub fn keys(&self) -> Vec<u64> {
        self.units.keys().copied().collect()
    }

    fn living(&self, fields: &[Field], term: &str) -> u64 {
        let has = |known: &&KnownText| fields.iter().any(|field| known.count(*field, term) > 0);
        self.units.values().filter(has).count() as u64
    }

    /// Returns the words of a query with their variants.
    fn words(&self, text: &str, fields: &[Field]) -> Vec<(u32, Vec<(String, f64)>)> {
        let mut words: Vec<(String, String, u32)> = Vec::new();
        Analyser::new().tokens(text, AnalysisMode::Query, &mut |token| {
            match words.iter_mut().find(|(_, term, _)| term == token.term) {
                Some((_, _, count)) => *count += 1,
                None => words.push((token.word.to_owned(), token.term.to_owned(), 1)),
            }
            true
        });
        let query_terms = words.into_iter().map(|(word, term, count)| {
            let mut terms = vec![(term.clone(), 1.0)];
            if self.living(fields, &term) <= 2 {
                terms.extend(self.variants(&word, &term, fields));
            }
            (count, terms)
        });
        query_terms.collect()
    }

    fn variants(&self, word: &str, term: &str, fields: &[Field]) -> Vec<(String, f64)> {
        let bags = self.units.values();
        let bags = bags.flat_map(|known| fields.iter().filter_map(|field| known.bag(*field)));
        let all: BTreeSet<&String> = bags.flat_map(|bag| bag.counts.keys()).collect();
        let best = |mut terms: Vec<String>, limit| {
            terms.sort_by_key(|term| (u64::MAX - self.living(fields, term), term.clone()));
            terms.truncate(limit);
            terms
        };
        let spaced = term.chars().all(|one| one < '\u{e00}');
        let mut beginnings: Vec<String> = Vec::new();
        if !spaced || term.chars().count() >= 3 {
            let longer = all
                .iter()
                .filter(|known| known.starts_with(term) && **known != term);
            beginnings.extend(longer.map(|known| known.to_string()));
            if beginnings.is_empty() && self.living(fields, term) == 0 {
                let cuts = (1..=5).map(|cut| word.chars().count().saturating_sub(cut));
                let mut cuts = cuts.map(|length| word.chars().take(length).collect::<String>());
                let known =
                    |cut: &String| cut.chars().count() >= 4 && cut != term && all.contains(cut);
                beginnings.extend(cuts.find(known));
            }
        }
        let beginnings = best(beginnings, 8);
        let mut typos = BTreeSet::new();
        if word.chars().all(char::is_alphabetic) && word.chars().count() >= 4 {
            let mut analyser = Analyser::new();
            neighbours(word, &mut |edited| {
                let near = analyser.stem(edited).to_owned();
                if near != term && all.contains(&near) && !beginnings.contains(&near) {
                    typos.insert(near);
                }
            });
        }
        let typos = best(typos.into_iter().collect(), 4);
        let beginnings = beginnings.into_iter().map(|term| (term, 0.6));
        beginnings
            .chain(typos.into_iter().map(|term| (term, 0.5)))
            .collect()
    }

    /// Returns the keys and scores of all matching units, best first.
    pub fn search(&self, text: &str, classes: &[Class]) -> Vec<(u64, f32)> {
        let asked = Class::ALL
            .into_iter()
            .filter(|class| classes.contains(class));
        let asked: Vec<Class> = asked.collect();
        let own: Vec<Field> = asked.iter().map(|class| Field::own(*class)).collect();
        let words = self.words(text, &own);
        let mut scores: BTreeMap<u64, f32> = BTreeMap::new();
        for field in asked.iter().flat_map(|class| Field::of(*class)) {
            let of_class = self.units.values();
            let of_class = of_class.filter(|known| known.bag(*field).is_some());
            let lengths: Vec<u64> = of_class
                .map(|known| u64::from(known.bag(*field).unwrap().length))
                .collect();
            let units = lengths.len() as f64;
            let mean = (lengths.iter().sum::<u64>() as f64 / units.max(1.0)).max(1.0);
            let (k1, b, share, pivot) = match field {
                Field::Documents => (1.2, 0.75, 1.0, mean),
                Field::Talk => (0.9, 0.9, 0.5, 20.0),
                Field::Around => (0.9, 0.9, 0.5, 60.0),
            };
            let (flat, slope) = ((k1 * (1.0 - b)) as f32, (k1 * b / pivot) as f32);
            for (often, terms) in &words {
                let mut worth_most = f64::INFINITY;
                let mut best: BTreeMap<u64, f32> = BTreeMap::new();
                for (term, discount) in terms {
                    let living = self.living(&[*field], term) as f64;
                    if living == 0.0 {
                        continue;
                    }
                    let rarity = ((units - living + 0.5) / (living + 0.5))
                        .ln_1p()
                        .min(worth_most);
                    if *discount == 1.0 {
                        worth_most = rarity;
                    }
                    let weight = rarity * (k1 + 1.0) * f64::from(*often) * share * discount;
                    let weight = weight as f32;
                    for (key, known) in &self.units {
                        let count = known.count(*field, term) as f32;
                        if count > 0.0 {
                            let length = known.bag(*field).unwrap().length as f32;
                            let score = weight * count / (count + (flat + slope * length));
                            let known = best.entry(*key).or_default();
                            *known = known.max(score);
                        }
                    }
                }
                for (key, score) in best {
                    *scores.entry(key).or_default() += score;
                }
            }
        }
        let mut ranked: Vec<(u64, f32)> = scores.into_iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked
    }
}
