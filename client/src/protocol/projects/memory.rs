//! Wire types of `memory_tool`: the commands of the memory tool of Anthropic's API.

use lore_wire::wire;

/// A command of the memory tool.
#[wire]
pub enum MemoryCommand {
    /// Show a folder, or a file with line numbers.
    View,
    /// Make a file.
    Create,
    /// Replace a text that stands in a file once.
    StrReplace,
    /// Insert a text behind a line.
    Insert,
    /// Delete a file or folder.
    Delete,
    /// Rename or move a file or folder.
    Rename,
}

/// Arguments of `memory_tool`, as the tool of that name has them.
#[wire(args(.., agent))]
pub struct MemoryToolArgs {
    /// The command.
    pub command: MemoryCommand,
    /// The path, below `/memories`; for all commands but `rename`.
    pub path: Option<String>,
    /// For `view`: the first and the last line, from 1; -1 stands for the end.
    #[schema(extend("items" = {"type": "integer", "minimum": -1, "maximum": 2_147_483_647}))]
    pub view_range: Option<Vec<i64>>,
    /// For `create`: the content.
    pub file_text: Option<String>,
    /// For `str_replace`: the text to replace.
    pub old_str: Option<String>,
    /// For `str_replace`: the new text; default: none.
    pub new_str: Option<String>,
    /// For `insert`: the line behind which to insert; 0 stands for the beginning.
    #[schema(extend("minimum" = 0, "maximum" = 2_147_483_647))]
    pub insert_line: Option<i64>,
    /// For `insert`: the text.
    pub insert_text: Option<String>,
    /// For `rename`: the path.
    pub old_path: Option<String>,
    /// For `rename`: the new path.
    pub new_path: Option<String>,
    /// The project, by its id, a path in it, or `current`; default: that of the caller's folder.
    pub project_id: Option<String>,
}

/// Reply of `memory_tool`.
#[wire(reply(.., position, durable, project, warnings))]
pub struct MemoryToolReply {
    /// What the tool returns to the model.
    pub output: String,
    /// Whether it reports an error.
    pub is_error: bool,
}
