//! `lore session show`: all that a session is.

use std::fmt::Write;

use lore::protocol::sessions::{GetSessionArgs, GetSessionReply, ToolExecution};

use crate::cli::exchange::{Told, ask, moment};
use crate::cli::given::{Which, word};
use crate::cli::output::{facts, shown, table};
use crate::cli::status::bytes;
use crate::cli::{Caller, End, Failure, entity};

/// Show all that a session is
#[derive(Debug, clap::Args)]
pub struct Show {
    #[command(flatten)]
    which: Which,
    /// As things stood at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
}

impl Show {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetSessionArgs {
            session: self.which.session()?,
            as_of: moment(self.as_of.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(caller, "get_session", &args, |reply| {
            Told::good(human(reply))
        })
    }
}

fn human(session: &GetSessionReply) -> String {
    let mut text = summary(session);
    for (name, value) in &session.preferences {
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "preference {} = {}",
            shown(name, 40),
            shown(&value.to_string(), 80)
        );
    }
    for lease in &session.leases {
        let (name, agent) = (shown(&lease.name, 40), shown(&lease.agent, 40));
        let _ = writeln!(
            text,
            "lease {name} held by {agent} until {}",
            shown(&lease.until, 30)
        );
    }
    for pruning in &session.pruning_history {
        let undone = if pruning.undone { ", undone" } else { "" };
        let _ = writeln!(
            text,
            "pruned at {} ({}): {} tokens before, {} after{undone}",
            shown(&pruning.at, 30),
            shown(&pruning.strategy, 20),
            pruning.tokens_before,
            pruning.tokens_after
        );
    }
    if !session.active_entities.is_empty() {
        text += "\nthe most relevant entities\n";
        text += &entity::entities_table(&session.active_entities);
    }
    if !session.tool_history.is_empty() {
        text += "\nthe last tools\n";
        let rows: Vec<_> = session.tool_history.iter().map(tool).collect();
        text += &table(["tool", "status", "at", "agent", "recorded as"], &rows);
    }
    text
}

fn summary(session: &GetSessionReply) -> String {
    let optional = |text: &Option<String>| shown(text.as_deref().unwrap_or_default(), 200);
    let usage = &session.token_usage;
    facts([
        ("session", session.session.to_string()),
        ("state", word(&session.state)),
        ("title", optional(&session.title)),
        ("topic", optional(&session.topic)),
        ("user", optional(&session.user)),
        ("project", optional(&session.project)),
        ("tags", shown(&session.tags.join(", "), 200)),
        ("agents", shown(&session.agents.join(", "), 200)),
        (
            "forked from",
            session.parent.as_ref().map_or_else(String::new, |parent| {
                format!("{} at {}", parent.session, parent.position)
            }),
        ),
        ("created", shown(&session.created_at, 30)),
        ("last activity", shown(&session.last_activity, 30)),
        ("last looked at", optional(&session.last_accessed_at)),
        ("last change", session.changed.to_string()),
        ("messages", session.messages.to_string()),
        ("steps", session.steps.to_string()),
        ("entities", session.entities.to_string()),
        (
            "checkpoints",
            match session.checkpoints {
                0 => 0.to_string(),
                count => format!("{count}, {}", bytes(session.total_size_bytes)),
            },
        ),
        (
            "tokens",
            format!(
                "{} (user {}, assistant {}, system {}, tool {}); {} in the working set, {} of packs",
                usage.total,
                usage.user,
                usage.assistant,
                usage.system,
                usage.tool,
                session.context_size,
                usage.packs
            ),
        ),
    ])
}

fn tool(tool: &ToolExecution) -> [String; 5] {
    let recorded = match (tool.step, &tool.execution, &tool.message) {
        (Some(step), _, _) => format!("step {step}, attempt {}", tool.attempt.unwrap_or(1)),
        (None, Some(execution), _) => shown(execution, 40),
        (None, None, Some(message)) => shown(message, 40),
        (None, None, None) => tool.position.to_string(),
    };
    [
        shown(&tool.tool, 40),
        word(&tool.status),
        shown(&tool.at, 30),
        shown(&tool.agent, 20),
        recorded,
    ]
}
