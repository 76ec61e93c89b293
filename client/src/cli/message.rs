//! `lore message …`: what was said in a session.

use std::fmt::Write;

use clap::Subcommand;
use lore::protocol::messages::{
    ListMessagesArgs, ListMessagesReply, Mentioned, Message as Said, MessageType, Order,
    RecordMessageArgs, RecordMessageReply, Sender, ToolUse,
};

use super::exchange::{Told, ask, moment, moment_of};
use super::given::{Guard, Page, Which, more, one_of, text, word};
use super::output::{facts, shown, shown_lines, table};
use super::{Caller, End, Failure};

/// Who can say something.
const SENDERS: &[(&str, Sender)] = &[
    ("user", Sender::User),
    ("assistant", Sender::Assistant),
    ("system", Sender::System),
    ("tool", Sender::Tool),
];

/// What a message can be.
const TYPES: &[(&str, MessageType)] = &[
    ("query", MessageType::Query),
    ("response", MessageType::Response),
    ("tool_result", MessageType::ToolResult),
    ("error", MessageType::Error),
];

/// Record what was said, and read it again
#[derive(Debug, Subcommand)]
pub enum Message {
    /// Record a message of the session, or of a new one
    Record(Record),
    /// List the messages of a session, the oldest first
    List(List),
    /// Show one message whole
    Show {
        /// Its id
        message: String,
        /// As things stood at this position or RFC 3339 time
        #[arg(long, value_name = "WHEN")]
        as_of: Option<String>,
    },
}

impl Message {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Record(record) => record.run(caller),
            Self::List(list) => list.run(caller),
            Self::Show { message, as_of } => {
                let args = ListMessagesArgs {
                    message: Some(message),
                    as_of: moment(as_of.as_deref())?,
                    ..ListMessagesArgs::default()
                };
                ask(caller, "list_messages", &args, whole)
            }
        }
    }
}

/// Record a message of the session, or of a new one
#[derive(Debug, clap::Args)]
pub struct Record {
    /// What was said; - or nothing reads it from standard input
    #[arg(default_value = "-", allow_hyphen_values = true)]
    text: String,
    /// Who said it
    #[arg(long, value_parser = one_of(SENDERS))]
    sender: Sender,
    /// What it is; otherwise what the sender says: a query, a response, a tool_result
    #[arg(long = "type", value_parser = one_of(TYPES))]
    kind: Option<MessageType>,
    /// A tool that was used to make it, as often as needed
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// The context pack that it was made with
    #[arg(long, value_name = "ID")]
    pack: Option<String>,
    #[command(flatten)]
    guard: Guard,
}

impl Record {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let used = |name: String| ToolUse {
            name,
            status: None,
            result: None,
        };
        let args = RecordMessageArgs {
            session: None,
            sender: self.sender,
            content: text("the message", self.text)?,
            kind: self.kind,
            tools: self.tools.into_iter().map(used).collect(),
            pack: self.pack,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "record_message", &args, |reply| {
            Told::good(recorded(reply))
        })
    }
}

fn recorded(reply: &RecordMessageReply) -> String {
    let mut text = format!(
        "message {} of session {} (position {}): {} tokens\n",
        shown(&reply.message, 40),
        reply.session,
        reply.position,
        reply.tokens
    );
    if let Some(bytes) = reply.quoted_bytes {
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "  {bytes} bytes came out of a context pack, and do not count"
        );
    }
    for entity in &reply.entities {
        let _ = writeln!(text, "  {}", mentioned(entity));
    }
    text
}

fn mentioned(entity: &Mentioned) -> String {
    format!("{} {}", shown(&entity.kind, 40), shown(&entity.name, 80))
}

/// List the messages of a session, the oldest first
#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    which: Which,
    /// After this position, or from this RFC 3339 time on
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Of this sender alone
    #[arg(long, value_parser = one_of(SENDERS))]
    sender: Option<Sender>,
    /// Of this type alone
    #[arg(long = "type", value_parser = one_of(TYPES))]
    kind: Option<MessageType>,
    /// The newest first
    #[arg(long)]
    newest: bool,
    /// As things stood at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
    #[command(flatten)]
    page: Page,
}

impl List {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListMessagesArgs {
            session: self.which.session()?,
            limit: self.page.limit,
            next: self.page.next,
            since: moment_of("--since", self.since.as_deref())?,
            kind: self.kind,
            sender: self.sender,
            order: self.newest.then_some(Order::Newest),
            as_of: moment(self.as_of.as_deref())?,
            ..ListMessagesArgs::default()
        };
        ask(caller, "list_messages", &args, listed)
    }
}

fn listed(reply: &ListMessagesReply) -> Told {
    if reply.messages.is_empty() {
        return Told::nothing(String::new());
    }
    let rows: Vec<_> = reply.messages.iter().map(row).collect();
    let heading = [
        "message", "at", "sender", "type", "tokens", "entities", "said",
    ];
    Told::good(table(heading, &rows) + &more(reply.next.as_deref()))
}

fn row(message: &Said) -> [String; 7] {
    [
        shown(&message.message, 40),
        shown(&message.at, 30),
        word(&message.sender),
        word(&message.kind),
        message.tokens.to_string(),
        message.entities.len().to_string(),
        shown(&message.content, 60),
    ]
}

fn whole(reply: &ListMessagesReply) -> Told {
    let mut text = String::new();
    for message in &reply.messages {
        let tools: Vec<_> = message
            .tools
            .iter()
            .map(|used| shown(&used.name, 40))
            .collect();
        let entities: Vec<_> = message.entities.iter().map(mentioned).collect();
        text += &facts([
            ("message", shown(&message.message, 40)),
            ("session", reply.session.to_string()),
            ("position", message.position.to_string()),
            ("at", shown(&message.at, 30)),
            ("agent", shown(&message.agent, 40)),
            ("sender", word(&message.sender)),
            ("type", word(&message.kind)),
            ("tokens", message.tokens.to_string()),
            ("tools", tools.join(", ")),
            (
                "pack",
                shown(message.pack.as_deref().unwrap_or_default(), 40),
            ),
            ("entities", entities.join(", ")),
        ]);
        // Writing into a string does not fail.
        let _ = writeln!(text, "\n{}", shown_lines(&message.content));
    }
    match text.is_empty() {
        true => Told::nothing(String::new()),
        false => Told::good(text),
    }
}
