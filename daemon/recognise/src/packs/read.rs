//! Parses the text of a pack to kinds and rules, or reports the invalid line.

use super::check::{CHECKS, Check};
use super::error::{PackError, Reason};
use super::rule::{self, CompileMode, Rule, groups, read_whole};
use super::{KINDS_MAX, NAME_BYTES_MAX, PATTERN_BYTES_MAX, PackInfo, RULES_MAX, WORDS_MAX};
use crate::edges::EDGES;
use lored_tables::{Located, Source, shortened};
use std::collections::HashMap;
use std::sync::Arc;

type Table<'s, 't> = lored_tables::Table<'s, 't, Reason>;

const PACK_KEYS: [&str; 5] = ["name", "version", "description", "kind", "json"];
const KIND_KEYS: [&str; 9] = [
    "name", "words", "narrower", "fields", "objects", "types", "names", "within", "rule",
];
const RULE_KEYS: [&str; 6] = ["pattern", "group", "confidence", "check", "except", "edges"];
const JSON_KEYS: [&str; 3] = ["text", "children", "peers"];

/// Limit on a description, in bytes.
const SENTENCE_BYTES_MAX: usize = 1024;

/// A kind of entity.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) name: Arc<str>,
    /// The JSON fields that hold the name of an object, the preferred one first.
    pub(crate) names: Vec<String>,
    /// The parent's field, if names are unique only within a parent.
    pub(crate) within: Option<String>,
}

/// The meaning of a word for entities.
#[derive(Clone, Debug)]
pub(crate) struct KindWord {
    /// Index of the kind in the set.
    pub(crate) kind: usize,
    pub(crate) plural: bool,
    /// Parts that select entities by their names; empty if the word means all of the kind.
    pub(crate) parts: Arc<[String]>,
}

/// A parsed pack.
pub(super) struct Pack {
    pub(super) info: PackInfo,
    pub(super) kinds: Vec<KindDeclaration>,
    pub(super) prose: Vec<String>,
    pub(super) children: Vec<String>,
    pub(super) peers: Vec<String>,
}

/// A kind as a pack declares it.
pub(super) struct KindDeclaration {
    pub(super) kind: Kind,
    pub(super) rules: Vec<Rule>,
    pub(super) fields: Vec<String>,
    /// Fields that hold an entity only as an object.
    pub(super) object_fields: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) kind_words: Vec<(String, Arc<[String]>)>,
}

/// Parses a pack; `file` is its name in errors.
pub(super) fn read(file: &str, text: &str, compiling: CompileMode) -> Result<Pack, PackError> {
    let source = Source { name: file, text };
    source.read(&PACK_KEYS, |table| pack(table, compiling))
}

fn pack(table: &Table<'_, '_>, compiling: CompileMode) -> Result<Pack, PackError> {
    let mut info = PackInfo {
        name: name(table)?.value.to_owned(),
        version: table.needed("version", NAME_BYTES_MAX)?.value.to_owned(),
        description: table
            .needed("description", SENTENCE_BYTES_MAX)?
            .value
            .to_owned(),
        kinds: Vec::new(),
        file: None,
    };
    let mut claims = Claims::default();
    let mut kinds = Vec::new();
    for table in table.tables("kind", &KIND_KEYS, KINDS_MAX)? {
        let declared = kind(&table, &mut claims, compiling)?;
        info.kinds.push(declared.kind.name.to_string());
        kinds.push(declared);
    }
    let json = table.table("json", &JSON_KEYS)?;
    let list = |key| match &json {
        Some(json) => texts(json, key).map(owned),
        None => Ok(Vec::new()),
    };
    Ok(Pack {
        info,
        kinds,
        prose: list("text")?,
        children: list("children")?,
        peers: list("peers")?,
    })
}

/// Reads the name of a pack or a kind.
fn name<'t>(table: &Table<'_, 't>) -> Result<Located<&'t str>, PackError> {
    let name = table.needed("name", NAME_BYTES_MAX)?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let is_name =
        name.value.starts_with(|c: char| c.is_ascii_lowercase()) && name.value.chars().all(allowed);
    if is_name {
        return Ok(name);
    }
    let (key, value) = ("name", shortened(name.value));
    Err(table.error(name.at, Reason::Name { key, value }))
}

fn texts<'t>(table: &Table<'_, 't>, key: &'static str) -> Result<Vec<Located<&'t str>>, PackError> {
    table.texts(key, WORDS_MAX, NAME_BYTES_MAX)
}

/// The claims of one pack's kinds. Two kinds cannot claim the same item.
#[derive(Default)]
struct Claims {
    /// The line of each kind's definition.
    kinds: HashMap<String, u32>,
    /// The kind that claimed a word of a list, by list and word.
    words: HashMap<(&'static str, String), String>,
}

impl Claims {
    fn claim(
        &mut self,
        table: &Table<'_, '_>,
        (list, word, at): (&'static str, &str, usize),
        kind: &str,
    ) -> Result<(), PackError> {
        let claimed = self.words.insert((list, word.to_owned()), kind.to_owned());
        match claimed {
            None => Ok(()),
            Some(first) => {
                let (value, kind) = (word.to_owned(), kind.to_owned());
                Err(table.error(at, Reason::Claimed { value, first, kind }))
            }
        }
    }
}

fn kind(
    table: &Table<'_, '_>,
    claims: &mut Claims,
    compiling: CompileMode,
) -> Result<KindDeclaration, PackError> {
    let name = name(table)?;
    let line = table.line(name.at);
    if let Some(first) = claims.kinds.insert(name.value.to_owned(), line) {
        let kind = name.value.to_owned();
        return Err(table.error(name.at, Reason::DuplicateKind { kind, first }));
    }
    let mut claimed = |list: &'static str| -> Result<Vec<String>, PackError> {
        let words = texts(table, list)?;
        for word in &words {
            claims.claim(table, (list, word.value, word.at), name.value)?;
        }
        Ok(owned(words))
    };
    let fields = claimed("fields")?;
    let object_fields = claimed("objects")?;
    let types = claimed("types")?;
    let all: Arc<[String]> = Arc::new([]);
    let mut kind_words: Vec<(String, Arc<[String]>)> = Vec::new();
    for word in claimed("words")? {
        kind_words.push((word.to_lowercase(), Arc::clone(&all)));
    }
    for (word, parts) in table.named_lists("narrower", (WORDS_MAX, NAME_BYTES_MAX))? {
        claims.claim(table, ("words", word.value, word.at), name.value)?;
        let parts = parts.into_iter().map(str::to_lowercase).collect();
        kind_words.push((word.value.to_lowercase(), parts));
    }
    let mut names = owned(texts(table, "names")?);
    if names.is_empty() {
        names = vec!["name".to_owned(), "display".to_owned()];
    }
    let rules = table.tables("rule", &RULE_KEYS, RULES_MAX)?;
    let rules: Result<Vec<Rule>, PackError> =
        rules.iter().map(|one| rule(one, compiling)).collect();
    let within = table.text("within", NAME_BYTES_MAX)?;
    Ok(KindDeclaration {
        kind: Kind {
            name: name.value.into(),
            names,
            within: within.map(|field| field.value.to_owned()),
        },
        rules: rules?,
        fields,
        object_fields,
        types,
        kind_words,
    })
}

fn rule(table: &Table<'_, '_>, compiling: CompileMode) -> Result<Rule, PackError> {
    let pattern = table.needed("pattern", PATTERN_BYTES_MAX * 4)?;
    let wrong = |reason| table.error(pattern.at, reason);
    let groups = groups(pattern.value);
    let (pattern, mut facts) = rule::read(pattern.value, compiling).map_err(wrong)?;
    let confidence = table.decimal("confidence")?;
    if !(confidence.value > 0.0 && confidence.value <= 1.0) {
        let value = confidence.value.to_string();
        return Err(table.error(confidence.at, Reason::Confidence { value }));
    }
    let group = match table.integer("group")? {
        None => None,
        Some(group) => match usize::try_from(group.value) {
            Ok(number) if number <= groups => Some(number),
            _ => {
                let reason = Reason::NoGroup {
                    group: group.value,
                    groups,
                };
                return Err(table.error(group.at, reason));
            }
        },
    };
    let except = match table.text("except", PATTERN_BYTES_MAX)? {
        None => None,
        Some(except) => {
            let whole = read_whole(except.value, compiling);
            Some(whole.map_err(|reason| table.error(except.at, reason))?)
        }
    };
    let check: Option<Check> = table
        .choice("check", &CHECKS)?
        .and_then(|name| name.parse().ok());
    facts.and_has(check.map_or(&[], Check::has));
    let edges = table.choice("edges", &EDGES)?;
    Ok(Rule {
        kind: 0, // set when the pack joins a set
        confidence: confidence.value,
        pattern,
        facts,
        group,
        check,
        except,
        edges: edges.and_then(|name| name.parse().ok()).unwrap_or_default(),
    })
}

fn owned(words: Vec<Located<&str>>) -> Vec<String> {
    words
        .into_iter()
        .map(|word| word.value.to_owned())
        .collect()
}
