//! The extractors and field mappings that apply to a step: built-in and registered.

use super::mappings::{FORMS, FieldForm, MAPPINGS, NARROW, STATES};
use super::registration::{
    CustomExtractor, Extractor, FieldMapping, RegistrationError, checked, compile,
};
use super::{date, id};
use crate::steps::words;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Part of every set's hash. Raise it whenever the built-in extractors find different values.
const VERSION: &str = "lored extractors 4";

/// Memory of an empty set, in bytes.
const SET_BYTES: usize = 16 * 1024;
/// Memory of a word in addition to its letters, in bytes.
const WORD_BYTES: usize = 32;

/// A value type that variables can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Identifiers.
    Id,
    /// Dates and date-times.
    Date,
    /// Numbers.
    Number,
    /// Objects and arrays.
    Json,
    /// URLs of pages.
    Url,
    /// Email addresses.
    Email,
    /// A registered type, by its index in the set.
    Custom(usize),
}

/// The built-in types, in extraction order.
pub const BUILT_IN: [(&str, Type); 6] = [
    ("id", Type::Id),
    ("date", Type::Date),
    ("number", Type::Number),
    ("json", Type::Json),
    ("url", Type::Url),
    ("email", Type::Email),
];

/// The aliases of a field, normalised and best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// Names with the same meaning: they answer like the field's own name when it is narrower than its list.
    pub same: Vec<String>,
    /// Names with a wider meaning: registered ones first.
    pub other: Vec<String>,
    /// What the field's values look like.
    pub form: FieldForm,
}

impl Aliases {
    /// Adds the names of a list that are new. Those in `same` have the field's own meaning.
    fn add(&mut self, list: &[String], same: &[&str]) {
        for alias in list {
            if self.all().any(|known| known == alias) {
                continue;
            }
            match same.contains(&alias.as_str()) {
                true => self.same.push(alias.clone()),
                false => self.other.push(alias.clone()),
            }
        }
    }

    /// Returns all names, best first.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.same.iter().chain(&self.other).map(String::as_str)
    }
}

/// The compiled extractors and mappings of one scope.
#[derive(Clone, Debug)]
pub struct ExtractorSet {
    pub(super) custom: Vec<CustomExtractor>,
    aliases: HashMap<String, Aliases>,
    hash: [u8; 32],
    bytes: usize,
}

impl Default for ExtractorSet {
    fn default() -> Self {
        ExtractorSet {
            custom: Vec::new(),
            aliases: aliases(&[]),
            hash: hash(&[], &[]),
            bytes: SET_BYTES,
        }
    }
}

impl ExtractorSet {
    /// Combines the built-in extractors with the registered ones, in registration order.
    ///
    /// A later extractor or mapping replaces an earlier one of the same name. Replaced extractors are not validated.
    ///
    /// # Errors
    /// The error of the first extractor that is invalid and not replaced, or of the first invalid mapping.
    pub fn new(
        extractors: &[Extractor],
        mappings: &[FieldMapping],
    ) -> Result<Self, RegistrationError> {
        // Compilation is slow, so replaced extractors are not compiled.
        let mut newest: Vec<&Extractor> = Vec::new();
        for extractor in extractors {
            match newest
                .iter_mut()
                .find(|known| words::same(&known.name, &extractor.name))
            {
                Some(known) => *known = extractor,
                None => newest.push(extractor),
            }
        }
        let custom: Result<Vec<CustomExtractor>, RegistrationError> =
            newest.into_iter().map(compile).collect();
        let custom = custom?;
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for mapping in mappings {
            let aliases = checked(mapping)?;
            let field = words::normalise(&mapping.field);
            match lists.iter_mut().find(|(known, _)| *known == field) {
                Some((_, known)) => *known = aliases,
                None => lists.push((field, aliases)),
            }
        }
        let aliases = aliases(&lists);
        let words = aliases.values().flat_map(Aliases::all);
        Ok(ExtractorSet {
            bytes: SET_BYTES
                + custom.iter().map(|custom| custom.bytes).sum::<usize>()
                + words.map(|word| WORD_BYTES + word.len()).sum::<usize>(),
            custom,
            aliases,
            hash: hash(extractors, mappings),
        })
    }

    /// Returns the memory that the set may use, in bytes. Patterns count with the size that they may grow to.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the SHA-256 of the set's definition. Sets with equal hashes extract equal values.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Lists the types with their names, in extraction order.
    pub fn types(&self) -> impl Iterator<Item = (&str, Type)> {
        let custom = self.custom.iter().enumerate();
        let custom = custom.map(|(at, custom)| (custom.name.as_str(), Type::Custom(at)));
        BUILT_IN.into_iter().chain(custom)
    }

    /// Returns the type of this name. Case and punctuation do not matter.
    #[must_use]
    pub fn type_named(&self, word: &str) -> Option<Type> {
        self.types()
            .find(|(name, _)| words::same(name, word))
            .map(|(_, of)| of)
    }

    /// Returns the name of a type.
    #[must_use]
    pub fn name_of(&self, wanted: Type) -> &str {
        self.types()
            .find(|(_, of)| *of == wanted)
            .map_or("", |(name, _)| name)
    }

    /// Returns whether a JSON field of this name holds values of the type.
    #[must_use]
    pub fn is_field_of(&self, of: Type, key: &str) -> bool {
        match of {
            Type::Id => id::is_field(key),
            Type::Date => date::is_field(key),
            Type::Number | Type::Json | Type::Url | Type::Email => false,
            Type::Custom(at) => self
                .custom
                .get(at)
                .is_some_and(|custom| custom.has_field(key)),
        }
    }

    /// Returns the aliases of a field. A field belongs to the lists that it names or is in.
    #[must_use]
    pub fn aliases(&self, field: &str) -> &Aliases {
        static NONE: Aliases = Aliases {
            same: Vec::new(),
            other: Vec::new(),
            form: FieldForm::Any,
        };
        self.aliases.get(&words::normalise(field)).unwrap_or(&NONE)
    }
}

/// Maps each field name to its aliases. Registered names come before the built-in ones of the same list.
fn aliases(registered: &[(String, Vec<String>)]) -> HashMap<String, Aliases> {
    let owned = |list: &[&str]| list.iter().map(|alias| (*alias).to_owned()).collect();
    let built_in: Vec<(String, Vec<String>)> = MAPPINGS
        .iter()
        .map(|(field, list)| ((*field).to_owned(), owned(list)))
        .collect();
    let members = |(field, list): &(String, Vec<String>)| -> HashSet<String> {
        let extension = registered.iter().find(|(known, _)| known == field);
        let extension = extension.into_iter().flat_map(|(_, list)| list);
        list.iter()
            .chain(extension)
            .chain([field])
            .cloned()
            .collect()
    };
    let mut aliases: HashMap<String, Aliases> = HashMap::new();
    for registered in registered {
        let extended = built_in.iter().find(|(field, _)| *field == registered.0);
        // A list that extends a built-in one also answers for that one's members.
        for member in members(extended.unwrap_or(registered)) {
            aliases.entry(member).or_default().add(&registered.1, &[]);
        }
    }
    for (field, list) in &built_in {
        let mut names = members(&(field.clone(), list.clone()));
        names.retain(|name| !STATES.contains(&name.as_str()));
        for member in names {
            let narrow = NARROW.iter().find(|group| group.contains(&member.as_str()));
            let known = aliases.entry(member.clone()).or_default();
            let form = FORMS.iter().find(|(list, _)| list == field);
            known.form = form.map_or(known.form, |(_, form)| *form);
            match narrow {
                None => known.add(list, &[]),
                Some(own) => {
                    let is_foreign = |alias: &&String| {
                        let mut others = NARROW.iter().filter(|group| *group != own);
                        others.any(|group| group.contains(&alias.as_str()))
                    };
                    let list: Vec<String> = list
                        .iter()
                        .filter(|alias| !is_foreign(alias))
                        .cloned()
                        .collect();
                    known.add(&list, own);
                }
            }
        }
    }
    aliases
}

fn hash(extractors: &[Extractor], mappings: &[FieldMapping]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let mut add = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    add(VERSION);
    for extractor in extractors {
        add("extractor");
        add(&extractor.name);
        add(&format!(
            "{:?} {:?}",
            extractor.pattern.is_some(),
            extractor.group
        ));
        add(extractor.pattern.as_deref().unwrap_or_default());
        add(&extractor.fields.len().to_string());
        extractor.fields.iter().for_each(|field| add(field));
    }
    for mapping in mappings {
        add("mapping");
        add(&mapping.field);
        add(&mapping.aliases.len().to_string());
        mapping.aliases.iter().for_each(|alias| add(alias));
    }
    hasher.finalize().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn extractor(name: &str, pattern: &str) -> Extractor {
        Extractor {
            name: name.into(),
            pattern: Some(pattern.into()),
            ..Extractor::default()
        }
    }

    #[test]
    fn the_hash_tells_sets_apart_and_is_stable() {
        let one = ExtractorSet::new(&[extractor("a", "bc")], &[]).unwrap();
        let other = ExtractorSet::new(&[extractor("ab", "c")], &[]).unwrap();
        let again = ExtractorSet::new(&[extractor("a", "bc")], &[]).unwrap();
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.hash(), again.hash());
        assert_ne!(one.hash(), ExtractorSet::default().hash());
        assert_eq!(
            ExtractorSet::new(&[], &[]).unwrap().hash(),
            ExtractorSet::default().hash()
        );
    }

    /// Only the newest registration of a name is compiled, so the invalid earlier ones do not matter.
    #[test]
    fn a_name_registered_again_and_again_is_one_pattern() {
        let mut all = vec![extractor("Ticket", "("); 999];
        all.push(extractor("ticket", "T-[0-9]+"));
        let set = ExtractorSet::new(&all, &[]).unwrap();
        let named: Vec<&str> = set
            .custom
            .iter()
            .map(|custom| custom.name.as_str())
            .collect();
        assert_eq!(named, ["ticket"]);
        let alone = ExtractorSet::new(&[extractor("ticket", "T-[0-9]+")], &[]).unwrap();
        assert_eq!(set.bytes(), alone.bytes());
        assert!(ExtractorSet::new(&[extractor("ticket", "(")], &[]).is_err());
    }

    /// Patterns count with the size that they may grow to, and words count as well.
    #[test]
    fn a_set_counts_what_it_takes() {
        let bytes = |extractors: &[Extractor], mappings: &[FieldMapping]| {
            ExtractorSet::new(extractors, mappings).unwrap().bytes()
        };
        let small = bytes(&[extractor("a", "T-[0-9]+")], &[]);
        assert!(small > ExtractorSet::default().bytes());
        assert!(small < 256 * 1024, "{small}");
        let large = bytes(&[extractor("a", r"\w{20}")], &[]);
        assert!(large > 1 << 20, "{large}");
        let aliases = (0..64).map(|n| format!("alias{n}")).collect();
        let field = "ticket".to_owned();
        let mapped = bytes(&[], &[FieldMapping { field, aliases }]);
        assert!(mapped > 64 * 64 * 32, "{mapped}");
    }

    #[test]
    fn a_field_goes_by_the_names_of_its_lists() {
        let mapping = FieldMapping {
            field: "status".into(),
            aliases: vec!["Phase".into(), "life_cycle".into()],
        };
        let set = ExtractorSet::new(&[], &[mapping]).unwrap();
        let all = |field: &str| set.aliases(field).all().collect::<Vec<_>>();
        assert_eq!(all("STATE"), ["phase", "lifecycle", "status", "state"]);
        assert_eq!(all("PHASE"), all("STATUS"));
        assert_eq!(all("COMPLETION_DATE").first(), Some(&"closeddate"));
        assert!(all("COMPLETION_DATE").contains(&"date"));
        assert!(!all("COMPLETION_DATE").contains(&"createddate"));
        assert!(all("SERIAL").is_empty());
    }
}
