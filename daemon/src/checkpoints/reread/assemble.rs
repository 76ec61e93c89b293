//! Makes the canonical text and the units of a new context from the known ones and what was new in it.

use std::collections::HashMap;
use std::ops::Range;

use super::compare::Step;
use super::scanner;
use super::units::{Kind, Unit, UnitBuilder, canonical_members, plain_key};
use crate::canonical::key_order;
use crate::checkpoints::edits::Edits;

/// Shorter ranges that are equal by chance are no copies, in bytes.
const COPY_BYTES_MIN: usize = 16;

/// A context, and what is known of it.
#[derive(Clone, Copy)]
pub struct Text<'t> {
    /// Its canonical text.
    pub canonical: &'t [u8],
    /// Its units.
    pub units: &'t [Unit],
}

/// A new context that is being made.
pub struct Assembly<'a> {
    new: &'a [u8],
    known: Text<'a>,
    /// Canonical text of what was new.
    rest: &'a [u8],
    steps: &'a [Step],
    /// Number of the next step.
    step: usize,
    /// Canonical text so far.
    pub canonical: Vec<u8>,
    /// Units so far.
    pub units: Vec<Unit>,
    /// How the canonical text was made from the known one.
    pub edits: Edits,
}

/// A member of an object whose order has to be found.
struct Child<'a> {
    key: &'a str,
    source: ChildSource,
}

enum ChildSource {
    /// The known unit with this number, which begins here in the new text.
    Known(u32, usize),
    /// The step with this number, and where its value begins in the rest.
    Changed(usize, Range<usize>),
}

impl<'a> Assembly<'a> {
    /// Makes the context of these steps; `None` if it has to be read whole.
    pub fn of(new: &'a [u8], known: Text<'a>, rest: &'a [u8], steps: &'a [Step]) -> Option<Self> {
        let mut assembly = Self {
            new,
            known,
            rest,
            steps,
            step: 0,
            canonical: Vec::with_capacity(new.len() + 64),
            units: Vec::with_capacity(known.units.len() + 64),
            edits: Edits::default(),
        };
        assembly.opened(0)?;
        (assembly.step == steps.len()).then_some(assembly)
    }

    fn known_unit(&self, number: u32) -> Option<&'a Unit> {
        self.known.units.get(number as usize)
    }

    fn peek(&self) -> Option<&'a Step> {
        self.steps.get(self.step)
    }

    fn punctuation(&mut self, byte: u8) {
        self.canonical.push(byte);
        self.edits.insert_or_continue(&[byte], self.known.canonical);
    }

    /// Copies a range of the known canonical text.
    fn copied(&mut self, range: Range<usize>) -> Option<()> {
        self.canonical
            .extend_from_slice(self.known.canonical.get(range.clone())?);
        self.edits.copy(range.start, range.len());
        Some(())
    }

    /// Makes the container whose step is next, and returns the end of its part of the rest.
    fn opened(&mut self, rest: usize) -> Option<usize> {
        let Step::Open {
            unit,
            raw,
            value,
            has_known_keys,
        } = self.peek()?
        else {
            return None;
        };
        self.step += 1;
        let known = self.known_unit(*unit)?;
        let (number, start) = (self.units.len(), self.canonical.len());
        self.units.push(*known);
        let key = known.canonical().start..known.canonical().start + known.canonical_value as usize;
        self.copied(key)?;
        self.punctuation(known.opening()?);
        let (raw_end, rest) = match known.kind {
            Kind::Array => self.items(rest)?,
            Kind::Object { is_ordered: true } if *has_known_keys => self.members(rest)?,
            Kind::Object { .. } | Kind::Leaf => self.sorted_members(rest)?,
        };
        self.punctuation(known.close()?);
        let offset = |at: usize| u32::try_from(at).ok();
        let unit = Unit {
            raw: offset(*raw)?,
            raw_end: offset(raw_end)?,
            canonical: offset(start)?,
            canonical_end: offset(self.canonical.len())?,
            next: offset(self.units.len())?,
            raw_value: offset(value - raw)?,
            ..*known
        };
        let is_ordered = || {
            let children = self.units.get(number + 1..).unwrap_or_default();
            let mut ends = (0, 0);
            children.iter().all(|child| {
                let is_next = child.raw < ends.0 || child.canonical >= ends.1;
                if child.raw >= ends.0 {
                    ends = (child.raw_end, child.canonical_end);
                }
                is_next
            })
        };
        let kind = match unit.kind {
            Kind::Object { .. } if !*has_known_keys => Kind::Object {
                is_ordered: is_ordered(),
            },
            kind => kind,
        };
        *self.units.get_mut(number)? = Unit { kind, ..unit };
        Some(rest)
    }

    fn items(&mut self, rest: usize) -> Option<(usize, usize)> {
        self.in_order(rest, b']', Self::changed)
    }

    /// Makes the members of an object whose order is that of the known one.
    fn members(&mut self, rest: usize) -> Option<(usize, usize)> {
        self.in_order(rest, b'}', Self::member)
    }

    /// Makes what is in a container in the order of the known one, up to its bracket. The rest has only what differs:
    /// `differing` takes it and returns the end of its part. Returns the end of the container in the received text and in
    /// the rest.
    fn in_order(
        &mut self,
        rest: usize,
        close: u8,
        differing: fn(&mut Self, usize) -> Option<usize>,
    ) -> Option<(usize, usize)> {
        let (mut is_first, mut is_first_of_rest) = (true, true);
        let mut rest = rest + 1;
        loop {
            if let Step::Close { raw_end } = self.peek()? {
                self.step += 1;
                return (self.rest.get(rest) == Some(&close)).then_some((*raw_end, rest + 1));
            }
            if !std::mem::take(&mut is_first) {
                self.punctuation(b',');
            }
            if let Step::Same { units, raw } = self.peek()? {
                self.step += 1;
                self.same(units.clone(), *raw)?;
                continue;
            }
            if !std::mem::take(&mut is_first_of_rest) {
                rest += 1;
            }
            rest = differing(self, rest)?;
        }
    }

    /// Takes a changed member from the rest. Returns the end of its part.
    fn member(&mut self, rest: usize) -> Option<usize> {
        let number = match self.peek()? {
            Step::Open { unit, .. } => *unit,
            Step::New { replaces, .. } => (*replaces)?,
            Step::Same { .. } | Step::Close { .. } => return None,
        };
        let key = self.known_unit(number)?.canonical_key();
        let key = self.known.canonical.get(key)?;
        if !self.rest.get(rest..)?.starts_with(key) {
            return None;
        }
        let value = rest + key.len() + 1;
        match self.peek()? {
            Step::Open { .. } => self.opened(value),
            _ => self.changed(rest),
        }
    }

    /// Takes a new or changed item of an array, or a new member, from the rest. Returns the end of its part.
    fn changed(&mut self, rest: usize) -> Option<usize> {
        let value = match self.peek()? {
            Step::Open { .. } => return self.opened(rest),
            Step::New { key: 0, .. } => rest,
            Step::New { .. } => scanner::member(self.rest, rest)?.value,
            Step::Same { .. } | Step::Close { .. } => return None,
        };
        let end = scanner::value_end(self.rest, value)?;
        self.new_item(rest..end)?;
        Some(end)
    }

    /// Takes the units of a new item.
    fn new_item(&mut self, rest: Range<usize>) -> Option<()> {
        let Step::New { raw, key, replaces } = self.peek()? else {
            return None;
        };
        self.step += 1;
        let text = self.rest.get(rest.clone())?;
        let start = self.canonical.len();
        self.canonical.extend_from_slice(text);
        self.inserted(text, *replaces);
        let number = i64::try_from(self.units.len()).ok()?;
        let mut builder = UnitBuilder::new(self.new, self.rest);
        builder.add_item(raw.clone(), rest.clone(), *key)?;
        let by = i64::try_from(start).ok()? - i64::try_from(rest.start).ok()?;
        let units = builder.units.into_iter();
        self.units
            .extend(units.map(|unit| unit.shifted(0, by, number)));
        Some(())
    }

    /// Notes new text, except for its beginning and end that are those of the unit that it replaces.
    fn inserted(&mut self, text: &[u8], replaces: Option<u32>) {
        let old = replaces.and_then(|number| self.known_unit(number));
        let range = old.map(Unit::canonical).unwrap_or_default();
        let old = self.known.canonical.get(range.clone()).unwrap_or_default();
        let mut beginning = scanner::common_prefix(text, old);
        if beginning < COPY_BYTES_MIN && self.edits.end_in_old() != Some(range.start) {
            beginning = 0;
        }
        let after = |text: &'_ [u8]| text.len() - beginning;
        let shorter = after(text).min(after(old));
        let end = scanner::common_suffix(text, old).min(shorter);
        let end = if end < COPY_BYTES_MIN { 0 } else { end };
        self.edits.copy(range.start, beginning);
        self.edits.insert(text.len() - beginning - end);
        self.edits.copy(range.end - end, end);
    }

    /// Takes a run of known units that have the same order in both texts.
    fn same(&mut self, units: Range<u32>, raw: usize) -> Option<()> {
        let known = self
            .known
            .units
            .get(units.start as usize..units.end as usize)?;
        let first = known.first()?;
        let (mut last, mut number) = (first, units.start);
        while number < units.end {
            last = self.known_unit(number)?;
            number = last.next;
        }
        let start = i64::try_from(self.canonical.len()).ok()?;
        self.copied(first.canonical().start..last.canonical().end)?;
        let by = |to: i64, from: u32| to - i64::from(from);
        let raw = by(i64::try_from(raw).ok()?, first.raw);
        let canonical = by(start, first.canonical);
        let number = by(i64::try_from(self.units.len()).ok()?, units.start);
        self.units.extend(
            known
                .iter()
                .map(|unit| unit.shifted(raw, canonical, number)),
        );
        Some(())
    }

    /// Makes the members of an object whose order has to be found.
    fn sorted_members(&mut self, rest: usize) -> Option<(usize, usize)> {
        let in_rest = canonical_members(self.rest, rest)?;
        let rest_end = scanner::value_end(self.rest, rest)?;
        let by_key = in_rest.into_iter();
        let by_key = by_key.map(|(key, member)| Some((self.rest.get(key)?, member)));
        let by_key: HashMap<&[u8], Range<usize>> = by_key.collect::<Option<_>>()?;
        let (mut children, raw_end) = self.children(&by_key)?;
        let after = self.step;
        children.sort_by(|a, b| key_order(a.key, b.key));
        let is_twice = |pair: &[Child<'_>]| matches!(pair, [a, b] if a.key == b.key);
        if children.windows(2).any(is_twice) {
            return None;
        }
        // The members of the canonical text are made in its order, their units in that of the received text.
        let outer = std::mem::take(&mut self.units);
        let mut lists: Vec<Vec<Unit>> = Vec::with_capacity(children.len());
        for (at, child) in children.into_iter().enumerate() {
            if at > 0 {
                self.punctuation(b',');
            }
            match child.source {
                ChildSource::Known(unit, raw) => {
                    let next = self.known_unit(unit)?.next;
                    self.same(unit..next, raw)?;
                }
                ChildSource::Changed(step, range) => {
                    self.step = step;
                    let value = range.start + child.key.len() + 3;
                    match self.peek()? {
                        Step::Open { .. } => self.opened(value).map(drop)?,
                        _ => self.new_item(range)?,
                    }
                }
            }
            lists.push(std::mem::take(&mut self.units));
        }
        (self.units, self.step) = (outer, after);
        lists.sort_by_key(|list| list.first().map_or(0, |unit| unit.raw));
        for list in lists {
            let by = i64::try_from(self.units.len()).ok()?;
            let list = list.into_iter();
            self.units.extend(list.map(|unit| unit.shifted(0, 0, by)));
        }
        Some((raw_end, rest_end))
    }

    /// Lists the members of the container whose steps are next, and goes to the step after them. Returns the end of the
    /// container in the new text, too.
    fn children(
        &mut self,
        in_rest: &HashMap<&'a [u8], Range<usize>>,
    ) -> Option<(Vec<Child<'a>>, usize)> {
        let mut children = Vec::new();
        loop {
            let step = self.step;
            self.step += 1;
            let key = match self.steps.get(step)? {
                Step::Close { raw_end } => return Some((children, *raw_end)),
                Step::Same { units, raw } => {
                    let first = self.known_unit(units.start)?;
                    let mut number = units.start;
                    while number < units.end {
                        let unit = self.known_unit(number)?;
                        let raw = raw + (unit.raw - first.raw) as usize;
                        children.push(Child {
                            key: plain_key(self.known.canonical.get(unit.canonical_key())?)?,
                            source: ChildSource::Known(number, raw),
                        });
                        number = unit.next;
                    }
                    continue;
                }
                Step::Open { unit, .. } => {
                    self.step = self.after(step)?;
                    self.known
                        .canonical
                        .get(self.known_unit(*unit)?.canonical_key())?
                }
                Step::New { raw, key, .. } => self.new.get(raw.start..raw.start + key)?,
            };
            children.push(Child {
                key: plain_key(key)?,
                source: ChildSource::Changed(step, in_rest.get(key)?.clone()),
            });
        }
    }

    /// Returns the number of the step after the container that a step opens.
    fn after(&self, mut step: usize) -> Option<usize> {
        let mut depth = 0;
        loop {
            match self.steps.get(step)? {
                Step::Open { .. } => depth += 1,
                Step::Close { .. } => depth -= 1,
                Step::Same { .. } | Step::New { .. } => {}
            }
            step += 1;
            if depth == 0 {
                return Some(step);
            }
        }
    }
}
