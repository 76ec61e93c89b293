//! The scope of a search: kinds, sessions, projects, and document filters.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use lored_retrieval::text::{Class, IndexedText, Kind};

use super::groups::{of_context, of_document, of_session};
use super::request::{DocumentFilter, Pattern, SearchRequest, plain_type};
use crate::documents::operations::chunk_index;
use crate::documents::{self, Catalogue, Entry, Root};
use crate::projects;
use crate::sessions;
use crate::store::{Error, Rows};

/// The texts that a search covers.
#[derive(Clone, Debug, Hash)]
pub struct Scope {
    kinds: Vec<Kind>,
    session: Option<u64>,
    sessions: Option<BTreeSet<u64>>,
    project: Option<ProjectFilter>,
    period: Option<Range<u64>>,
    documents: Option<BTreeMap<u64, Chunks>>,
}

/// The sessions, context files and documents of a project.
#[derive(Clone, Debug, Hash)]
struct ProjectFilter {
    sessions: BTreeSet<u64>,
    files: BTreeSet<u64>,
    /// Documents within the project's folders.
    documents: BTreeSet<u64>,
}

/// The selected chunks of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Chunks {
    named: NamedChunks,
    range: Option<RangeInclusive<u64>>,
}

/// Chunks of a document, selected by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum NamedChunks {
    All,
    One(u64),
    /// Chunks whose number starts with these digits.
    Digits(String),
}

impl Scope {
    /// Resolves a request against the existing documents and sessions.
    pub fn of(ask: &SearchRequest, rows: &dyn Rows, catalogue: &Catalogue) -> Result<Self, Error> {
        let documents = ask.document_filter.as_ref().map(|document_filter| {
            let fitting = catalogue.all().filter(|entry| fits(entry, document_filter));
            fitting
                .filter_map(|entry| Some((of_document(&entry.id), chunks(entry, document_filter)?)))
                .collect()
        });
        let project = match &ask.project {
            Some(project) => Some(of_project(rows, project)?),
            None => None,
        };
        Ok(Self {
            kinds: ask.kinds.clone(),
            session: ask.session.as_deref().map(of_session),
            sessions: None,
            project,
            period: ask.period.clone(),
            documents,
        })
    }

    /// Restricts messages, steps and checkpoints to these sessions and to those of a project; without either they stay
    /// unrestricted.
    pub fn within(
        &mut self,
        rows: &dyn Rows,
        project: Option<&str>,
        sessions: &[String],
    ) -> Result<(), Error> {
        if project.is_none() && sessions.is_empty() {
            return Ok(());
        }
        let mut hashes: BTreeSet<u64> = sessions.iter().map(|one| of_session(one)).collect();
        if let Some(project) = project {
            let of_project = sessions::of_project(rows, project)?;
            hashes.extend(of_project.iter().map(|one| of_session(one)));
        }
        self.sessions = Some(hashes);
        Ok(())
    }

    /// Restricts the scope to a project: its sessions, its context files, and the documents in its folders and in
    /// `folder`.
    pub fn first_of(
        &self,
        project: &str,
        folder: Option<&Path>,
        rows: &dyn Rows,
        catalogue: &Catalogue,
    ) -> Result<Self, Error> {
        let mut filter = of_project(rows, project)?;
        let worktrees = projects::worktrees(rows, project)?.into_iter();
        let folders: Vec<PathBuf> = worktrees
            .map(|(path, _)| PathBuf::from(path))
            .chain(folder.map(Path::to_owned))
            .filter(|folder| folder.parent().is_some())
            .collect();
        let mut roots: BTreeMap<&str, Root> = BTreeMap::new();
        for entry in catalogue.all().filter(|_| !folders.is_empty()) {
            let source = entry.row.source.as_str();
            if !roots.contains_key(source) {
                let row = documents::source(rows, source)?;
                let root = row.map(|row| Root::of(&row.added)).unwrap_or_default();
                roots.insert(source, root);
            }
            let path = roots
                .get(source)
                .map(|root| root.file_path(&entry.row.taken.path));
            if path.is_some_and(|path| folders.iter().any(|folder| path.starts_with(folder))) {
                filter.documents.insert(of_document(&entry.id));
            }
        }
        Ok(Self {
            project: Some(filter),
            ..self.clone()
        })
    }

    /// Returns whether the scope covers every text of some classes.
    #[must_use]
    pub fn is_all_of(&self, classes: &[Class]) -> bool {
        let of_classes = |kind: &&Kind| classes.contains(&kind.class());
        self.session.is_none()
            && self.sessions.is_none()
            && self.project.is_none()
            && self.period.is_none()
            && self.documents.is_none()
            && Kind::ALL
                .iter()
                .filter(of_classes)
                .all(|kind| self.kinds.contains(kind))
    }

    /// Returns a number that differs between scopes that cover different texts.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns whether the scope covers a chunk, by the document's id and the chunk's number.
    #[must_use]
    pub fn has_chunk(&self, document: &str, number: u64) -> bool {
        self.documents.as_ref().is_none_or(|documents| {
            let chunks = documents.get(&of_document(document));
            chunks.is_some_and(|chunks| chunks.have(number))
        })
    }

    /// Returns whether the scope covers a text.
    #[must_use]
    pub fn has(&self, unit: &IndexedText) -> bool {
        if !self.kinds.contains(&unit.kind) {
            return false;
        }
        if self
            .period
            .as_ref()
            .is_some_and(|period| !period.contains(&unit.time))
        {
            return false;
        }
        let is_document = unit.kind == Kind::Document;
        if let Some(documents) = &self.documents {
            let chunks = documents.get(&unit.group).filter(|_| is_document);
            return chunks.is_some_and(|chunks| chunks.have(u64::from(unit.number)));
        }
        if self
            .session
            .is_some_and(|session| is_document || unit.session != session)
        {
            return false;
        }
        let is_talk = !is_document && unit.kind != Kind::Context;
        let within = self.sessions.as_ref().filter(|_| is_talk);
        if within.is_some_and(|within| !within.contains(&unit.session)) {
            return false;
        }
        self.project.as_ref().is_none_or(|project| match unit.kind {
            Kind::Context => project.files.contains(&unit.group),
            Kind::Document => project.documents.contains(&unit.group),
            Kind::Message | Kind::Step | Kind::Checkpoint => {
                project.sessions.contains(&unit.session)
            }
        })
    }
}

fn of_project(rows: &dyn Rows, project: &str) -> Result<ProjectFilter, Error> {
    let files = projects::file_types(rows, project)?;
    let sessions = sessions::of_project(rows, project)?;
    Ok(ProjectFilter {
        sessions: sessions.iter().map(|session| of_session(session)).collect(),
        files: files
            .iter()
            .map(|file_type| of_context(project, file_type))
            .collect(),
        documents: BTreeSet::new(),
    })
}

/// Returns whether a document matches the document filter, except for its chunks.
pub fn fits(entry: &Entry, document_filter: &DocumentFilter) -> bool {
    let taken = &entry.row.taken;
    let any = |wanted: &[String], own: &str| {
        wanted.is_empty() || wanted.iter().any(|wanted| wanted == own)
    };
    let any_alike = |wanted: &[String], own: &[String]| {
        let is_alike = |own: &String| {
            let own = own.to_lowercase();
            wanted.iter().any(|wanted| wanted.to_lowercase() == own)
        };
        wanted.is_empty() || own.iter().any(is_alike)
    };
    any(&document_filter.context_ids, &taken.context_id)
        && (document_filter.context.as_ref())
            .is_none_or(|one| *one == taken.context_id || *one == taken.context_name)
        && (document_filter.context_name.as_ref()).is_none_or(|name| *name == taken.context_name)
        && any_alike(&document_filter.categories, taken.category.as_slice())
        && (document_filter.file_name.as_ref()).is_none_or(|name| name == entry.row.file_name())
        && (document_filter.file_type.as_ref())
            .is_none_or(|wanted| *wanted == plain_type(&taken.file_type))
        && any_alike(&document_filter.tags, &taken.tags)
        && document_filter
            .conditions
            .iter()
            .all(|(path, condition)| condition.is_met(&entry.custom, path))
}

/// Returns whether a document matches the document filter and has a chunk that it selects.
pub fn fits_with_chunks(entry: &Entry, document_filter: &DocumentFilter) -> bool {
    let has_chunk = |chunks: Chunks| {
        document_filter.pattern.is_none() && document_filter.range.is_none()
            || (0..entry.row.taken.chunks).any(|number| chunks.have(u64::from(number)))
    };
    fits(entry, document_filter) && chunks(entry, document_filter).is_some_and(has_chunk)
}

/// Returns the selected chunks of a document; `None` if no chunk is selected.
fn chunks(entry: &Entry, document_filter: &DocumentFilter) -> Option<Chunks> {
    let file = entry.row.file_name();
    let first = chunk_index(file, 0);
    let stem = first.strip_suffix('0').unwrap_or(&first);
    let named = match &document_filter.pattern {
        None => NamedChunks::All,
        Some(Pattern::Exactly(name)) if name == file => NamedChunks::All,
        Some(Pattern::Exactly(name)) => NamedChunks::One(name.strip_prefix(stem)?.parse().ok()?),
        Some(Pattern::Beginning(beginning)) if stem.starts_with(beginning.as_str()) => {
            NamedChunks::All
        }
        Some(Pattern::Beginning(beginning)) => {
            let digits = beginning.strip_prefix(stem)?;
            NamedChunks::Digits(digits.to_owned())
        }
    };
    Some(Chunks {
        named,
        range: document_filter.range.clone(),
    })
}

impl Chunks {
    fn have(&self, number: u64) -> bool {
        let is_named = match &self.named {
            NamedChunks::All => true,
            NamedChunks::One(one) => *one == number,
            NamedChunks::Digits(digits) => number.to_string().starts_with(digits.as_str()),
        };
        is_named
            && self
                .range
                .as_ref()
                .is_none_or(|range| range.contains(&number))
    }
}
