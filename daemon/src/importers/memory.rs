//! Importer for the file of the reference MCP memory server: a knowledge graph as JSON lines, each an entity with
//! its observations, or a relation.
//!
//! The graph becomes one session. Each entity is a message that mentions it, and so is each of its observations: a
//! search finds the observations, and a list of entities the entity. Each relation relates two entities. The file
//! has no times: everything is dated to the beginning of 1970. A new observation changes no existing message, so a
//! file that has grown can be imported again and is appended to.

use std::collections::BTreeMap;
use std::path::Path;

use lored_recognise::{UNKNOWN_KIND, canonical_key, shown_name};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Error, LineWriter, id_of, read_text, word};

/// A line of the file; other fields are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation {
        from: String,
        to: String,
        relation_type: String,
    },
}

/// A knowledge graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Kind, name and observations of each entity.
    entities: Vec<(String, String, Vec<String>)>,
    /// Source, relation, target.
    relations: Vec<(String, String, String)>,
    /// Kind of each name.
    kinds: BTreeMap<String, String>,
}

impl Graph {
    /// Parses the file's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut graph = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            graph
                .add(line)
                .map_err(|what| format!("line {}: {what}", at + 1))?;
        }
        Ok(graph)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        lore::protocol::within_limits(line.as_bytes()).map_err(|refusal| refusal.message)?;
        let line: Line = serde_json::from_str(line).map_err(|error| {
            format!(
                "{error}; a line is {{\"type\":\"entity\",\"name\":…,\"entityType\":…,\"observations\":[…]}} or \
                 {{\"type\":\"relation\",\"from\":…,\"to\":…,\"relationType\":…}}"
            )
        })?;
        match line {
            Line::Entity {
                name,
                entity_type,
                observations,
            } => {
                let name = named(&name)?;
                let kind = word(&entity_type, UNKNOWN_KIND);
                self.kinds.insert(name.clone(), kind.clone());
                self.entities.push((kind, name, observations));
            }
            Line::Relation {
                from,
                to,
                relation_type,
            } => {
                let relation = word(&relation_type, "related_to");
                self.relations.push((named(&from)?, relation, named(&to)?));
            }
        }
        Ok(())
    }

    /// Encodes an entity. An entity that occurs only in relations has no known kind.
    fn entity(&self, name: &str) -> Value {
        let kind = self.kinds.get(name).map_or(UNKNOWN_KIND, String::as_str);
        json!({"kind": kind, "key": canonical_key(kind, name), "name": name})
    }
}

fn named(name: &str) -> Result<String, String> {
    let shown: String = name.chars().take(40).collect();
    let good = shown_name(name).filter(|name| !canonical_key(UNKNOWN_KIND, name).is_empty());
    good.ok_or_else(|| format!("{shown:?} is not a name: it is empty or too long"))
}

/// Exports a file as lines.
pub fn write(
    path: &Path,
    lines: &mut LineWriter<'_>,
    aside: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let graph = Graph::parse(&read_text(path)?).map_err(Error::Malformed)?;
    if graph.entities.is_empty() && graph.relations.is_empty() {
        aside(&format!("{} holds nothing", path.display()));
        return Ok(());
    }
    let session = match path.file_stem().is_some_and(|stem| stem == "memory") {
        true => "imported-memory".to_owned(),
        false => id_of("imported-memory", path),
    };
    graph.write(&session, lines).map_err(Error::file(path))
}

impl Graph {
    fn write(&self, session: &str, lines: &mut LineWriter<'_>) -> std::io::Result<()> {
        let title = "What the memory server knew";
        lines.begin(
            session,
            0,
            json!({"title": title, "tags": ["imported", "memory"]}),
        )?;
        for (n, (kind, name, observations)) in self.entities.iter().enumerate() {
            let heading = format!("{name} ({})", kind.replace('_', " "));
            let mut mention = self.entity(name);
            if let Some(map) = mention.as_object_mut() {
                map.insert("how".to_owned(), json!("json"));
                map.insert("span".to_owned(), json!([0, name.len()]));
            }
            let message = |id: String, content: &str| {
                json!({
                    "message": id,
                    "sender": "system",
                    "type": "tool_result",
                    "content": content,
                    "mentions": [mention],
                })
            };
            let id = format!("m-{}", n + 1);
            lines.event(0, "MessageRecorded", message(id.clone(), &heading))?;
            for (k, observation) in observations.iter().enumerate() {
                let content = format!("{heading}\n- {observation}");
                let id = format!("{id}-{}", k + 1);
                lines.event(0, "MessageRecorded", message(id, &content))?;
            }
        }
        for (from, relation, to) in &self.relations {
            let (from, to) = (self.entity(from), self.entity(to));
            // A self-relation carries no information.
            if from != to {
                let related = json!({"from": from, "relation": relation, "to": to});
                lines.event(0, "EntitiesRelated", related)?;
            }
        }
        lines.end_session()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn converted(text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        let mut lines = LineWriter::new(&mut out);
        let graph = Graph::parse(text)?;
        graph.write("s", &mut lines).unwrap();
        lines.end().unwrap();
        Ok(String::from_utf8(out).unwrap())
    }

    proptest! {
        /// The lines of any graph are accepted by an import, and a repetition gives the same lines.
        #[test]
        fn lines_are_taken(
            entities in proptest::collection::vec((".{1,20}", ".{0,20}", proptest::collection::vec(".{0,40}", 0..3)), 0..5),
            relations in proptest::collection::vec((".{1,20}", ".{1,20}", ".{0,20}"), 0..5),
        ) {
            let entity = |(name, kind, observations): &(String, String, Vec<String>)| {
                json!({"type": "entity", "name": name, "entityType": kind, "observations": observations}).to_string()
            };
            let relation = |(from, to, kind): &(String, String, String)| {
                json!({"type": "relation", "from": from, "to": to, "relationType": kind}).to_string()
            };
            let lines: Vec<String> =
                entities.iter().map(entity).chain(relations.iter().map(relation)).collect();
            let text = lines.join("\n");
            if let Ok(first) = converted(&text) {
                prop_assert_eq!(&converted(&text).unwrap(), &first);
                let taken = crate::transfer::check_whole(&first);
                prop_assert!(taken.is_ok(), "{:?}\n{}", taken, first);
            }
        }

        /// Any text is refused or read, and never a panic.
        #[test]
        fn arbitrary_texts_never_panic(text in ".{0,300}") {
            let _ = converted(&text);
        }
    }

    /// An invalid line is reported with the expected format.
    #[test]
    fn broken_lines_are_named() {
        let text =
            "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"b\"}\n\n{\"type\":\"relation\"}";
        let what = converted(text).unwrap_err();
        assert!(what.starts_with("line 3: missing field `from`"), "{what}");
        let what =
            converted("{\"type\":\"entity\",\"name\":\" \",\"entityType\":\"b\"}").unwrap_err();
        assert!(what.contains("is not a name"), "{what}");
    }
}
