//! Compares a received context with the one before, unit by unit, without reading what is equal.

use std::ops::Range;

use super::scanner::{self, NextItem};
use super::units::{Kind, Unit, plain_key};

/// Number of units that are tried after the expected one, because those before them may have been removed.
const LOOK_AHEAD: usize = 8;

/// A step through the new context, in the order of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Units that are equal to the known ones with these numbers.
    Same {
        /// Numbers of the known units, with those inside of them.
        units: Range<u32>,
        /// Where they begin in the new text.
        raw: usize,
    },
    /// A container whose items follow, until its end.
    Open {
        /// Number of the known unit.
        unit: u32,
        /// Where it begins in the new text.
        raw: usize,
        /// Where its value begins in the new text.
        value: usize,
        /// Whether all of its members have keys that it had before, in the same order.
        has_known_keys: bool,
    },
    /// The end of the innermost container.
    Close {
        /// The offset after it in the new text.
        raw_end: usize,
    },
    /// A new item, which has to be read.
    New {
        /// Its range in the new text.
        raw: Range<usize>,
        /// Length of its key with the quotes; 0 for an item of an array.
        key: usize,
        /// Number of the known unit that it replaces, if any.
        replaces: Option<u32>,
    },
}

/// A comparison of a text with a known one.
pub struct Comparison<'c> {
    new: &'c [u8],
    known: &'c [u8],
    units: &'c [Unit],
    /// The steps through the new context.
    pub steps: Vec<Step>,
    /// The new context without what is equal: JSON if and only if the new context is.
    pub rest: Vec<u8>,
}

impl<'c> Comparison<'c> {
    /// Compares the object at the beginning of `new` with the known text. Returns the comparison and the end of the
    /// object; `None` if it has to be read whole.
    pub fn of(new: &'c [u8], known: &'c [u8], units: &'c [Unit]) -> Option<(Self, usize)> {
        let mut comparison = Self {
            new,
            known,
            units,
            steps: Vec::new(),
            rest: Vec::new(),
        };
        let end = comparison.open(0, 0, 0)?;
        Some((comparison, end))
    }

    fn unit(&self, number: u32) -> Option<&'c Unit> {
        self.units.get(number as usize)
    }

    fn raw(&self, unit: &Unit) -> &'c [u8] {
        self.known.get(unit.raw()).unwrap_or_default()
    }

    /// Compares the items of a container, and returns the offset after it.
    fn open(&mut self, number: u32, raw: usize, value: usize) -> Option<usize> {
        let unit = self.unit(number)?;
        let opening = unit.opening()?;
        if self.new.get(value) != Some(&opening) {
            return None;
        }
        let step = self.steps.len();
        self.steps.push(Step::Open {
            unit: number,
            raw,
            value,
            has_known_keys: true,
        });
        self.rest.push(opening);
        let (end, has_known_keys) = match unit.kind {
            Kind::Object { .. } => self.members(number, value)?,
            Kind::Array | Kind::Leaf => (self.items(number, value)?, true),
        };
        if let Some(Step::Open {
            has_known_keys: has,
            ..
        }) = self.steps.get_mut(step)
        {
            *has = has_known_keys;
        }
        self.rest.push(unit.close()?);
        self.steps.push(Step::Close { raw_end: end });
        Some(end)
    }

    /// Separates an item from the one before in the rest.
    fn separate(&mut self) {
        if !matches!(self.rest.last(), Some(b'{' | b'[' | b':') | None) {
            self.rest.push(b',');
        }
    }

    /// Takes the known units from `first` on that are equal to the text at an offset. Returns the number of the first unit
    /// that is not, and the end of the equal text; `None` if even the first one differs.
    fn same(&mut self, first: u32, container: &Unit, at: usize) -> Option<(u32, usize)> {
        let unit = self.unit(first)?;
        if !self.is_at(unit, at) {
            return None;
        }
        let start = unit.raw as usize;
        let known = self.known.get(start..container.raw_end as usize)?;
        let equal = scanner::common_prefix(self.new.get(at..)?, known);
        let (mut next, mut end) = (unit.next, unit.raw().end);
        while next < container.next
            && let Some(unit) = self.unit(next)
            // With the byte after it, which ends it.
            && unit.raw().end - start < equal
        {
            (next, end) = (unit.next, unit.raw().end);
        }
        self.steps.push(Step::Same {
            units: first..next,
            raw: at,
        });
        Some((next, at + (end - start)))
    }

    /// Whether a known unit is at an offset of the new text.
    fn is_at(&self, unit: &Unit, at: usize) -> bool {
        let known = self.raw(unit);
        let end = at + known.len();
        self.new.get(at..end) == Some(known)
            && matches!(
                self.new.get(end),
                Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t')
            )
    }

    fn items(&mut self, number: u32, value: usize) -> Option<usize> {
        let container = self.unit(number)?;
        // The unit after the last equal one, and the one that a new item replaces if the last ones replaced some, too.
        let (mut expected, mut replaced) = (number + 1, number + 1);
        let mut next = scanner::first_item(self.new, value, b']');
        loop {
            let at = match next {
                NextItem::End(end) => return Some(end),
                NextItem::Item(at) => at,
            };
            let end = match self.find_item([replaced, expected], container, at) {
                Some(found) => {
                    let (next, end) = self.same(found, container, at)?;
                    (expected, replaced) = (next, next);
                    end
                }
                None => {
                    let old = (replaced < container.next).then_some(replaced);
                    replaced = self.unit(replaced).map_or(replaced, |unit| unit.next);
                    self.item(old, at)?
                }
            };
            next = scanner::next_item(self.new, end, b']')?;
        }
    }

    /// Finds the known unit at an offset: one of these, or one a little further on.
    fn find_item(&self, first: [u32; 2], container: &Unit, at: usize) -> Option<u32> {
        for mut number in first {
            for _ in 0..=LOOK_AHEAD {
                let Some(unit) = self.unit(number).filter(|_| number < container.next) else {
                    break;
                };
                if self.is_at(unit, at) {
                    return Some(number);
                }
                number = unit.next;
            }
        }
        None
    }

    /// Takes a new item of an array; its own items are compared if the one that it replaces has some.
    fn item(&mut self, replaces: Option<u32>, at: usize) -> Option<usize> {
        self.separate();
        if let Some(end) = self.opened(replaces, at, at)? {
            return Some(end);
        }
        let end = scanner::value_end(self.new, at)?;
        self.rest.extend_from_slice(self.new.get(at..end)?);
        self.steps.push(Step::New {
            raw: at..end,
            key: 0,
            replaces,
        });
        Some(end)
    }

    /// Compares the items of a value with those of the unit that it replaces, if both have some.
    #[allow(clippy::option_option)] // the outer one is that of every step
    fn opened(&mut self, replaces: Option<u32>, raw: usize, value: usize) -> Option<Option<usize>> {
        let unit = replaces.and_then(|number| Some((number, self.unit(number)?)));
        match unit {
            Some((number, unit)) if unit.opening() == self.new.get(value).copied() => {
                self.open(number, raw, value).map(Some)
            }
            Some(_) | None => Some(None),
        }
    }

    fn members(&mut self, number: u32, value: usize) -> Option<(usize, bool)> {
        let container = self.unit(number)?;
        let mut expected = number + 1;
        let mut has_known_keys = true;
        let mut next = scanner::first_item(self.new, value, b'}');
        loop {
            let at = match next {
                NextItem::End(end) => return Some((end, has_known_keys)),
                NextItem::Item(at) => at,
            };
            let end = match self.same(expected, container, at) {
                Some((next, end)) => {
                    expected = next;
                    end
                }
                None => {
                    let start = scanner::member(self.new, at)?;
                    let key = self.new.get(at..start.key_end)?;
                    let replaces = self.find_key(expected, container, key);
                    match replaces {
                        Some(number) => expected = self.unit(number)?.next,
                        None => {
                            let key = plain_key(key)?;
                            if lored_redact::names_siblings(key)
                                || lored_redact::is_named_by_siblings(key)
                            {
                                return None;
                            }
                            has_known_keys = false;
                        }
                    }
                    self.member(replaces, at, start)?
                }
            };
            next = scanner::next_item(self.new, end, b'}')?;
        }
    }

    /// Finds the known member with this key: the expected one, or one a little further on.
    fn find_key(&self, mut number: u32, container: &Unit, key: &[u8]) -> Option<u32> {
        for _ in 0..=LOOK_AHEAD {
            let unit = self.unit(number).filter(|_| number < container.next)?;
            if self.known.get(unit.key()) == Some(key) {
                return Some(number);
            }
            number = unit.next;
        }
        None
    }

    /// Takes a new or changed member.
    fn member(
        &mut self,
        replaces: Option<u32>,
        at: usize,
        start: scanner::MemberStart,
    ) -> Option<usize> {
        self.separate();
        let rest = self.rest.len();
        self.rest
            .extend_from_slice(self.new.get(at..start.key_end)?);
        self.rest.push(b':');
        if let Some(end) = self.opened(replaces, at, start.value)? {
            return Some(end);
        }
        self.rest.truncate(rest);
        let end = scanner::value_end(self.new, start.value)?;
        self.rest.extend_from_slice(self.new.get(at..end)?);
        self.steps.push(Step::New {
            raw: at..end,
            key: start.key_end - at,
            replaces,
        });
        Some(end)
    }
}
