//! Finds the phrases that begin at a place of a text.
//!
//! Most words of most texts begin no phrase. One lookup of three bytes says so for nearly all of them; for the others, the
//! phrases with the same six bytes are compared. That is several times as fast as following an automaton byte by byte.

/// Number of bits of a hash of three bytes.
const HASH_BITS: u32 = 14;

/// Number of bits of a hash of a key.
const KEY_BITS: u32 = 16;

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
    /// A bit for each hash of a key (a Bloom filter). If it is 0, no list has the key. It fits into the L1 cache; the slots
    /// do not.
    keys: Vec<u64>,
    /// A hash table of the lists; linear probing.
    slots: Vec<Slot>,
    /// The phrases, list by list, in each list the shorter ones first.
    listed: Vec<ListedPhrase>,
    /// The phrases that are too short for a list, the shorter ones first.
    short: Vec<ListedPhrase>,
    /// For each byte, [`BEGINS`], [`BEGINS_SHORT`] and [`WORD`].
    firsts: [u8; 256],
}

/// Bytes whose places are looked for together.
const BLOCK_BYTES: usize = 512;

/// A phrase begins with this byte.
const BEGINS: u8 = 1;
/// A phrase that is too short for a list begins with this byte.
const BEGINS_SHORT: u8 = 2;
/// The byte is of a word.
const WORD: u8 = 4;

/// A list of phrases: those in a range of [`Phrases::listed`].
#[derive(Clone, Copy, Default)]
struct Slot {
    /// See [`key`]; 0 is an empty slot.
    key: u64,
    begin: usize,
    end: usize,
}

/// A phrase in a list. Its first eight bytes are compared as one number.
#[derive(Clone, Copy)]
struct ListedPhrase {
    first: u64,
    /// The bits of `first` that are in the phrase.
    mask: u64,
    number: usize,
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
            keys: vec![0; 1 << (KEY_BITS - 6)],
            slots: vec![Slot::default(); (2 * texts.len() + 1).next_power_of_two()],
            listed: Vec::with_capacity(texts.len()),
            short: Vec::new(),
            firsts: [0; 256],
            texts: Vec::new(),
        };
        for (byte, firsts) in (0..=u8::MAX).zip(&mut phrases.firsts) {
            *firsts = if is_word(byte) { WORD } else { 0 };
        }
        let mut keyed = Vec::with_capacity(texts.len());
        for (number, text) in texts.iter().enumerate() {
            let Some(first) = text.first() else { continue };
            if let Some(firsts) = phrases.firsts.get_mut(usize::from(*first)) {
                let is_short = text.len() < LISTED_BYTES_MIN;
                *firsts |= BEGINS | if is_short { BEGINS_SHORT } else { 0 };
            }
            if text.len() < LISTED_BYTES_MIN {
                phrases.short.push(ListedPhrase::new(text, number));
                continue;
            }
            let (start, length) = (first_bytes(text), text.len().min(LISTED_BYTES_MAX));
            if let Some(lengths) = phrases.lengths.get_mut(place(start)) {
                *lengths |= 1 << length;
            }
            keyed.push((key(start, length), text.len(), number));
        }
        let length = |phrase: &ListedPhrase| texts.get(phrase.number).map(|text| text.len());
        phrases.short.sort_by_key(length);
        keyed.sort_unstable();
        for list in keyed.chunk_by(|one, other| one.0 == other.0) {
            let begin = phrases.listed.len();
            let numbers = list.iter().map(|(.., number)| *number);
            let listed = numbers.filter_map(|number| Some((texts.get(number)?, number)));
            phrases
                .listed
                .extend(listed.map(|(text, number)| ListedPhrase::new(text, number)));
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

    /// Calls a function with each place at which a phrase may begin: not within a word, and its first bytes are those of a
    /// phrase. It decides without branches what a processor cannot predict: where words begin and which words.
    pub fn each_place(&self, text: &[u8], mut found: impl FnMut(usize)) {
        let mut places = [0_u16; BLOCK_BYTES];
        let mut was_word = false;
        for (begin, block) in (0..).step_by(BLOCK_BYTES).zip(text.chunks(BLOCK_BYTES)) {
            let mut count = 0;
            for (at, byte) in (0..).zip(block) {
                let class = self.firsts.get(usize::from(*byte)).copied();
                let class = class.unwrap_or_default();
                let is_word = class & WORD != 0;
                if let Some(place) = places.get_mut(count) {
                    *place = at;
                }
                count += usize::from(class & BEGINS != 0 && !(is_word & was_word));
                was_word = is_word;
            }
            let mut kept = 0;
            for number in 0..count {
                let at = places.get(number).copied().unwrap_or_default();
                let rest = text.get(begin + usize::from(at)..).unwrap_or_default();
                let lengths = self.lengths.get(place(first_bytes(rest))).copied();
                let class = rest
                    .first()
                    .and_then(|byte| self.firsts.get(usize::from(*byte)));
                let class = class.copied().unwrap_or_default();
                if let Some(place) = places.get_mut(kept) {
                    *place = at;
                }
                kept += usize::from(lengths.unwrap_or_default() | (class & BEGINS_SHORT) != 0);
            }
            for at in places.iter().take(kept) {
                found(begin + usize::from(*at));
            }
        }
    }

    fn insert(&mut self, slot: Slot) {
        let (word, bit) = key_bit(slot.key);
        if let Some(keys) = self.keys.get_mut(word) {
            *keys |= bit;
        }
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

    fn list(&self, key: u64) -> &[ListedPhrase] {
        let (word, bit) = key_bit(key);
        if self.keys.get(word).is_none_or(|keys| keys & bit == 0) {
            return &[];
        }
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
        let firsts = self.firsts.get(first).copied().unwrap_or_default();
        if firsts & BEGINS == 0 {
            return;
        }
        let start = first_bytes(text);
        if firsts & BEGINS_SHORT != 0 {
            self.compare(&self.short, start, text, &mut found);
        }
        let mut lengths = self.lengths.get(place(start)).copied().unwrap_or_default();
        while lengths != 0 {
            let length = lengths.trailing_zeros();
            lengths &= lengths - 1;
            let listed = self.list(key(start, length as usize));
            self.compare(listed, start, text, &mut found);
        }
    }

    /// Compares phrases with a text and with its first bytes.
    fn compare(
        &self,
        phrases: &[ListedPhrase],
        start: u64,
        text: &[u8],
        found: &mut impl FnMut(usize, usize),
    ) {
        for phrase in phrases {
            if start & phrase.mask == phrase.first
                && let Some(whole) = self.texts.get(phrase.number)
                && (phrase.mask != u64::MAX || text.starts_with(whole))
            {
                found(phrase.number, whole.len());
            }
        }
    }
}

impl ListedPhrase {
    fn new(text: &[u8], number: usize) -> Self {
        let unused = 8_usize.saturating_sub(text.len()) as u32 * 8;
        Self {
            first: first_bytes(text),
            mask: u64::MAX.checked_shr(unused).unwrap_or_default(),
            number,
        }
    }
}

/// Returns whether a byte is of a word.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
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

/// Returns the word of [`Phrases::keys`] and the bit in it for a key.
const fn key_bit(key: u64) -> (usize, u64) {
    let hash = key.wrapping_mul(SPREAD) >> (64 - KEY_BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
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

        /// It looks at each place outside of words at which a phrase begins, in order, also over the ends of blocks.
        #[test]
        fn places_are_those_at_which_phrases_begin(
            phrases in prop::collection::vec("[ab@ ]{1,5}", 0..12),
            before in 0..3 * BLOCK_BYTES,
            text in "[ab@_ é]{0,40}",
        ) {
            let text = format!("{}{text}", "c ".repeat(before / 2));
            let listed = Phrases::new(phrases.iter().map(String::as_str));
            let begins = |at: usize| phrases.iter().any(|phrase| text.as_bytes()[at..].starts_with(phrase.as_bytes()));
            let is_within = |at: usize| at > 0 && is_word(text.as_bytes()[at - 1]) && is_word(text.as_bytes()[at]);
            let wanted: Vec<usize> = (0..text.len()).filter(|at| begins(*at) && !is_within(*at)).collect();
            let mut places = Vec::new();
            listed.each_place(text.as_bytes(), |at| places.push(at));
            prop_assert!(places.is_sorted());
            prop_assert!(places.iter().all(|at| !is_within(*at)));
            places.retain(|at| begins(*at));
            prop_assert_eq!(places, wanted);
        }
    }
}
