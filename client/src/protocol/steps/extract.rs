//! Wire types of extractors and field mappings, both built-in and registered.

use lore_wire::wire;

use super::super::Position;

/// Scope of an extractor or a mapping.
#[wire]
#[derive(Default, Hash)]
pub enum Scope {
    /// One session.
    #[default]
    Session,
    /// Every session of the project.
    Project,
    /// Every session.
    Global,
}

/// Arguments of `list_extractors`.
#[wire(args(session, .., as_of, at_least, agent))]
pub struct ListExtractorsArgs {
    /// Only this scope.
    pub scope: Option<Scope>,
}

/// An extractor.
#[wire]
pub struct Extractor {
    /// Its name, which is the type of its values.
    pub name: String,
    /// Its scope.
    pub scope: Scope,
    /// Its regular expression.
    pub pattern: Option<String>,
    /// The capture group to take.
    pub group: Option<u64>,
    /// The JSON fields it extracts.
    pub fields: Vec<String>,
    /// Position of its registration; absent for a built-in one.
    pub position: Option<Position>,
    /// Whether it is built in.
    pub built_in: bool,
}

/// Aliases of a field.
#[wire]
pub struct FieldMapping {
    /// The field.
    pub field: String,
    /// Aliases of the field.
    pub aliases: Vec<String>,
    /// Its scope.
    pub scope: Scope,
    /// Position of its registration; absent for a built-in one.
    pub position: Option<Position>,
    /// Whether it is built in.
    pub built_in: bool,
}

/// Reply of `list_extractors`.
#[wire(reply(position, durable, session, chosen_by, warnings))]
pub struct ListExtractorsReply {
    /// The extractors, in the order in which they run.
    pub extractors: Vec<Extractor>,
    /// The aliases of fields.
    pub mappings: Vec<FieldMapping>,
}

/// Arguments of `register_extractor`.
#[wire(args(session, key, agent))]
pub struct RegisterExtractorArgs {
    /// Its scope: session, project or global (default session).
    pub scope: Option<Scope>,
    /// The name of the type: letters, digits, `_`.
    pub name: String,
    /// A regular expression.
    pub pattern: Option<String>,
    /// The capture group to take; default: the first, otherwise the whole match.
    pub group: Option<u64>,
    /// JSON fields whose values are extracted.
    pub fields: Vec<String>,
}

/// Reply of `register_extractor`.
#[wire(reply(durable, session, chosen_by, project, warnings))]
pub struct RegisterExtractorReply {
    /// The name of the type.
    pub name: String,
    /// Position of the write in the log.
    pub position: Position,
    /// Number of steps it applies to.
    pub reextracted: u64,
}

/// Arguments of `register_field_mapping`.
#[wire(args(session, key, agent))]
pub struct RegisterFieldMappingArgs {
    /// Its scope: session, project or global (default session).
    pub scope: Option<Scope>,
    /// The field.
    pub field: String,
    /// Aliases of the field.
    #[wire(required)]
    pub aliases: Vec<String>,
}

/// Reply of `register_field_mapping`.
#[wire(reply(position, durable, session, chosen_by, project, warnings))]
pub struct RegisterFieldMappingReply {
    /// The field.
    pub field: String,
    /// All its current aliases.
    pub aliases: Vec<String>,
}
