//! What a conversation has mentioned so far, with the prominence of each entity.

use super::categories::{CONTAINERS, DETAILS, ORGANISATIONS, PEOPLE, PLACES, ROLES};
use super::everyday::is_akin;
use super::packs::KindWord;
use super::packs::PackSet;
use super::past::{PastText, TextSource};
use super::wording::parts;
pub(super) use super::wording::{is_short_for, singular};
use super::{Knowledge, Mention};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// What remains of an entity's prominence after each turn.
const DECAY: f32 = 0.72;
/// Gain of each repeated mention, and its limit.
const REPEAT: f32 = 0.02;
const REPEAT_MAX: f32 = 0.06;
/// Gain of what the last message meant, if the answer names it or names nothing.
const FOCUS: f32 = 0.25;
/// What remains of entities that the last answer leaves out.
const LEFT_OUT: f32 = 0.85;
/// Prominence of the first entity that an answer introduces, and of each other one.
const FIRST_NEW: f32 = 0.9;
const NEW: f32 = 0.8;
const NEW_ASIDE: f32 = 0.08;
/// Prominence of the reference of a person.
const SAID: f32 = 0.85;
/// Weight, in hundredths, of a mention without a computed one: texts recorded by earlier releases.
const WEIGHT_UNKNOWN: u8 = 70;
/// Limit on the words that are remembered for an entity.
const WORDS_MAX: usize = 40;

/// An entity that may be meant.
#[derive(Clone, Debug)]
pub(super) struct Referent<'a> {
    pub(super) mention: Mention,
    /// Index of its kind in the discourse.
    kind: usize,
    /// What the texts say of it, lower-cased.
    pub(super) words: Vec<&'a str>,
    /// The parts of its name, lower-cased.
    pub(super) parts: Cow<'a, [String]>,
    pub(super) parents: Vec<&'a (String, String)>,
    /// Prominence before gains.
    best: f32,
    mentions: u8,
    /// Turns since it was mentioned last as a subject of a text.
    pub(super) turn: usize,
    /// Rank of its last mention; greater is later.
    pub(super) order: usize,
    /// Position among the entities of the last answer, if it is there.
    pub(super) in_answer: Option<usize>,
    /// Whether the last answer introduced it.
    pub(super) is_newcomer: bool,
    /// Whether the last message of a person meant it.
    pub(super) is_focus: bool,
    /// Whether this message has named it already.
    pub(super) is_here: bool,
    pub(super) is_nested: bool,
    /// Whether an answer says that there is no such thing.
    pub(super) is_absent: bool,
    /// The turn whose results alone mention it.
    is_only_result_of: Option<usize>,
}

impl Referent<'_> {
    /// Returns whether a pronoun may stand for it: no person and no detail, such as an error.
    pub(super) fn is_thing(&self) -> bool {
        !self.is_person() && !DETAILS.contains(&&*self.mention.kind)
    }

    pub(super) fn is_person(&self) -> bool {
        PEOPLE.contains(&&*self.mention.kind)
    }

    pub(super) fn is_organisation(&self) -> bool {
        ORGANISATIONS.contains(&&*self.mention.kind)
    }

    pub(super) fn is_place(&self) -> bool {
        PLACES.contains(&&*self.mention.kind)
    }

    pub(super) fn is_container(&self) -> bool {
        self.is_place() || CONTAINERS.contains(&&*self.mention.kind)
    }

    /// Returns whether a word describes the entity: a part of its name, or what a text says of it.
    pub(super) fn is_described(&self, word: &str) -> bool {
        // "netcdf" describes what is called "NetCDF4".
        let letters = |own: &str| {
            own.trim_end_matches(|c: char| c.is_ascii_digit()) == word && word.len() > 2
        };
        let is_same = |own: &str| own == word || is_akin(own, word) || letters(own);
        self.parts.iter().any(|own| is_same(own))
            || self.words.iter().any(|own| is_same(own))
            || self.parts.iter().any(|part| is_short_for(part, word))
    }
}

/// Entities that one text lists.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) source: TextSource,
    pub(super) turn: usize,
    /// Indices of referents, in the order of the text.
    pub(super) members: Vec<usize>,
}

/// A kind that a conversation mentions.
struct MentionedKind {
    name: Arc<str>,
    /// Its name as people write it: `purchase_order` is a purchase order.
    words: String,
    /// Whether a pack declares it.
    is_declared: bool,
    /// Whether its entities are roles, which others have.
    is_role: bool,
}

impl MentionedKind {
    /// Returns whether a noun in the singular is the name of the kind; of a kind that no pack has, its last word is enough:
    /// a purchase order is an order.
    fn is_called(&self, single: &str) -> bool {
        let is_last = || {
            let rest = self.words.strip_suffix(single);
            rest.is_some_and(|rest| rest.ends_with(' '))
        };
        self.words == single || (!self.is_declared && is_last())
    }
}

/// A noun, to be compared with entities.
pub(super) struct ComparedNoun<'n> {
    single: Cow<'n, str>,
    /// The kind that the packs know it for.
    word: Option<&'n KindWord>,
    /// Of each kind of the discourse, whether it is called so.
    own: Vec<bool>,
}

/// The entities of a conversation before a message.
pub(super) struct Discourse<'a> {
    pub(super) packs: &'a PackSet,
    pub(super) referents: Vec<Referent<'a>>,
    /// Indices of referents by kind, then by key.
    places: FxHashMap<Arc<str>, FxHashMap<String, usize>>,
    kinds: Vec<MentionedKind>,
    /// Entities that turned out to be others, by kind, then by key.
    same: FxHashMap<&'a str, FxHashMap<&'a str, &'a str>>,
    /// All lists of one kind, the latest first.
    pub(super) groups: Vec<Group>,
    /// Entities of the last answer, in order.
    pub(super) answer: Vec<usize>,
    /// The subjects of the newest text, if it is a result.
    pub(super) result: Vec<usize>,
    orders: usize,
}

impl<'a> Discourse<'a> {
    pub(super) fn of(packs: &'a PackSet, knowledge: &Knowledge<'a>) -> Self {
        let mentions = knowledge.past.iter().map(|text| text.mentions.len());
        let mut discourse = Self {
            packs,
            referents: Vec::with_capacity(mentions.sum()),
            places: FxHashMap::default(),
            kinds: Vec::new(),
            same: FxHashMap::default(),
            groups: Vec::new(),
            answer: Vec::new(),
            result: Vec::new(),
            orders: 0,
        };
        for same in knowledge.same {
            let of_kind = discourse.same.entry(&same.kind).or_default();
            of_kind.insert(&same.key, &same.root);
        }
        let past = knowledge.past;
        let turns: Vec<usize> = past
            .iter()
            .scan(0, |turn, text| {
                let of_text = *turn;
                *turn += usize::from(text.source == TextSource::Person);
                Some(of_text)
            })
            .collect();
        let is = |source| move |text: &Arc<PastText>| text.source == source;
        let last_said = past.iter().position(is(TextSource::Person));
        let last_answer = past
            .iter()
            .position(is(TextSource::Agent))
            .filter(|at| last_said.is_none_or(|said| *at < said));
        for (at, (text, turn)) in past.iter().zip(turns).enumerate().rev() {
            discourse.read(text, turn, Some(at) == last_answer, Some(at) == last_said);
        }
        discourse.groups.reverse();
        if let Some(newest) = past
            .first()
            .filter(|text| text.source == TextSource::Result)
        {
            let subjects = newest.mentions.iter().filter(|past| !past.is_nested);
            let subjects = subjects.filter_map(|past| {
                let key = discourse.root(&past.mention);
                discourse.place_of(&past.mention.kind, key)
            });
            discourse.result = subjects.collect();
        }
        discourse
    }

    fn read(&mut self, text: &'a PastText, turn: usize, is_answer: bool, is_said: bool) {
        let decay = (0..turn.min(40)).fold(1.0, |left, _| left * DECAY);
        let mut listed: Vec<usize> = Vec::new();
        let mut newcomers = 0;
        for past in &text.mentions {
            let weight = if past.weight == 0 {
                WEIGHT_UNKNOWN
            } else {
                past.weight
            };
            let mut weight = f32::from(weight) / 100.0;
            let known = self.referents.len();
            let at = self.place(&past.mention, || Cow::Borrowed(&past.parts));
            let is_first = self.referents.len() > known;
            let is_new = is_first
                || self
                    .referents
                    .get(at)
                    .is_some_and(|one| one.is_only_result_of == Some(turn));
            if text.source == TextSource::Agent && is_new {
                weight = match (weight < 0.65, newcomers) {
                    (true, _) => weight + NEW_ASIDE,
                    (false, 0) => weight.max(FIRST_NEW),
                    (false, _) => weight.max(NEW),
                };
                newcomers += 1;
            }
            if text.source == TextSource::Person {
                weight = SAID;
            }
            self.orders += 1;
            let order = self.orders;
            let Some(referent) = self.referents.get_mut(at) else {
                continue;
            };
            referent.is_only_result_of = match text.source {
                TextSource::Result if is_first => Some(turn),
                TextSource::Result => referent.is_only_result_of,
                TextSource::Person | TextSource::Agent => None,
            };
            if text.source == TextSource::Agent {
                referent.is_absent = past.weight == super::roles::ABSENT;
            }
            referent.best = referent.best.max(weight * decay);
            referent.mentions = referent.mentions.saturating_add(1);
            if referent.words.is_empty() {
                referent.words.reserve(past.words.len());
            }
            for word in &past.words {
                referent.words.retain(|known| known != word);
                referent.words.push(word);
            }
            let surplus = referent.words.len().saturating_sub(WORDS_MAX);
            referent.words.drain(..surplus);
            for parent in &past.parents {
                if !referent.parents.contains(&parent) {
                    referent.parents.push(parent);
                }
            }
            referent.is_nested &= past.is_nested;
            if !past.is_nested {
                (referent.turn, referent.order) = (turn, order);
            }
            referent.is_focus |= is_said;
            if is_answer {
                referent.in_answer = Some(self.answer.len());
                referent.is_newcomer = is_new;
                self.answer.push(at);
            }
            if !past.is_nested && !referent.is_absent && !listed.contains(&at) {
                listed.push(at);
            }
        }
        self.groups_of(&listed, text.source, turn);
    }

    /// Adds the lists of one kind among the entities of a text, the largest last, people first: readers see them
    /// in reverse.
    fn groups_of(&mut self, listed: &[usize], source: TextSource, turn: usize) {
        let kind = |at: &usize| self.referents.get(*at).map(|one| one.mention.kind.clone());
        let mut by_kind: Vec<(Option<Arc<str>>, Vec<usize>)> = Vec::new();
        for at in listed {
            let of = kind(at);
            match by_kind.iter_mut().find(|(known, _)| *known == of) {
                Some((_, members)) => members.push(*at),
                None => by_kind.push((of, vec![*at])),
            }
        }
        let is_people = |members: &[usize]| {
            let first = members.first().and_then(|at| self.referents.get(*at));
            first.is_some_and(Referent::is_person)
        };
        let mut groups: Vec<Vec<usize>> = by_kind
            .into_iter()
            .map(|(_, members)| members)
            .filter(|members| members.len() > 1)
            .collect();
        groups.reverse();
        groups.sort_by_key(|members| (!is_people(members), members.len()));
        self.groups.extend(groups.into_iter().map(|members| Group {
            source,
            turn,
            members,
        }));
    }

    /// Returns the key of the entity that stands for a mentioned one.
    fn root<'k>(&self, mention: &'k Mention) -> &'k str
    where
        'a: 'k,
    {
        let of_kind = self.same.get(&*mention.kind);
        of_kind
            .and_then(|of_kind| of_kind.get(mention.key.as_str()).copied())
            .unwrap_or(&mention.key)
    }

    fn place_of(&self, kind: &str, key: &str) -> Option<usize> {
        self.places.get(kind)?.get(key).copied()
    }

    /// Returns the index of an entity; a new one is added, with the parts of its name.
    fn place(&mut self, mention: &Mention, parts: impl FnOnce() -> Cow<'a, [String]>) -> usize {
        let key = self.root(mention);
        if let Some(at) = self.place_of(&mention.kind, key) {
            if let Some(known) = self.referents.get_mut(at)
                && known.mention.name != mention.name
                && mention.name.len() >= known.mention.name.len()
            {
                known.mention.name.clone_from(&mention.name);
            }
            return at;
        }
        let at = self.referents.len();
        let referent = Referent {
            mention: Mention {
                kind: Arc::clone(&mention.kind),
                key: key.to_owned(),
                name: mention.name.clone(),
            },
            kind: self.kind_at(&mention.kind),
            words: Vec::new(),
            parts: parts(),
            parents: Vec::new(),
            best: 0.0,
            mentions: 0,
            turn: usize::MAX,
            order: 0,
            in_answer: None,
            is_newcomer: false,
            is_focus: false,
            is_here: false,
            is_nested: true,
            is_absent: false,
            is_only_result_of: None,
        };
        let of_kind = self.places.entry(Arc::clone(&mention.kind)).or_default();
        of_kind.insert(referent.mention.key.clone(), at);
        self.referents.push(referent);
        at
    }

    /// Returns the index of a kind; a new one is added.
    fn kind_at(&mut self, kind: &Arc<str>) -> usize {
        if let Some(at) = self.kinds.iter().position(|known| known.name == *kind) {
            return at;
        }
        self.kinds.push(MentionedKind {
            name: Arc::clone(kind),
            words: kind.replace('_', " "),
            is_declared: self.packs.kinds.iter().any(|known| known.name == *kind),
            is_role: ROLES.contains(&&**kind),
        });
        self.kinds.len() - 1
    }

    /// Notes that this message means an entity.
    pub(super) fn mention_here(&mut self, mention: &Mention, weight: f32) -> usize {
        let at = self.place(mention, || Cow::Owned(parts(&mention.name)));
        self.orders += 1;
        if let Some(referent) = self.referents.get_mut(at) {
            referent.is_here = true;
            referent.is_nested = false;
            referent.best = referent.best.max(weight);
            (referent.turn, referent.order) = (0, self.orders);
        }
        at
    }

    /// Returns the prominence of an entity.
    pub(super) fn salience(&self, referent: &Referent<'_>) -> f32 {
        if referent.is_here {
            return 1.1 + referent.best;
        }
        let repeats = f32::from(referent.mentions.saturating_sub(1));
        let mut salience = referent.best + (repeats * REPEAT).min(REPEAT_MAX);
        if !self.answer.is_empty() && referent.in_answer.is_none() {
            salience *= LEFT_OUT;
        } else if referent.is_focus {
            salience += FOCUS;
        }
        salience
    }

    /// Returns the entities that a test accepts, the most prominent first.
    pub(super) fn ranked(&self, is_wanted: &dyn Fn(&Referent<'_>) -> bool) -> Vec<(usize, f32)> {
        let mut found: Vec<(usize, f32)> = self
            .referents
            .iter()
            .enumerate()
            .filter(|(_, referent)| is_wanted(referent))
            .map(|(at, referent)| (at, self.salience(referent)))
            .collect();
        let order = |at: usize| self.referents.get(at).map_or(0, |referent| referent.order);
        found.sort_by(|(a, of_a), (b, of_b)| of_b.total_cmp(of_a).then(order(*b).cmp(&order(*a))));
        found
    }

    /// Prepares a noun for comparisons with the entities that are mentioned so far.
    pub(super) fn noun<'n>(&self, noun: &'n str) -> ComparedNoun<'n>
    where
        'a: 'n,
    {
        let single = singular(noun);
        let kinds = self.kinds.iter();
        ComparedNoun {
            word: self.packs.kind_words.get(noun),
            own: kinds.map(|kind| kind.is_called(&single)).collect(),
            single,
        }
    }

    /// Returns how well a noun fits an entity: 2 if its role is confirmed, 1 if only its kind fits.
    pub(super) fn fits(&self, referent: &Referent<'_>, noun: &ComparedNoun<'_>) -> u8 {
        let kind = &*referent.mention.kind;
        let single = &*noun.single;
        if single.contains(' ') && single.split(' ').all(|part| referent.words.contains(&part)) {
            return 2;
        }
        if let Some(word) = noun.word {
            let is_kind = self
                .packs
                .kinds
                .get(word.kind)
                .is_some_and(|of| &*of.name == kind);
            if is_kind && word.parts.is_empty() {
                // A test is a function that people call a test.
                let is_test =
                    kind == "symbol" && referent.parts.first().is_some_and(|part| part == "test");
                return if is_test { 1 } else { 2 };
            }
            if is_kind {
                let has_part = |part: &String| {
                    let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
                    word.parts.iter().any(|wanted| wanted == stem)
                };
                let is_confirmed =
                    referent.parts.iter().any(has_part) || referent.words.contains(&single);
                return if is_confirmed { 2 } else { 0 };
            }
        }
        if noun.own.get(referent.kind).copied().unwrap_or(false) {
            return 2;
        }
        let is_said = referent.words.contains(&single);
        let is_of_name = |part: &String| part == single || is_short_for(part, single);
        u8::from(is_said || referent.parts.iter().any(is_of_name))
    }

    /// Returns whether a noun names a kind, or a type of this conversation.
    pub(super) fn is_kind_noun(&self, noun: &str) -> bool {
        if self.packs.kind_words.contains_key(noun) {
            return true;
        }
        let single = singular(noun);
        if self.kinds.iter().any(|kind| kind.is_called(&single)) {
            return true;
        }
        let is_role = |referent: &Referent<'_>| {
            let of = self.kinds.get(referent.kind);
            of.is_some_and(|kind| kind.is_role) && referent.mention.name.to_lowercase() == *single
        };
        self.kinds.iter().any(|kind| kind.is_role) && self.referents.iter().any(is_role)
    }
}
