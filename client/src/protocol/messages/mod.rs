//! Wire types of messages and tool executions.

mod list;
mod record;
mod tool;
mod tool_use;

pub use list::{ListMessagesArgs, ListMessagesReply, Message};
pub use record::{Mentioned, RecordMessageArgs, RecordMessageReply};
pub use tool::{RecordToolArgs, RecordToolReply};
pub use tool_use::ToolUse;

use serde::{Deserialize, Serialize};

/// Declares a closed list of names, each with its sentence.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }
    };
}

names! {
    /// Who says something.
    Sender {
        /// The person.
        User,
        /// The model.
        Assistant,
        /// Whoever sets the frame.
        System,
        /// A tool.
        Tool,
    }
}

names! {
    /// What a message is.
    MessageType {
        /// Something is asked.
        Query,
        /// Something is answered.
        Response,
        /// A tool returned something.
        ToolResult,
        /// Something failed.
        Error,
    }
}

names! {
    /// How far the execution of a tool is.
    ToolStatus {
        /// It was asked for.
        Starting,
        /// It runs.
        Running,
        /// It ended well.
        Completed,
        /// It failed.
        Error,
    }
}

names! {
    /// How an entity was recognised.
    Recognised {
        /// By the form of its name.
        Pattern,
        /// By its name, which was known already.
        Known,
        /// By a word that refers to it.
        Reference,
        /// By a field of a JSON value.
        Json,
    }
}

names! {
    /// What comes first in a list.
    Order {
        /// The oldest.
        Oldest,
        /// The newest.
        Newest,
    }
}
