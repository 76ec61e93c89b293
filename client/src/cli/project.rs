//! `lore project …`: directories with context files of their own.

use clap::{Subcommand, ValueHint};
use lore::protocol::projects::{
    InitProjectArgs, InitProjectReply, ListProjectsArgs, ListProjectsReply, ListSharesArgs,
    ListSharesReply, Project as Known, ShareAccess, ShareProjectArgs, ShareProjectReply, Worktree,
};

use super::context::absolute;
use super::exchange::{Told, ask};
use super::given::{Page, more};
use super::output::{facts, shown, table};
use super::{Caller, End, Failure};

/// Directories with context files of their own
#[derive(Debug, Subcommand)]
pub enum Project {
    Init(Init),
    /// List projects, the one changed last first
    List {
        #[command(flatten)]
        page: Page,
    },
    Share(ShareWith),
    /// List the users of this machine that may read or write a project's context files
    Shares {
        /// The project: an id, a directory, or `current`
        #[arg(default_value = "current")]
        project: String,
    },
}

impl Project {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Init(init) => init.run(caller),
            Self::List { page } => {
                let args = ListProjectsArgs {
                    limit: page.limit,
                    next: page.next,
                    at_least: None,
                    agent: None,
                };
                ask(caller, "list_projects", &args, listed)
            }
            Self::Share(share) => share.run(caller),
            Self::Shares { project } => {
                let args = ListSharesArgs {
                    project_id: project,
                    at_least: None,
                    agent: None,
                };
                ask(caller, "list_shares", &args, shared)
            }
        }
    }
}

/// Make a directory a project, and tell what it is
///
/// All worktrees of a repository are one project. The first write from within a directory makes it one,
/// too.
#[derive(Debug, clap::Args)]
pub struct Init {
    /// The directory
    #[arg(default_value = ".", value_hint = ValueHint::DirPath)]
    path: String,
    /// What people call it; otherwise what .lore.toml says, or the directory's name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Idempotency key: the same call again gives the first reply
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Init {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = InitProjectArgs {
            path: absolute(&self.path)?,
            name: self.name,
            key: self.key,
            agent: None,
        };
        ask(caller, "init_project", &args, |reply| {
            Told::good(initialised(reply))
        })
    }
}

/// Let another user of this machine read a project's context files, where each has a memory of its own
#[derive(Debug, clap::Args)]
pub struct ShareWith {
    /// A user's name or number
    user: String,
    /// The project: an id, a directory, or `current`
    #[arg(default_value = "current")]
    project: String,
    /// Write them as well
    #[arg(long, conflicts_with = "revoke")]
    write: bool,
    /// Take it back
    #[arg(long)]
    revoke: bool,
}

impl ShareWith {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let access = match (self.write, self.revoke) {
            (_, true) => ShareAccess::None,
            (true, false) => ShareAccess::Write,
            (false, false) => ShareAccess::Read,
        };
        let args = ShareProjectArgs {
            project_id: self.project,
            user: self.user,
            access: Some(access),
            key: None,
            agent: None,
        };
        ask(
            caller,
            "share_project",
            &args,
            |reply: &ShareProjectReply| {
                Told::good(facts([
                    ("project", shown(&reply.project, 80)),
                    ("user", reply.user.to_string()),
                    ("may", access_word(reply.access).to_owned()),
                    ("calls it", shown(&reply.project_id, 100)),
                ]))
            },
        )
    }
}

const fn access_word(access: ShareAccess) -> &'static str {
    match access {
        ShareAccess::Read => "read",
        ShareAccess::Write => "read and write",
        ShareAccess::None => "nothing any more",
    }
}

fn shared(reply: &ListSharesReply) -> Told {
    if reply.shares.is_empty() {
        return Told::nothing("lore: the project is shared with nobody\n".to_owned());
    }
    let rows: Vec<_> = reply
        .shares
        .iter()
        .map(|share| {
            [
                share.user.to_string(),
                access_word(share.access).to_owned(),
                shown(&share.since, 30),
            ]
        })
        .collect();
    Told::good(table(["user", "may", "since"], &rows))
}

fn initialised(reply: &InitProjectReply) -> String {
    let is_known = match reply.created {
        true => "new",
        false => "known already",
    };
    facts([
        ("project", shown(&reply.project, 80)),
        ("name", shown(&reply.name, 80)),
        ("path", shown(&reply.path, 0)),
        ("worktree", shown(&reply.worktree, 0)),
        (
            "branch",
            shown(reply.branch.as_deref().unwrap_or_default(), 80),
        ),
        ("context files", shown(&reply.context_path, 0)),
        ("is", is_known.to_owned()),
    ])
}

fn listed(reply: &ListProjectsReply) -> Told {
    if reply.projects.is_empty() {
        return Told::nothing(
            "lore: there is no project yet; `lore project init` makes this folder one\n".to_owned(),
        );
    }
    let current = reply.current.as_deref();
    let rows: Vec<_> = reply
        .projects
        .iter()
        .map(|project| row(project, current))
        .collect();
    let heading = [
        "",
        "project",
        "name",
        "changed",
        "written",
        "worktrees",
        "path",
    ];
    Told::good(table(heading, &rows) + &more(reply.next.as_deref()))
}

/// A project; that of the working directory has a `*` before it.
fn row(project: &Known, current: Option<&str>) -> [String; 7] {
    let is_current = current == Some(project.project.as_str());
    let branches: Vec<_> = project.worktrees.iter().map(branch).collect();
    [
        if is_current { "*" } else { "" }.to_owned(),
        shown(&project.project, 80),
        shown(&project.name, 40),
        shown(&project.updated_at, 30),
        match project.contexts.as_slice() {
            [] => "-".to_owned(),
            contexts => shown(&contexts.join(", "), 60),
        },
        match branches.as_slice() {
            [] => "-".to_owned(),
            branches => shown(&branches.join(", "), 40),
        },
        shown(&project.path, 0),
    ]
}

/// A worktree by its branch, or else by its folder's name.
fn branch(worktree: &Worktree) -> String {
    match &worktree.branch {
        Some(branch) => branch.clone(),
        None => {
            let folder = worktree.path.rsplit('/').next();
            folder.unwrap_or_default().to_owned()
        }
    }
}
