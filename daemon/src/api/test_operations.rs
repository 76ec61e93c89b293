//! Operations and resources for tests of the transports: replies of every shape, lists of several
//! pages, and a call that a test can hold.

use std::sync::Arc;

use lore::protocol::{CommonArgs, CommonReply, Meta, Position, RawJson, RawObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::sessions::SessionEvent;
use crate::log::LoggedEvent;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, Operation};
use crate::resource::{AffectedResources, Entry, Kind, Page, Resource};
use crate::store::Rows;

/// The test operations.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<TestEcho>(),
    Operation::of::<List>(),
    Operation::of::<TestHold>(),
];

/// Started calls of [`Hold`], for one test alone.
pub static BEGUN: Semaphore = Semaphore::const_new(0);
/// Calls of [`Hold`] that may end.
pub static MAY_END: Semaphore = Semaphore::const_new(0);

/// Arguments of all test operations.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialArgs {
    /// The object to return.
    object: RawObject,
}

impl CommonArgs for TrialArgs {}

/// An object with reply metadata.
#[derive(Serialize, JsonSchema)]
pub struct EchoReply {
    object: RawJson,
    #[serde(skip)]
    meta: Option<Meta>,
}

impl CommonReply for EchoReply {
    fn meta(&self) -> Option<Meta> {
        self.meta.clone()
    }
    fn warnings(&mut self) -> Option<&mut Vec<String>> {
        self.meta.as_mut().map(|meta| &mut meta.warnings)
    }
}

/// A list.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ListReply(Vec<RawJson>);

impl CommonReply for ListReply {
    fn meta(&self) -> Option<Meta> {
        Some(Meta {
            position: Position(7),
            durable: true,
            project: None,
            warnings: Vec::new(),
            total: Some(self.0.len() as u64),
            session: None,
            chosen_by: None,
        })
    }
}

/// Returns an object.
pub struct TestEcho;

impl Op for TestEcho {
    type Args = TrialArgs;
    type Reply = EchoReply;
    const NAME: &'static str = "test_echo";
    const TITLE: &'static str = "Echo";
    const DESCRIPTION: &'static str = "Returns an object.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const IS_DESTRUCTIVE: bool = true;
    const RESULT_CHARS_MAX: Option<u64> = Some(500_000);

    async fn call(call: Call<TrialArgs>) -> Result<EchoReply, Refusal> {
        let Call { caller, args, .. } = call;
        Ok(EchoReply {
            object: raw(args.object)?,
            meta: Some(Meta {
                position: Position(7),
                durable: true,
                project: caller.project,
                warnings: vec!["beside".to_owned()],
                total: None,
                session: None,
                chosen_by: None,
            }),
        })
    }
}

/// Returns a list of one object.
pub struct List;

impl Op for List {
    type Args = TrialArgs;
    type Reply = ListReply;
    const NAME: &'static str = "test_list";
    const TITLE: &'static str = "List";
    const DESCRIPTION: &'static str = "Returns an object in a list.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;
    const WRAPPED_AS: Option<&'static str> = Some("items");

    async fn call(call: Call<TrialArgs>) -> Result<ListReply, Refusal> {
        let args = call.args;
        Ok(ListReply(vec![raw(args.object)?]))
    }
}

/// Returns an object once the test permits it.
pub struct TestHold;

impl Op for TestHold {
    type Args = TrialArgs;
    type Reply = EchoReply;
    const NAME: &'static str = "test_hold";
    const TITLE: &'static str = "Hold";
    const DESCRIPTION: &'static str = "Returns an object, later.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<TrialArgs>) -> Result<EchoReply, Refusal> {
        BEGUN.add_permits(1);
        if let Ok(may_end) = MAY_END.acquire().await {
            may_end.forget();
        }
        TestEcho::call(call).await
    }
}

fn raw(object: RawObject) -> Result<RawJson, Refusal> {
    RawJson::parse(object.into_string()).map_err(|error| Refusal::invalid(error.to_string()))
}

/// Resource kinds: one of two pages, one empty, one of a single page.
pub static KINDS: &[Kind] = &[
    Kind::of::<Pages>(),
    Kind::of::<TestNothing>(),
    Kind::of::<TestNotes>(),
];

/// Five entries, three on a page.
pub struct Pages;

impl Resource for Pages {
    const TEMPLATE: &'static str = "lore://page/{id}";
    const NAME: &'static str = "page";
    const TITLE: &'static str = "Page";
    const DESCRIPTION: &'static str = "One of five.";
    const MIME: &'static str = "application/json";

    async fn list(_: Arc<Context>, _: Caller, cursor: Option<String>) -> Result<Page, Refusal> {
        let from: u32 = match cursor {
            None => 1,
            Some(cursor) => cursor
                .parse()
                .map_err(|_| Refusal::invalid(format!("no page {cursor}")))?,
        };
        let to = (from + 2).min(5);
        let entries = (from..=to).map(|number| Entry {
            id: format!("p-{number}"),
            title: Some(format!("Number {number}")),
            description: None,
            bytes: Some(12),
        });
        Ok(Page {
            entries: entries.collect(),
            next: (to < 5).then(|| (to + 1).to_string()),
        })
    }

    async fn read(_: Arc<Context>, caller: Caller, id: String) -> Result<String, Refusal> {
        assert_ne!(id, "broken", "this one is there to fail");
        match id.strip_prefix("p-") {
            Some(number) => Ok(format!(
                r#"{{"n":{number}.10,"by":"{}"}}"#,
                caller.actor.agent
            )),
            None => Err(Refusal::new(
                Code::CheckpointNotFound,
                format!("page {id} not found"),
            )),
        }
    }

    fn check(_: &dyn Rows, id: &str) -> Result<(), Refusal> {
        match id.starts_with("p-") {
            true => Ok(()),
            false => Err(Refusal::new(
                Code::CheckpointNotFound,
                format!("page {id} not found"),
            )),
        }
    }

    /// A page changes with each event of the session with its id, and is listed from the session's start.
    fn touched(event: &LoggedEvent, meta: Option<&Event>) -> AffectedResources {
        let is_new = matches!(meta, Some(Event::Session(SessionEvent::Created(_))));
        match event.header.session.as_deref() {
            Some(session) => AffectedResources::one(session, is_new),
            None => AffectedResources::default(),
        }
    }
}

/// A kind without entries.
pub struct TestNothing;

impl Resource for TestNothing {
    const TEMPLATE: &'static str = "lore://nothing/{id}";
    const NAME: &'static str = "nothing";
    const TITLE: &'static str = "Nothing";
    const DESCRIPTION: &'static str = "None of these.";
    const MIME: &'static str = "text/plain";

    async fn list(_: Arc<Context>, _: Caller, _: Option<String>) -> Result<Page, Refusal> {
        Ok(Page::default())
    }

    async fn read(_: Arc<Context>, _: Caller, id: String) -> Result<String, Refusal> {
        Err(Refusal::new(Code::NotFound, format!("{id} not found")))
    }

    fn check(_: &dyn Rows, id: &str) -> Result<(), Refusal> {
        Err(Refusal::new(Code::NotFound, format!("{id} not found")))
    }

    fn touched(_: &LoggedEvent, _: Option<&Event>) -> AffectedResources {
        AffectedResources::default()
    }
}

/// One entry whose URI has two parts.
pub struct TestNotes;

impl Resource for TestNotes {
    const TEMPLATE: &'static str = "lore://note/{folder}/{name}";
    const NAME: &'static str = "note";
    const TITLE: &'static str = "Note";
    const DESCRIPTION: &'static str = "A note in a folder.";
    const MIME: &'static str = "text/markdown";

    async fn list(_: Arc<Context>, _: Caller, _: Option<String>) -> Result<Page, Refusal> {
        let entry = Entry {
            id: "a/b.md".to_owned(),
            title: None,
            description: Some("A note.".to_owned()),
            bytes: None,
        };
        Ok(Page {
            entries: vec![entry],
            next: None,
        })
    }

    async fn read(_: Arc<Context>, _: Caller, id: String) -> Result<String, Refusal> {
        Ok(format!("# {id}"))
    }

    fn check(_: &dyn Rows, _: &str) -> Result<(), Refusal> {
        Ok(())
    }

    fn touched(_: &LoggedEvent, _: Option<&Event>) -> AffectedResources {
        AffectedResources::default()
    }
}
