//! Texts in the fields of JSON: names of entities, prose, and what is neither.

use super::Flat;
use super::kinds::{ADDRESS_KEYS, NO_LISTS};
use super::objects::{Object, Read, ValueLocation};
use super::people::is_person;
use super::rows::is_proper;
use crate::names::{canonical_key, shown_name};
use crate::wording::{singular, snake_case};

impl Read<'_> {
    /// Adds a text as a name if its field holds entities. Otherwise the text is prose if its field is declared as
    /// prose or no entity encloses it.
    pub(super) fn text(&mut self, text: &Flat, place: ValueLocation<'_>) {
        let packs = self.packs;
        let field = place.field.unwrap_or_default();
        let declared = packs.fields.get(field).copied();
        let declared = declared.or_else(|| self.kind_of_name_field(text.text(), place));
        let of_person = || {
            let person = packs.place_of("person")?;
            is_person(field, text.text()).then_some(person)
        };
        if let Some(kind) = declared.or_else(of_person)
            && let Some(object) = self.named(text, kind, place)
        {
            self.add(object, place);
        } else if is_state(field, text.text()) {
            // CREATE_COMPLETE is a state, and no variable of an environment.
        } else if ADDRESS_KEYS.contains(&field) || is_digest(field) {
            // An object's own URL only identifies its kind and mentions nothing; a digest names no commit.
        } else if place.within.is_none() || packs.prose.contains(field) {
            for (at, character) in text.text().char_indices() {
                let (start, end) = (text.source(at), text.source(at + character.len_utf8()));
                let mut bytes = [0; 4];
                let piece: &str = character.encode_utf8(&mut bytes);
                if end - start == piece.len() {
                    self.prose.push(piece, start);
                } else {
                    self.prose.push_decoded(character, start, end);
                }
            }
            self.prose.push_break();
        }
    }

    /// Returns the kind of a proper name by the key of its field. `jobName` is the name of a job; each text in the list `vms` is
    /// the name of a virtual machine.
    fn kind_of_name_field(&self, text: &str, place: ValueLocation<'_>) -> Option<usize> {
        let field = place.field?;
        let of_name = || {
            let snake = snake_case(field);
            let word = snake.strip_suffix("_name")?;
            let known = self.packs.kind_words.get(&word.replace('_', " "))?;
            (known.parts.is_empty() && !known.plural).then_some(known.kind)
        };
        let kind = match place.is_listed {
            true => self.packs.fields.get(&*singular(field)).copied(),
            false => of_name(),
        }?;
        let declared = self.packs.kinds.get(kind)?;
        (!NO_LISTS.contains(&&*declared.name) && is_proper(text)).then_some(kind)
    }

    /// Returns the entity that a field refers to by name only.
    fn named(&self, text: &Flat, kind: usize, place: ValueLocation<'_>) -> Option<Object> {
        let own = place.within.and_then(|(own, _)| self.objects.get(own));
        let declared = self.packs.kinds.get(kind)?;
        let field = place.field.unwrap_or_default();
        let own_kind = own.and_then(|own| self.packs.kinds.get(own.kind));
        let is_own_name = own_kind.is_some_and(|kind| kind.names.iter().any(|name| name == field));
        let name = shown_name(text.text())?;
        let mut rules = self
            .packs
            .rules
            .iter()
            .filter(|rule| rule.kind == kind)
            .peekable();
        let has_rules = rules.peek().is_some();
        let is_address = &*declared.name == "file_path" && is_address_path(&name);
        let is_refused = is_address || (has_rules && rules.all(|rule| rule.refuses(&name)));
        if is_own_name || is_refused || text.text().contains('\n') {
            return None;
        }
        Some(Object {
            kind,
            key: canonical_key(&declared.name, text.text()),
            name,
            span: (text.source(0), text.source(text.text().len())),
            is_nested: place.within.is_some(),
            parents: Vec::new(),
            id: None,
            slug: None,
            display: None,
            data: None,
            aliases: Vec::new(),
            words: Vec::new(),
            is_object: false,
        })
    }
}

/// Returns whether a path is that of a request: `/api/v2/users`.
fn is_address_path(name: &str) -> bool {
    let first = name
        .strip_prefix('/')
        .and_then(|rest| rest.split('/').next());
    matches!(first, Some("api" | "rest" | "graphql" | "oauth" | "oauth2"))
}

/// Returns whether a text is a state in capitals, in a field for one.
fn is_state(field: &str, text: &str) -> bool {
    let field = field.to_ascii_lowercase();
    let is_field = [
        "status",
        "state",
        "reason",
        "type",
        "phase",
        "result",
        "conclusion",
    ]
    .iter()
    .any(|ending| field.ends_with(ending));
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    is_field && text.bytes().all(is_capital)
}

/// Returns whether a field holds the digest of some content.
fn is_digest(field: &str) -> bool {
    [
        "blob",
        "digest",
        "checksum",
        "etag",
        "sha256",
        "signature",
        "fingerprint",
    ]
    .iter()
    .any(|part| field.contains(part))
}
