//! Calls of tools: what a tool is, whichever host names it, and which files a call touches.

use serde_json::Value;

use crate::fields::{any, filled, is_true, list, owned, text, unpacked};
use crate::patch;

/// Files of one call that are listed.
const FILES_MAX: usize = 64;

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The host's id of the call.
    pub id: Option<String>,
    /// The tool, as the host names it; empty if a line of a transcript gives only the id.
    pub tool: String,
    /// What it is.
    pub kind: ToolKind,
    /// Its arguments as the host sends them.
    pub input: Value,
    /// The command line, if it is a command.
    pub command: Option<String>,
    /// The MCP server and its name for the tool, where the host says so.
    pub server: Option<(String, String)>,
    /// Whether it is a tool of lore: such a call records itself.
    pub is_own: bool,
    /// Files that it changes.
    pub edits: Vec<FileEdit>,
    /// Files that it reads.
    pub reads: Vec<String>,
}

/// What a tool is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command.
    Shell,
    /// Changes files.
    Edit,
    /// Reads files.
    Read,
    /// Searches, lists, or fetches.
    Search,
    /// Starts or directs a subagent.
    Subagent,
    /// Changes the plan or the list of tasks.
    Plan,
    /// Asks a person.
    Question,
    /// A tool of an MCP server.
    Mcp,
    /// Any other tool.
    #[default]
    Other,
}

/// One file that a call changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// Its path: absolute if the host gives an absolute one or the working folder.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// The text that is written, or that replaces another one.
    pub new_text: Option<String>,
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It is new.
    Created,
    /// A part of it changes.
    Modified,
    /// It is written as a whole, whether or not it was there before.
    Written,
    /// It is removed.
    Deleted,
    /// It gets another path.
    Moved(String),
}

/// Names of tools in lower case, without separators.
const KINDS: &[(ToolKind, &[&str])] = &[
    (
        ToolKind::Shell,
        &[
            "bash",
            "shell",
            "localshell",
            "runshellcommand",
            "execcommand",
            "runcommands",
            "runcommand",
            "runterminalcommand",
            "runterminalcmd",
            "runinterminal",
            "executecommand",
            "powershell",
            "terminal",
            "writestdin",
            "execbash",
        ],
    ),
    (
        ToolKind::Edit,
        &[
            "edit",
            "write",
            "multiedit",
            "notebookedit",
            "replace",
            "writefile",
            "editfile",
            "editfiles",
            "applypatch",
            "create",
            "createfile",
            "strreplace",
            "strreplaceeditor",
            "editor",
            "writetofile",
            "replaceinfile",
            "replacestringinfile",
            "multireplacestringinfile",
            "inserteditintofile",
            "delete",
            "deletefile",
            "patch",
            "searchreplace",
            "editnotebook",
            "editnotebookfile",
            "insert",
        ],
    ),
    (
        ToolKind::Read,
        &[
            "read",
            "readfile",
            "readfiles",
            "view",
            "readmanyfiles",
            "notebookread",
            "viewimage",
        ],
    ),
    (
        ToolKind::Search,
        &[
            "grep",
            "glob",
            "ls",
            "list",
            "search",
            "searchfilecontent",
            "listdirectory",
            "listfiles",
            "searchfiles",
            "find",
            "toolsearch",
            "websearch",
            "webfetch",
            "fetch",
            "googlewebsearch",
            "codebasesearch",
            "filesearch",
            "textsearch",
            "grepsearch",
            "rg",
            "semanticsearch",
        ],
    ),
    (
        ToolKind::Subagent,
        &[
            "agent",
            "task",
            "spawnagent",
            "subagent",
            "runsubagent",
            "multiagentv1spawnagent",
            "invokeagent",
        ],
    ),
    (
        ToolKind::Plan,
        &[
            "todowrite",
            "writetodos",
            "taskcreate",
            "taskupdate",
            "updateplan",
            "todo",
            "updatetodo",
            "todoread",
            "exitplanmode",
            "managetodolist",
            "todos",
        ],
    ),
    (
        ToolKind::Question,
        &[
            "askuserquestion",
            "askuser",
            "askfollowupquestion",
            "requestuserinput",
            "question",
            "askquestions",
        ],
    ),
];

impl ToolCall {
    /// Reads a call from its tool, its arguments and the working folder. `payload` has what some hosts say beside
    /// them about MCP tools.
    pub(crate) fn new(tool: &str, input: &Value, cwd: Option<&str>, payload: &Value) -> Self {
        let input = unpacked(input);
        let server = server(tool, payload);
        let plain: String = tool
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let known = KINDS
            .iter()
            .find(|(_, names)| names.contains(&plain.as_str()));
        let kind = match known {
            _ if server.is_some() => ToolKind::Mcp,
            Some((kind, _)) => *kind,
            None => ToolKind::Other,
        };
        let mut call = Self {
            id: None,
            is_own: is_own(tool, server.as_ref()),
            command: (kind == ToolKind::Shell).then(|| command(&input)).flatten(),
            edits: Vec::new(),
            reads: Vec::new(),
            tool: tool.to_owned(),
            kind,
            input,
            server,
        };
        match kind {
            ToolKind::Edit => call.edits = edits(&plain, &call.input, cwd),
            ToolKind::Read => call.reads = paths(&call.input, cwd),
            // Codex runs patches through its shell, too.
            ToolKind::Shell => {
                if let Some(command) = call
                    .command
                    .as_deref()
                    .filter(|c| c.contains("*** Begin Patch"))
                {
                    call.edits = patch::edits(command, cwd);
                }
            }
            _ => {}
        }
        call
    }

    /// Takes over from a result what only the result says: whether a written file is new.
    pub(crate) fn learn(&mut self, result: &Value) {
        let display =
            any(result, &["returnDisplay", "metadata", "resultDisplay"]).unwrap_or(result);
        let is_new = text(result, &["type"]) == Some("create")
            || is_true(display, &["isNewFile"])
            || any(display, &["exists"]).and_then(Value::as_bool) == Some(false);
        for edit in &mut self.edits {
            if is_new && edit.change == FileChange::Written {
                edit.change = FileChange::Created;
            }
        }
    }
}

/// Returns the server and the name of an MCP tool.
fn server(tool: &str, payload: &Value) -> Option<(String, String)> {
    if let Some(server) = text(
        payload,
        &["mcp_context.server_name", "mcp_server.name", "serverName"],
    ) {
        let suffix = [format!("mcp__{server}__"), format!("mcp_{server}_")];
        let name = suffix.iter().find_map(|prefix| tool.strip_prefix(prefix));
        let name = text(payload, &["mcp_context.tool_name"])
            .or(name)
            .unwrap_or(tool);
        return Some((server.to_owned(), name.to_owned()));
    }
    let (server, name) = match tool.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__")?,
        None => tool
            .split_once("__")
            .or_else(|| tool.split_once('/'))
            .or_else(|| tool.strip_prefix("mcp_")?.split_once('_'))?,
    };
    (!server.is_empty() && !name.is_empty()).then(|| (server.to_owned(), name.to_owned()))
}

/// Whether a tool is one of ours. Copilot and opencode join the server and the tool by one character.
fn is_own(tool: &str, server: Option<&(String, String)>) -> bool {
    server.is_some_and(|(server, _)| server == "lore")
        || tool.starts_with("lore_")
        || tool.starts_with("lore-")
        || tool.starts_with("lore/")
}

fn command(input: &Value) -> Option<String> {
    if let Some(text) = filled(input, &["command", "cmd", "script", "commandLine"]) {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = list(input, &["command", "commands", "cmd"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match words.as_slice() {
        [] => input.as_str().map(str::to_owned),
        // A shell and its script.
        [_, "-c" | "-lc", script] => Some((*script).to_owned()),
        words => Some(words.join(" ")),
    }
}

const PATH_NAMES: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "notebookPath",
    "absolute_path",
    "target_file",
    "filename",
];

fn paths(input: &Value, cwd: Option<&str>) -> Vec<String> {
    let one = filled(input, PATH_NAMES);
    let several = list(input, &["files", "paths", "filePaths"]);
    let named = several
        .iter()
        .filter_map(|file| file.as_str().or_else(|| filled(file, PATH_NAMES)));
    one.into_iter()
        .chain(named)
        .take(FILES_MAX)
        .map(|path| absolute(path, cwd))
        .collect()
}

fn edits(tool: &str, input: &Value, cwd: Option<&str>) -> Vec<FileEdit> {
    let patch = input
        .as_str()
        .or_else(|| text(input, &["command", "input", "patch", "patchText"]))
        .filter(|text| text.contains("*** Begin Patch"));
    if let Some(patch) = patch {
        return patch::edits(patch, cwd);
    }
    let is_whole = any(input, &["content", "file_text", "contents"]).is_some();
    let change = match (tool, text(input, &["command"])) {
        ("delete" | "deletefile", _) => FileChange::Deleted,
        ("create" | "createfile", _) | (_, Some("create")) => FileChange::Created,
        _ if is_whole => FileChange::Written,
        _ => FileChange::Modified,
    };
    let names = &[
        "new_string",
        "newString",
        "new_str",
        "content",
        "file_text",
        "new_text",
        "contents",
        "newCode",
        "new_source",
        "code",
    ];
    let mut new_text = owned(input, names);
    if new_text.is_none() {
        let parts = list(input, &["edits", "replacements"]);
        let parts: Vec<&str> = parts.iter().filter_map(|part| text(part, names)).collect();
        new_text = (!parts.is_empty()).then(|| parts.join("\n"));
    }
    let mut found = paths(input, cwd);
    if found.is_empty() {
        let parts = list(input, &["edits", "replacements"]);
        let paths = parts.iter().filter_map(|part| filled(part, PATH_NAMES));
        found = paths
            .take(FILES_MAX)
            .map(|path| absolute(path, cwd))
            .collect();
        found.dedup();
    }
    found
        .into_iter()
        .map(|path| FileEdit {
            path,
            change: change.clone(),
            new_text: new_text.clone(),
        })
        .collect()
}

/// Returns a path from the working folder, if it is a relative one.
pub fn absolute(path: &str, cwd: Option<&str>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let has_drive = path.get(1..2) == Some(":");
    match cwd {
        Some(cwd) if !path.starts_with(['/', '\\', '~']) && !has_drive && !cwd.is_empty() => {
            let path = path.strip_prefix("./").unwrap_or(path);
            format!("{}/{path}", cwd.trim_end_matches('/'))
        }
        _ => path.to_owned(),
    }
}
