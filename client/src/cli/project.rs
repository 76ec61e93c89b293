//! `lore project …`: directories with their own context files.

use serde_json::Value;

use super::command::Command;
use super::common::{KEY, PAGE};
use super::flag::{Fields, Flag, Kind};
use super::input::absolute;
use super::parser::Matches;
use super::report::{Column, MORE, Rendered, Report, column, column_of, more, rows, table_or};
use super::template::{at, fill, list, raw};
use super::{Caller, Failure};

const WHICH: Flag = Flag::positional(
    Kind::Text,
    "project",
    "PROJECT",
    "The project: an id, a directory, or `current`",
)
.sends("project_id")
.default("current");

/// `lore project` and its commands.
pub const PROJECT: Command = Command::family(
    "project",
    "Directories with context files of their own",
    &[
        Command::call_with("init", "Make a directory a project, and show it", "init_project", path, Report::Facts(PROJECT_FACTS))
            .details("All worktrees of a repository are one project. The first write from within a directory also makes it one.")
            .flags(&[&[
                Flag::positional(Kind::Text, "path", "PATH", "The directory").default(".").local(),
                Flag::text("name", "TEXT", "Name for people; otherwise that of .lore.toml, or of the directory"),
                KEY,
            ]])
            .examples(&["lore project init . --name Shop"]),
        Command::call("list", "List projects, the one changed last first", "list_projects", Report::Rendered(projects))
            .flags(&[PAGE])
            .examples(&["lore project list"]),
        Command::call_with("share", "Let another user of this machine read a project's context files, where each user has a memory of their own", "share_project", access, Report::Facts(SHARED))
            .flags(&[&[
                Flag::positional(Kind::Text, "user", "USER", "Name or number of a user"),
                WHICH,
                Flag::switch("write", "Let the user write them as well").local().conflicts(&["revoke"]),
                Flag::switch("revoke", "Withdraw the permission").local(),
            ]])
            .examples(&["lore project share alice --write"]),
        Command::call("shares", "List the users of this machine that may read or write a project's context files", "list_shares", SHARES)
            .flags(&[&[WHICH]])
            .examples(&["lore project shares"]),
    ],
);

const PROJECT_FACTS: &[Column] = &[
    column("project", "{project:80}"),
    column("name", "{name:80}"),
    column("path", "{path}"),
    column("worktree", "{worktree}"),
    column("branch", "{branch:80}"),
    column("context files", "{context_path}"),
    column("is", "{created:new/known already}"),
];

const SHARED: &[Column] = &[
    column("project", "{project:80}"),
    column("user", "{user}"),
    column_of("may", permission),
    column("calls it", "{project_id:100}"),
];

const SHARES: Report = table_or(
    "shares",
    &[
        column("user", "{user}"),
        column_of("may", permission),
        column("since", "{since:time}"),
    ],
    "lore: the project is not shared\n",
);

const PROJECTS: &[Column] = &[
    // A `*` marks the project of the working directory.
    column("", "{is_current}"),
    column("project", "{project:80}"),
    column("name", "{name:40}"),
    column("changed", "{updated_at:time}"),
    column("written", "{contexts:60=-}"),
    column_of("worktrees", |project| {
        let branches: Vec<_> = list(project, "worktrees").iter().map(branch).collect();
        fill("{:40=-}", &branches.into())
    }),
    column("path", "{path}"),
];

fn path(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    fields.put("path", &absolute(matches.needed("path"))?)
}

fn access(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let access = match (matches.is("write"), matches.is("revoke")) {
        (_, true) => "none",
        (true, false) => "write",
        (false, false) => "read",
    };
    fields.put("access", access)
}

fn permission(share: &Value) -> String {
    match raw(share, "access") {
        "read" => "read",
        "write" => "read and write",
        _ => "nothing any more",
    }
    .to_owned()
}

fn projects(reply: &Value, _: &Matches) -> Rendered {
    let current = raw(reply, "current");
    let mut projects = list(reply, "projects").to_vec();
    if projects.is_empty() {
        return Rendered::empty(
            "lore: no project yet; `lore project init` makes this folder one\n".to_owned(),
        );
    }
    for project in &mut projects {
        let is_current = !current.is_empty() && raw(project, "project") == current;
        if let Some(members) = project.as_object_mut() {
            members.insert(
                "is_current".to_owned(),
                if is_current { "*" } else { "" }.into(),
            );
        }
    }
    Rendered::good(rows(PROJECTS, &projects) + &more(MORE, reply))
}

/// Names a worktree by its branch, or else by its folder.
fn branch(worktree: &Value) -> Value {
    match at(worktree, "branch") {
        Value::Null => raw(worktree, "path").rsplit('/').next().into(),
        branch => branch.clone(),
    }
}
