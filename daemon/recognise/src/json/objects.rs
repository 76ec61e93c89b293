//! Maps JSON to entities: which objects are entities, and their names and parents.

use super::Flat;
use super::described::{ID_BYTES_MAX, WORDS_MAX, aliases_of, number_of, text_of, words_of};
use super::kinds::METADATA_KEY;
use super::people::is_person_field;
use super::reader::{Document, Node, Value};
use super::rows::row_key;
use crate::names::{canonical_key, shown_name};
use crate::packs::PackSet;
use crate::{Data, EntityLink};
use std::collections::HashMap;
use std::sync::Arc;

/// Keys that wrap a result without being part of it.
const WRAPPERS: [&str; 5] = ["result", "data", "object", "structuredContent", "text"];
/// Keys whose value is the type of the objects next to them.
pub const TYPE_KEYS: [&str; 2] = ["object_type", "model"];
/// Limit on the parents of an entity.
const PARENTS_MAX: usize = 16;

/// An entity found in JSON.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Index of the kind in the pack set.
    pub(crate) kind: usize,
    pub(crate) key: String,
    pub(crate) name: String,
    /// Range of the name in the text.
    pub(crate) span: (usize, usize),
    /// Whether the entity occurs only within other entities.
    pub(crate) is_nested: bool,
    pub(crate) parents: Vec<EntityLink>,
    pub(crate) id: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) display: Option<String>,
    pub(crate) data: Option<Data>,
    /// Other names: a title, a number.
    pub(crate) aliases: Vec<String>,
    /// What the object says of itself: role, state, words of its title.
    pub(crate) words: Vec<String>,
    /// Whether a JSON object describes the entity; otherwise it is only a name in a field.
    pub(crate) is_object: bool,
}

/// The result of reading a text's JSON.
pub(crate) struct Read<'p> {
    pub(super) packs: &'p PackSet,
    pub(crate) objects: Vec<Object>,
    /// Kinds that only types name; their indices follow those of the packs.
    pub(crate) kinds: Vec<Arc<str>>,
    /// Indices of the entities in `objects`, by kind and key.
    places: HashMap<(usize, String), usize>,
    /// Text that is searched like a message.
    pub(crate) prose: Flat,
}

/// The name of an object: as written, as shown, and where it is in the text.
struct ObjectName {
    raw: String,
    name: String,
    span: (usize, usize),
}

/// The location of a value in a document.
#[derive(Clone, Copy)]
pub(super) struct ValueLocation<'d> {
    /// The kind that an enclosing type implies.
    pub(super) reported: Option<usize>,
    /// The enclosing entity and its field.
    pub(super) within: Option<(usize, &'d str)>,
    /// The field that contains the value, directly or through lists.
    pub(super) field: Option<&'d str>,
    /// Whether a list is between the value and the field.
    pub(super) is_listed: bool,
    /// The kind of the items of an enclosing list of Kubernetes: `DeploymentList`.
    pub(super) items: Option<&'d str>,
    /// The first key of each object in the enclosing list, if its value names the object.
    pub(super) row_key: Option<&'d str>,
    /// Whether an object here is a top-level result.
    pub(super) stands: bool,
    /// Number of enclosing JSON strings.
    levels: u8,
}

impl<'p> Read<'p> {
    pub(crate) fn new(packs: &'p PackSet) -> Self {
        Self {
            packs,
            objects: Vec::new(),
            kinds: Vec::new(),
            places: HashMap::new(),
            prose: Flat::default(),
        }
    }

    /// Reads a document; `reported` is the kind of its objects where the document does not state one.
    pub(crate) fn document(&mut self, document: &Document, reported: Option<usize>) {
        let place = ValueLocation {
            reported,
            within: None,
            field: None,
            is_listed: false,
            row_key: None,
            items: None,
            stands: true,
            levels: 0,
        };
        self.value(document, 0, place);
    }

    /// The recursion is bounded by the JSON reader's depth limit.
    fn value<'d>(&mut self, document: &'d Document, at: usize, place: ValueLocation<'d>) {
        let Some(node) = document.nodes.get(at) else {
            return;
        };
        match &node.value {
            Value::Object => self.object(document, at, node, place),
            Value::List => {
                let row_key = row_key(document, at);
                let place = ValueLocation {
                    is_listed: true,
                    row_key,
                    ..place
                };
                for (at, _) in document.children(at) {
                    self.value(document, at, place);
                }
            }
            Value::Nested => {
                let levels = place.levels + 1;
                self.value(document, at + 1, ValueLocation { levels, ..place });
            }
            Value::Text(text) => self.text(text, place),
            Value::Number(_) | Value::Word => {}
        }
    }

    fn object<'d>(
        &mut self,
        document: &'d Document,
        at: usize,
        node: &Node,
        place: ValueLocation<'d>,
    ) {
        let kind = self.kind_of(document, at, place);
        let own = kind.and_then(|kind| self.entity(document, at, node, kind, place));
        let is_peer = |key: &str| self.packs.peers.contains(key);
        let type_key = TYPE_KEYS.iter().find_map(|key| text_of(document, at, key));
        let reported = type_key.and_then(|text| self.packs.types.get(text.text()).copied());
        let items = text_of(document, at, "kind").map(Flat::text);
        let items = items
            .and_then(|kind| kind.strip_suffix("List"))
            .filter(|kind| !kind.is_empty());
        // The value of the first key is another name of the row, not a second entity.
        let own_key = place.row_key.filter(|key| {
            own.is_some()
                && self
                    .packs
                    .fields
                    .get(*key)
                    .is_some_and(|of| kind == Some(*of))
        });
        for (at, child) in document.children(at) {
            let key = child.key.as_deref().unwrap_or_default();
            if own_key == Some(key) {
                continue;
            }
            let is_list = matches!(child.value, Value::List);
            let stands = place.stands && (is_list || WRAPPERS.contains(&key));
            let typed = self.packs.types.get(key).copied();
            let within = match own {
                // What a peer's data says is not part of this entity.
                Some(own) => Some((own, key)),
                None if is_peer(key) => place.within.map(|(own, _)| (own, key)),
                None => place.within,
            };
            let place = ValueLocation {
                reported: typed
                    .or(reported)
                    .or(place.reported)
                    .filter(|_| within.is_none()),
                within,
                field: Some(key),
                is_listed: false,
                row_key: None,
                items: items.filter(|_| key == "items"),
                stands: stands && own.is_none(),
                levels: place.levels,
            };
            self.value(document, at, place);
        }
    }

    /// Returns the name of an object, its own or that of its metadata.
    fn name_of(&self, document: &Document, at: usize, kind: usize) -> Option<ObjectName> {
        let metadata = document.member(at, METADATA_KEY);
        self.own_name(document, at, kind)
            .or_else(|| self.own_name(document, metadata?.0, kind))
    }

    fn own_name(&self, document: &Document, at: usize, kind: usize) -> Option<ObjectName> {
        let by_text = |key: &str| {
            let text = text_of(document, at, key)?;
            let is_id = key == "id" && text.text().bytes().all(|byte| byte.is_ascii_digit());
            let name = shown_name(text.text()).filter(|_| !is_id)?;
            Some(ObjectName {
                raw: text.text().to_owned(),
                name,
                span: (text.source(0), text.source(text.text().len())),
            })
        };
        let Some(declared) = self.packs.kinds.get(kind) else {
            let kind = self.kind_name(kind)?;
            let own = format!("{kind}_id");
            let names = [
                &*kind,
                "name",
                "display_name",
                "displayName",
                "id",
                own.as_str(),
                "tracking",
                "key",
                "number",
                "reference",
                "title",
            ];
            return names.into_iter().find_map(by_text);
        };
        let by_number = |key: &str| {
            // A number named "id" counts nothing that people say, unless it is the only name.
            let is_titled = || {
                ["subject", "title"]
                    .iter()
                    .any(|key| text_of(document, at, key).is_some())
            };
            let is_numbered = &*declared.name == "issue" && is_titled();
            if key == "id"
                && declared.names.first().is_some_and(|first| first != key)
                && !is_numbered
            {
                return None;
            }
            let (_, node) = document.member(at, key)?;
            let number = number_of(document, at, key)?;
            let sign = match (&*declared.name, key) {
                ("pull_request", "iid") => "!",
                ("pull_request" | "issue", _) => "#",
                _ => "",
            };
            let name = format!("{sign}{number}");
            Some(ObjectName {
                raw: name.clone(),
                name,
                span: (node.start, node.end),
            })
        };
        let mut names = declared.names.iter();
        names.find_map(|key| by_text(key).or_else(|| by_number(key)))
    }

    /// Adds an object as an entity if it has a name.
    fn entity(
        &mut self,
        document: &Document,
        at: usize,
        node: &Node,
        kind: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        let packs = self.packs;
        let ObjectName { raw, name, span } = self.name_of(document, at, kind)?;
        let mut key = canonical_key(&self.kind_name(kind)?, &raw);
        let within = packs
            .kinds
            .get(kind)
            .and_then(|declared| declared.within.as_ref());
        if let Some(field) = within
            && let Some(parent) = self.parent_key(document, at, field)
        {
            key = format!("{parent}/{key}");
        }
        let short = |key| {
            let text = text_of(document, at, key)?;
            let shown = shown_name(text.text())?;
            (shown.len() <= ID_BYTES_MAX).then_some(shown)
        };
        let display = short("display").filter(|display| *display != name);
        let mut aliases = aliases_of(document, at, &name);
        aliases.extend(place.row_key.and_then(short).filter(|own| *own != name));
        // A person has a login and a name.
        let declared = packs.kinds.get(kind).filter(|kind| &*kind.name == "person");
        for other in declared.iter().flat_map(|kind| &kind.names) {
            aliases.extend(short(other).filter(|other| *other != name));
        }
        let data = Data {
            start: node.start,
            end: node.end,
            levels: place.levels,
        };
        let object = Object {
            kind,
            key,
            name,
            span,
            is_nested: place.within.is_some(),
            parents: Vec::new(),
            aliases,
            words: words_of(document, at),
            id: short("id").or_else(|| number_of(document, at, "id")),
            slug: short("slug"),
            display,
            data: Some(data).filter(|_| place.stands),
            is_object: true,
        };
        Some(self.add(object, place))
    }

    /// Returns the key of the parent within which an object's name is unique.
    fn parent_key(&self, document: &Document, at: usize, field: &str) -> Option<String> {
        let kind = self.packs.kinds.get(*self.packs.fields.get(field)?)?;
        let (at, node) = document.member(at, field)?;
        let name = match &node.value {
            Value::Text(text) => text,
            _ => kind
                .names
                .iter()
                .find_map(|key| text_of(document, at, key))?,
        };
        Some(canonical_key(&kind.name, name.text()))
    }

    /// Adds an entity or merges it into a known one, and links it to the enclosing entity.
    pub(super) fn add(&mut self, object: Object, place: ValueLocation<'_>) -> usize {
        let is_person = self.packs.place_of("person") == Some(object.kind);
        let known = self.places.get(&(object.kind, object.key.clone())).copied();
        let at = known.unwrap_or(self.objects.len());
        match known.and_then(|at| self.objects.get_mut(at)) {
            Some(known) => {
                known.is_nested &= object.is_nested;
                known.is_object |= object.is_object;
                known.id = known.id.take().or(object.id);
                known.slug = known.slug.take().or(object.slug);
                known.display = known.display.take().or(object.display);
                known.data = known.data.take().or(object.data);
                for alias in object.aliases {
                    if !known.aliases.contains(&alias) {
                        known.aliases.push(alias);
                    }
                }
                for word in object.words {
                    if known.words.len() < WORDS_MAX && !known.words.contains(&word) {
                        known.words.push(word);
                    }
                }
            }
            None => {
                self.places.insert((object.kind, object.key.clone()), at);
                self.objects.push(object);
            }
        }
        if let Some((own, field)) = place.within
            && !self.packs.peers.contains(field)
            && !(is_person && is_person_field(field))
        {
            let is_child = place.is_listed || self.packs.children.contains(field);
            let (parent, child) = if is_child { (own, at) } else { (at, own) };
            self.link(parent, child, field);
        }
        at
    }

    fn link(&mut self, parent: usize, child: usize, field: &str) {
        let Some(found) = self.objects.get(parent).filter(|_| parent != child) else {
            return;
        };
        let link = EntityLink {
            field: field.to_owned(),
            kind: match self.kind_name(found.kind) {
                Some(kind) => kind,
                None => return,
            },
            key: found.key.clone(),
        };
        // The parent within which the name is unique comes first: the device of an interface.
        let within = self
            .objects
            .get(child)
            .and_then(|child| self.packs.kinds.get(child.kind));
        let is_first = within.is_some_and(|kind| kind.within.as_deref() == Some(field));
        if let Some(child) = self.objects.get_mut(child) {
            let same = |known: &EntityLink| known.kind == link.kind && known.key == link.key;
            if child.parents.len() < PARENTS_MAX && !child.parents.iter().any(same) {
                let at = if is_first { 0 } else { child.parents.len() };
                child.parents.insert(at, link);
            }
        }
    }
}
