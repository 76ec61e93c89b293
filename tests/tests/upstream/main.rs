//! Resolvers with real MCP servers, correct and faulty: every lookup ends, each failure has a message, and the next
//! lookup works again.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod failures;
mod http;
mod processes;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use lored::upstream::{
    ProcessBroker, Program, Question, Resolution, Resolvers, Server, Settings, State,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::until;
use tokio::runtime::Runtime;

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Creates resolvers with the program as their process broker.
fn resolvers(settings: BTreeMap<String, Settings>) -> Resolvers {
    let programs = settings
        .values()
        .filter_map(|settings| match &settings.server {
            Server::Command(program) => Some(program.clone()),
            Server::Url(_) => None,
        });
    let lored = Path::new(env!("CARGO_BIN_EXE_lored-under-test"));
    let broker = ProcessBroker::begin(lored, programs.collect()).expect("a starter");
    Resolvers::new(settings, Some(Arc::new(broker)))
}

/// A resolver with a server in a mode, and the folder of the server's records.
struct Fixture {
    runtime: Runtime,
    resolvers: Resolvers,
    settings: Settings,
    folder: TempDir,
}

impl Fixture {
    /// Creates a server that misbehaves only the first time, with enough time for it.
    fn once(mode: &str) -> Self {
        Self::with(mode, true, |_| {})
    }

    fn with(mode: &str, once: bool, set: impl Fn(&mut Settings)) -> Self {
        let folder = TempDir::new().unwrap();
        let mut arguments = vec![mode.to_owned(), folder.path().to_str().unwrap().to_owned()];
        arguments.extend(once.then(|| "once".to_owned()));
        let server = Server::Command(Program {
            program: env!("CARGO_BIN_EXE_mcp-server-for-tests").to_owned(),
            arguments,
            environment: BTreeMap::new(),
        });
        Self::of(server, folder, set)
    }

    fn of(server: Server, folder: TempDir, set: impl Fn(&mut Settings)) -> Self {
        let kinds = [("device".to_owned(), Question::new("find"))].into();
        let mut settings = Settings::new(server, kinds);
        settings.timeout_ms = 30_000;
        set(&mut settings);
        let resolvers = resolvers([("rig".to_owned(), settings.clone())].into());
        Self {
            runtime: Runtime::new().unwrap(),
            resolvers,
            settings,
            folder,
        }
    }

    fn resolve(&self, name: &str) -> Resolution {
        let ask = self.resolvers.resolve("device", name);
        let bounded = async { tokio::time::timeout(LIMIT, ask).await };
        self.runtime.block_on(bounded).expect("an ask ends")
    }

    /// Returns the error message of a failing lookup.
    fn failure(&self, name: &str) -> String {
        match self.resolve(name) {
            Resolution::Failed(said) => said,
            other => panic!("{other:?}"),
        }
    }

    /// Repeats a lookup until the server knows the name.
    fn recovers(&self, name: &str) {
        until("an answer", LIMIT, || {
            matches!(self.resolve(name), Resolution::Found { .. }).then_some(())
        });
    }

    fn close(&self) {
        let close = async { tokio::time::timeout(LIMIT, self.resolvers.close()).await };
        self.runtime.block_on(close).expect("closing ends");
    }

    fn state(&self) -> State {
        self.resolvers.status()[0].state
    }

    /// Lists the server's records of a kind, in order.
    fn left(&self, kind: &str) -> Vec<String> {
        left(self.folder.path(), kind)
    }
}

fn left(folder: &Path, kind: &str) -> Vec<String> {
    let read = |number| std::fs::read_to_string(folder.join(format!("{kind}-{number}"))).ok();
    (1..).map_while(read).collect()
}

/// A match contains the server's data; an answer is cached, even a negative one.
#[test]
fn a_name_is_resolved_once() {
    let fixture = Fixture::once("good");
    assert_eq!(fixture.state(), State::Idle);
    let Resolution::Found {
        candidate,
        resolver,
        cached,
    } = fixture.resolve("ams1")
    else {
        panic!("not found");
    };
    assert_eq!((resolver.as_str(), cached), ("rig", false));
    assert_eq!(candidate.name, "AMS1");
    assert_eq!(candidate.id.as_deref(), Some("42"));
    assert_eq!(candidate.slug.as_deref(), Some("ams1"));
    let data: Value = serde_json::from_str(&candidate.data).unwrap();
    assert_eq!(data["site"], json!({"id": 1}));
    let call: Value = serde_json::from_str(&fixture.left("call")[0]).unwrap();
    assert_eq!(call["name"], "find");
    assert_eq!(call["arguments"], json!({"name": "ams1", "limit": 1}));

    assert!(matches!(
        fixture.resolve(" AMS1 "),
        Resolution::Found { cached: true, .. }
    ));
    assert_eq!(fixture.resolve("none-such"), Resolution::Nothing);
    assert_eq!(fixture.resolve("none-such"), Resolution::Nothing);
    let status = &fixture.resolvers.status()[0];
    assert_eq!((status.calls, status.failures, status.cached), (2, 0, 2));
    assert_eq!(status.state, State::Running);
    assert_eq!(fixture.left("start").len(), 1);
    assert_eq!(fixture.left("call").len(), 2);
}

/// With a cache time of zero, every lookup calls the server.
#[test]
fn answers_expire() {
    let fixture = Fixture::with("good", false, |settings| settings.cache_ms = 0);
    for _ in 0..2 {
        assert!(matches!(
            fixture.resolve("ams1"),
            Resolution::Found { cached: false, .. }
        ));
    }
    assert_eq!(fixture.left("call").len(), 2);
}

/// Equal concurrent lookups share one call.
#[test]
fn the_same_question_is_asked_once() {
    let fixture = Fixture::with("slow", false, |_| {});
    let asks = join_all((0..5).map(|_| fixture.resolvers.resolve("device", "ams1")));
    let answers = fixture.runtime.block_on(async {
        let go = tokio::task::spawn_blocking({
            let folder = fixture.folder.path().to_owned();
            move || let_go(&folder, 1)
        });
        let answers = asks.await;
        go.await.unwrap();
        answers
    });
    for answer in answers {
        assert!(
            matches!(answer, Resolution::Found { cached: false, .. }),
            "{answer:?}"
        );
    }
    assert_eq!(fixture.left("call").len(), 1);
}

/// Concurrent calls are limited by the setting.
#[test]
fn calls_at_once_are_limited() {
    let fixture = Fixture::with("slow", false, |settings| settings.concurrent_max = 2);
    let names: Vec<String> = (0..6).map(|n| format!("ams{n}")).collect();
    let asks = join_all(
        names
            .iter()
            .map(|name| fixture.resolvers.resolve("device", name)),
    );
    let answers = fixture.runtime.block_on(async {
        let folder = fixture.folder.path().to_owned();
        let go = tokio::task::spawn_blocking(move || let_go(&folder, 2));
        let answers = asks.await;
        go.await.unwrap();
        answers
    });
    for answer in answers {
        assert!(matches!(answer, Resolution::Found { .. }), "{answer:?}");
    }
    let together = fixture.left("together");
    assert_eq!(together.len(), 6);
    assert_eq!(together.iter().max().map(String::as_str), Some("2"));
}

/// Lets a slow server answer once it has this number of calls.
fn let_go(folder: &Path, calls: usize) {
    until("calls", LIMIT, || {
        (left(folder, "together").len() >= calls).then_some(())
    });
    std::fs::write(folder.join("go"), "").unwrap();
}

/// A kind without a resolver is reported. The first resolver that knows a name is used, and failures are reported
/// only if none knows it.
#[test]
fn resolvers_are_asked_in_order() {
    let fixture = Fixture::once("good");
    let nothing = fixture
        .runtime
        .block_on(fixture.resolvers.resolve("site", "ams1"));
    assert_eq!(nothing, Resolution::NoResolver);
    assert!(fixture.resolvers.is_auto("device") && !fixture.resolvers.is_auto("site"));
    assert!(fixture.failure("").contains("1 to 1024 bytes"));
    assert!(
        fixture
            .failure(&"n".repeat(1025))
            .contains("1 to 1024 bytes")
    );

    let kinds: BTreeMap<_, _> = [("device".to_owned(), Question::new("find"))].into();
    let server = |program: &str, mode: &str| {
        Server::Command(Program {
            program: program.to_owned(),
            arguments: vec![
                mode.to_owned(),
                fixture.folder.path().to_str().unwrap().to_owned(),
            ],
            environment: BTreeMap::new(),
        })
    };
    let settings = |server| Settings {
        timeout_ms: 30_000,
        ..Settings::new(server, kinds.clone())
    };
    let both = resolvers(
        [
            ("a".to_owned(), settings(server("/no/such/program", "good"))),
            (
                "b".to_owned(),
                settings(server(env!("CARGO_BIN_EXE_mcp-server-for-tests"), "good")),
            ),
        ]
        .into(),
    );
    let resolve = |name| fixture.runtime.block_on(both.resolve("device", name));
    let found = resolve("ams1");
    assert!(
        matches!(&found, Resolution::Found { resolver, .. } if resolver == "b"),
        "{found:?}"
    );
    let failed = resolve("none-such");
    let wanted = "the resolver a cannot be started: /no/such/program";
    assert!(
        matches!(&failed, Resolution::Failed(said) if said.contains(wanted)),
        "{failed:?}"
    );
}
