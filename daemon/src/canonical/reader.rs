//! The single pass over a text: reads objects and arrays, and records which are out of order.

use std::cmp::Ordering;

use super::cursor::Cursor;
use super::malformed::shortened;
use super::order::{Member, UnsortedObject, UnsortedText};
use super::{Canonical, CanonicalError, DEPTH_MAX};

/// Reads a JSON object.
pub(super) fn read(json: &str) -> Result<Canonical, CanonicalError> {
    let mut reader = Reader {
        cursor: Cursor::new(json),
        members: Vec::new(),
        path: Vec::new(),
        shuffled: Vec::new(),
    };
    reader.cursor.blank();
    if reader.cursor.peek() != Some(b'{') {
        let found = reader.cursor.found();
        let reason = format!("not a JSON object: {found}, where `{{` should be");
        return Err(CanonicalError(reason));
    }
    let in_order = reader.members()?;
    if !in_order {
        reader.sort(0)?;
    }
    let unordered = UnsortedText {
        text: reader.cursor.finish()?,
        members: reader.members,
        in_order,
        shuffled: reader.shuffled,
    };
    Ok(unordered.arrange())
}

/// Position of a value within its container.
enum Step {
    /// The value of the member at this index of [`Reader::members`].
    Key(usize),
    /// The item of an array, from 0.
    Index(usize),
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Members read so far of every open object, outermost first.
    members: Vec<Member>,
    /// Path to the value being read; as long as the nesting is deep.
    path: Vec<Step>,
    shuffled: Vec<UnsortedObject>,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<(), CanonicalError> {
        match self.cursor.peek() {
            Some(b'"') => self.cursor.string(),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.cursor.number(),
            _ => self.cursor.literal(),
        }
    }

    /// Reads a nested object.
    fn object(&mut self) -> Result<(), CanonicalError> {
        self.bounded()?;
        let start = self.cursor.position();
        let (first, shuffled) = (self.members.len(), self.shuffled.len());
        if self.members()? {
            self.members.truncate(first);
        } else {
            self.sort(first)?;
            let members = self.members.split_off(first);
            self.shuffled.push(UnsortedObject {
                span: start..self.cursor.position(),
                inside: self.shuffled.len() - shuffled,
                members,
            });
        }
        Ok(())
    }

    /// Reads the members of an object, from its opening brace to after its closing brace. They stay on
    /// [`Reader::members`]; returns whether they are in order.
    fn members(&mut self) -> Result<bool, CanonicalError> {
        let first = self.members.len();
        let mut in_order = true;
        self.cursor.pass(1);
        self.cursor.blank();
        if self.cursor.take(b'}') {
            return Ok(true);
        }
        loop {
            if self.cursor.peek() != Some(b'"') {
                return Err(self.cursor.syntax("a key in quotes"));
            }
            let (came_at, start) = (self.cursor.at(), self.cursor.position());
            self.cursor.string()?;
            let member = Member {
                start,
                key_end: self.cursor.position(),
                end: 0,
                came_at,
            };
            in_order = in_order && self.follows(first, &member)?;
            self.path.push(Step::Key(self.members.len()));
            self.members.push(member);
            self.cursor.separator(b':', "`:`")?;
            self.value()?;
            self.path.pop();
            let end = self.cursor.position();
            if let Some(member) = self.members.last_mut() {
                member.end = end;
            }
            self.cursor.blank();
            if self.cursor.take(b'}') {
                return Ok(in_order);
            }
            self.cursor.separator(b',', "`,` or `}`")?;
        }
    }

    /// Returns whether a key sorts after the previous key of its object, if any.
    fn follows(&mut self, first: usize, member: &Member) -> Result<bool, CanonicalError> {
        // Keys are compared as written.
        self.cursor.flush();
        let Some(before) = self.members.get(first..).and_then(<[Member]>::last) else {
            return Ok(true);
        };
        match before.order(member, self.cursor.written()) {
            Ordering::Less => Ok(true),
            Ordering::Equal => Err(self.duplicate(member)),
            Ordering::Greater => Ok(false),
        }
    }

    /// Sorts the members from `first` on, which belong to one object.
    fn sort(&mut self, first: usize) -> Result<(), CanonicalError> {
        self.cursor.flush();
        let members = self.members.get_mut(first..).unwrap_or_default();
        members.sort_unstable_by(|a, b| a.order(b, self.cursor.written()));
        let members = self.members.get(first..).unwrap_or_default();
        let neighbours = members.iter().zip(members.iter().skip(1));
        for (a, b) in neighbours {
            if a.order(b, self.cursor.written()) == Ordering::Equal {
                let second = if a.came_at < b.came_at { b } else { a };
                return Err(self.duplicate(second));
            }
        }
        Ok(())
    }

    fn array(&mut self) -> Result<(), CanonicalError> {
        self.bounded()?;
        self.cursor.pass(1);
        self.cursor.blank();
        if self.cursor.take(b']') {
            return Ok(());
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            self.value()?;
            self.path.pop();
            self.cursor.blank();
            if self.cursor.take(b']') {
                break;
            }
            self.cursor.separator(b',', "`,` or `]`")?;
        }
        Ok(())
    }

    /// Refuses an array or object that is nested too deep; the outermost object has no step.
    fn bounded(&self) -> Result<(), CanonicalError> {
        if self.path.len() < DEPTH_MAX {
            return Ok(());
        }
        Err(CanonicalError(format!(
            "the array or object {} is nested deeper than {DEPTH_MAX}; make it flatter",
            self.cursor.place_of(self.cursor.at())
        )))
    }

    /// Reports that the member's key is a duplicate in the object being read.
    fn duplicate(&self, member: &Member) -> CanonicalError {
        let mut object = String::new();
        for step in &self.path {
            object.push('/');
            match step {
                Step::Key(member) => {
                    let member = self.members.get(*member);
                    let key = member.map(|member| member.unescaped_key(self.cursor.written()));
                    object += &key
                        .unwrap_or_default()
                        .replace('~', "~0")
                        .replace('/', "~1");
                }
                Step::Index(index) => object += &index.to_string(),
            }
        }
        CanonicalError(format!(
            "the key {:?} is twice in the object at JSON Pointer {:?}, again {}; keep one of them",
            shortened(&member.unescaped_key(self.cursor.written())),
            shortened(&object),
            self.cursor.place_of(member.came_at)
        ))
    }
}
