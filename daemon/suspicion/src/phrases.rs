//! Finds the phrases that begin at a place of a text.
//!
//! Most words of most texts begin no phrase. One lookup of three bytes says so for nearly all of them; for the others, the
//! phrases with the same six bytes are compared. That is several times as fast as following an automaton byte by byte.

/// Number of bits of a hash of three bytes.
const HASH_BITS: u32 = 14;

/// Most bytes that a phrase is listed under.
const LISTED_BYTES_MAX: usize = 6;

/// Fewest bytes that a phrase is listed under. The few shorter phrases are compared one by one.
const LISTED_BYTES_MIN: usize = 3;

/// Multiplier that spreads bytes over 64 bits (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The phrases, listed by their first bytes.
pub struct Phrases {
    texts: Vec<Box<[u8]>>,
    /// For each hash of three bytes: bit `n` if a phrase that begins with them is listed under its first `n` bytes.
    lengths: Vec<u8>,
    /// A hash table of the lists; linear probing.
    slots: Vec<Slot>,
    /// The numbers of the phrases, list by list, in each list the shorter ones first.
    listed: Vec<usize>,
    /// The numbers of the phrases that are too short for a list, the shorter ones first.
    short: Vec<usize>,
    /// The bytes that phrases begin with.
    firsts: [bool; 256],
    /// The same of those that are too short for a list.
    short_firsts: [bool; 256],
}

/// A list of phrases: those in a range of [`Phrases::listed`].
#[derive(Clone, Copy, Default)]
struct Slot {
    /// See [`key`]; 0 is an empty slot.
    key: u64,
    begin: usize,
    end: usize,
}

impl Phrases {
    /// Lists these phrases. Each has the number of its place.
    pub fn new<'p>(texts: impl IntoIterator<Item = &'p str>) -> Self {
        let texts: Vec<Box<[u8]>> = texts
            .into_iter()
            .map(|text| Box::from(text.as_bytes()))
            .collect();
        let mut phrases = Self {
            lengths: vec![0; 1 << HASH_BITS],
            slots: vec![Slot::default(); (2 * texts.len() + 1).next_power_of_two()],
            listed: Vec::with_capacity(texts.len()),
            short: Vec::new(),
            firsts: [false; 256],
            short_firsts: [false; 256],
            texts: Vec::new(),
        };
        let mut keyed = Vec::with_capacity(texts.len());
        for (number, text) in texts.iter().enumerate() {
            let Some(first) = text.first() else { continue };
            phrases.firsts = with(phrases.firsts, *first);
            if text.len() < LISTED_BYTES_MIN {
                phrases.short_firsts = with(phrases.short_firsts, *first);
                phrases.short.push(number);
                continue;
            }
            let (start, length) = (first_bytes(text), text.len().min(LISTED_BYTES_MAX));
            if let Some(lengths) = phrases.lengths.get_mut(place(start)) {
                *lengths |= 1 << length;
            }
            keyed.push((key(start, length), text.len(), number));
        }
        let length = |number: &usize| texts.get(*number).map(|text| text.len());
        phrases.short.sort_by_key(length);
        keyed.sort_unstable();
        for list in keyed.chunk_by(|one, other| one.0 == other.0) {
            let begin = phrases.listed.len();
            phrases
                .listed
                .extend(list.iter().map(|(.., number)| number));
            if let Some((key, ..)) = list.first() {
                phrases.insert(Slot {
                    key: *key,
                    begin,
                    end: phrases.listed.len(),
                });
            }
        }
        Self { texts, ..phrases }
    }

    /// Returns all phrases, in the order of their numbers.
    pub fn all(&self) -> &[Box<[u8]>] {
        &self.texts
    }

    fn insert(&mut self, slot: Slot) {
        let places = self.places(slot.key);
        let free = places.into_iter().find(|at| {
            let slot = self.slots.get(*at);
            slot.is_some_and(|slot| slot.key == 0)
        });
        if let Some(free) = free.and_then(|at| self.slots.get_mut(at)) {
            *free = slot;
        }
    }

    /// Returns the places of a key in the order in which they are tried. At least half of all are empty.
    fn places(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        let first = (key.wrapping_mul(SPREAD) >> 32) as usize;
        (0..=mask).map(move |step| (first + step) & mask)
    }

    fn list(&self, key: u64) -> &[usize] {
        let slots = self.places(key).map_while(|at| self.slots.get(at));
        let mut used = slots.take_while(|slot| slot.key != 0);
        let found = used.find(|slot| slot.key == key).copied();
        let Slot { begin, end, .. } = found.unwrap_or_default();
        self.listed.get(begin..end).unwrap_or_default()
    }

    /// Calls a function with the number and the length of each phrase that a text begins with. Shorter ones come first.
    pub fn each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        let Some(first) = text.first().copied().map(usize::from) else {
            return;
        };
        if self.firsts.get(first) != Some(&true) {
            return;
        }
        if self.short_firsts.get(first) == Some(&true) {
            self.compare(&self.short, text, &mut found);
        }
        let start = first_bytes(text);
        let mut lengths = self.lengths.get(place(start)).copied().unwrap_or_default();
        while lengths != 0 {
            let length = lengths.trailing_zeros();
            lengths &= lengths - 1;
            self.compare(self.list(key(start, length as usize)), text, &mut found);
        }
    }

    fn compare(&self, numbers: &[usize], text: &[u8], found: &mut impl FnMut(usize, usize)) {
        for number in numbers {
            if let Some(phrase) = self.texts.get(*number)
                && text.starts_with(phrase)
            {
                found(*number, phrase.len());
            }
        }
    }
}

/// Adds a byte to a set of bytes.
fn with(mut set: [bool; 256], byte: u8) -> [bool; 256] {
    if let Some(is_in) = set.get_mut(usize::from(byte)) {
        *is_in = true;
    }
    set
}

/// Returns the first bytes of a text as a number. Zeros follow its end; no phrase has them.
fn first_bytes(text: &[u8]) -> u64 {
    if let Some(first) = text.first_chunk() {
        return u64::from_le_bytes(*first);
    }
    let bytes = text.iter().zip(0..);
    bytes.fold(0, |start, (byte, at)| start | u64::from(*byte) << (8 * at))
}

/// Returns the key of the list of the first `length` bytes: the bytes, and their number in the last byte.
const fn key(start: u64, length: usize) -> u64 {
    let unused = 64 - 8 * length as u32;
    (start << unused >> unused) | (length as u64) << 56
}

/// Returns the place of three bytes in [`Phrases::lengths`].
const fn place(start: u64) -> usize {
    ((start << 40).wrapping_mul(SPREAD) >> (64 - HASH_BITS)) as usize
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(phrases: &[&str], text: &str) -> Vec<usize> {
        let listed = Phrases::new(phrases.iter().copied());
        let mut found = Vec::new();
        listed.each(text.as_bytes(), |number, length| {
            assert_eq!(phrases.get(number).map(|phrase| phrase.len()), Some(length));
            found.push(number);
        });
        found
    }

    #[test]
    fn shorter_phrases_come_first() {
        let phrases = [
            "ignore all",
            "@",
            "ign",
            "ignore",
            "tell",
            "ignore a",
            "tell",
        ];
        assert_eq!(found(&phrases, "ignore all rules"), [2, 3, 5, 0]);
        assert_eq!(found(&phrases, "ignore"), [2, 3]);
        assert_eq!(found(&phrases, "teller"), [4, 6]);
        assert_eq!(found(&phrases, "@example"), [1]);
        for none in ["", "i", "ig", "tel", "x@", "te\0l"] {
            assert_eq!(found(&phrases, none), [0_usize; 0], "{none:?}");
        }
    }

    proptest! {
        /// It finds what comparing each phrase finds, also where phrases share their beginnings.
        #[test]
        fn it_finds_what_comparing_all_finds(
            phrases in prop::collection::vec("[ab ]{1,9}", 0..60),
            text in "[ab ]{0,12}",
        ) {
            let phrases: Vec<&str> = phrases.iter().map(String::as_str).collect();
            let mut wanted: Vec<usize> = (0..phrases.len())
                .filter(|number| text.starts_with(phrases[*number]))
                .collect();
            let mut all = found(&phrases, &text);
            let lengths: Vec<usize> = all.iter().map(|number| phrases[*number].len()).collect();
            prop_assert!(lengths.is_sorted());
            wanted.sort_unstable();
            all.sort_unstable();
            prop_assert_eq!(all, wanted);
        }
    }
}
