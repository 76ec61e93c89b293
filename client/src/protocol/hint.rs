//! The operations and arguments that hints name, with their forms on the command line.
//!
//! A hint is built by the daemon and read by a person at a terminal, a model, or a program. Each knows an operation
//! by another name, so a hint holds the operation as a value of these lists, and the transport writes its name.

macro_rules! tools {
    ($($variant:ident $operation:literal $command:literal,)*) => {
        /// An operation that hints name: a tool over MCP, a command of `lore` at a terminal.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is named like its operation")]
        pub enum Tool { $($variant,)* }

        impl Tool {
            /// All operations that hints name.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name of the operation, which is also the name of the tool.
            #[must_use]
            pub const fn operation(self) -> &'static str {
                match self { $(Self::$variant => $operation,)* }
            }

            /// Returns the command line that calls the operation.
            #[must_use]
            pub const fn command(self) -> &'static str {
                match self { $(Self::$variant => $command,)* }
            }
        }
    };
}

tools! {
    AddSource "add_source" "lore docs add",
    ClearContext "clear_context" "lore context clear",
    ContextPack "context_pack" "lore pack",
    CommitCursor "commit_cursor" "lore call commit_cursor",
    CreateSession "create_session" "lore session create",
    EnrichMessage "enrich_message" "lore pack",
    ExploreDocumentStructure "explore_document_structure" "lore docs explore",
    FollowEvents "follow_events" "lore tail",
    ForkSession "fork_session" "lore session fork",
    GetContext "get_context" "lore context get",
    GetDocumentContexts "get_document_contexts" "lore docs contexts",
    GetEntity "get_entity" "lore entity show",
    GetSession "get_session" "lore session show",
    InitProject "init_project" "lore project init",
    LeaseSession "lease_session" "lore session lease",
    ListContexts "list_contexts" "lore context list",
    ListCursors "list_cursors" "lore call list_cursors",
    ListEntities "list_entities" "lore entity list",
    ListMessages "list_messages" "lore message list",
    ListProjects "list_projects" "lore project list",
    ListSessions "list_sessions" "lore session list",
    ListSources "list_sources" "lore docs list",
    ListSteps "list_steps" "lore step list",
    ListTemplates "list_templates" "lore context templates",
    PutDocument "put_document" "lore call put_document",
    ResumeCapture "resume_capture" "lore resume-capture",
    ReadEvents "read_events" "lore log",
    RecordMessage "record_message" "lore message record",
    RecordStep "record_step" "lore step record",
    ReleaseSession "release_session" "lore session release",
    RemoveSource "remove_source" "lore docs remove",
    Search "search" "lore search",
    SearchDocuments "search_documents" "lore docs search",
    ShareProject "share_project" "lore project share",
    CheckpointDelete "workflow_checkpoint_delete" "lore checkpoint delete",
    CheckpointList "workflow_checkpoint_list" "lore checkpoint list",
    CheckpointLoad "workflow_checkpoint_load" "lore checkpoint load",
    CheckpointSave "workflow_checkpoint_save" "lore checkpoint save",
}

/// The flags of `lore` for the arguments that hints name.
const FLAGS: [(&str, &str); 25] = [
    ("add_tags", "--add-tag"),
    ("as_of", "--as-of"),
    ("attempt", "--attempt"),
    ("event", "--event"),
    ("expected_version", "--expect"),
    ("from", "--from"),
    ("key", "--key"),
    ("limit", "--limit"),
    ("next", "--next"),
    ("offset", "--offset"),
    ("of_agent", "--agent"),
    ("origin", "--origin"),
    ("preferences", "--preference"),
    ("project", "--project"),
    ("remove_tags", "--remove-tag"),
    ("session", "--session"),
    ("since", "--since"),
    ("step", "--step"),
    ("tags", "--tag"),
    ("title", "--title"),
    ("to", "--to"),
    ("token", "--token"),
    ("topic", "--topic"),
    ("unmark", "--unmark"),
    ("until", "--until"),
];

/// Returns the flag of `lore` for an argument, if there is one.
#[must_use]
pub fn flag(argument: &str) -> Option<&'static str> {
    let known = FLAGS.iter().find(|(name, _)| *name == argument);
    known.map(|(_, flag)| *flag)
}

/// Returns the arguments that have flags, with the flags.
#[must_use]
pub const fn flags() -> &'static [(&'static str, &'static str)] {
    &FLAGS
}
