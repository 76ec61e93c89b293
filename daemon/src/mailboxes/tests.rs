//! Requests of boxed clients: whose they are, what waits, and what is junk.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lore::mailbox::{Direction, Exchange, MailName, Mailbox, Seal, Undelivered};
use lore::protocol::frame::{self, Hello};
use lore::protocol::{Args, Code, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::config::Config;
use crate::daemon::Daemon;
use crate::daemon::tests::paths;

/// A daemon without sockets, and the folder of its mailboxes.
struct Fixture {
    folder: TempDir,
    daemon: Daemon,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Daemon::open(&Config::new(), &paths(folder.path())).unwrap();
        Self { folder, daemon }
    }

    fn context(&self) -> &Arc<Context> {
        self.daemon.context().unwrap()
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("mail")
    }

    fn store(&self) -> PathBuf {
        store_folder(&self.root(), &self.context().folder.data)
    }

    fn work(&self, name: &str) -> PathBuf {
        let work = self.folder.path().join(name);
        fs::create_dir_all(&work).unwrap();
        work
    }

    /// A hook of the session has called from its folder.
    fn note(&self, id: &str) {
        let sessions = &Capture::of(self.context()).unwrap().host_sessions;
        sessions.note(id, id, Some(&self.work(id)));
    }

    fn serve(&self) -> tokio::task::JoinHandle<()> {
        lore::mailbox::prepare_root(&self.root()).unwrap();
        let roots = MailRoots(vec![self.root()]);
        tokio::spawn(run(Arc::clone(self.context()), roots))
    }

    /// Serves once the folder is claimed.
    async fn served(&self) -> tokio::task::JoinHandle<()> {
        let serving = self.serve();
        let store = self.store();
        let is_served = || lore::mailbox::StoreFolder::open(&store).is_ok_and(|at| at.is_served());
        while !is_served() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        serving
    }

    /// Calls as a client of a host session does.
    async fn call(&self, id: &str, name: &str, args: Value) -> Result<Value, Undelivered> {
        self.call_as(id, hello("lore"), name, args, false).await
    }

    async fn call_as(
        &self,
        id: &str,
        hello: Hello,
        name: &str,
        args: Value,
        may_wait: bool,
    ) -> Result<Value, Undelivered> {
        let exchange = Exchange::at(id, vec![self.store()]);
        let name = name.to_owned();
        let args = Args::Json(args.to_string().into_bytes());
        let call = move || exchange.call(&hello, &name, &args, may_wait, None);
        let reply: Reply = tokio::task::spawn_blocking(call).await.unwrap()?;
        Ok(serde_json::from_slice(&reply.json).unwrap())
    }
}

/// A Hello that claims to be another session elsewhere.
fn hello(client: &str) -> Hello {
    Hello {
        client: format!("{client}/1"),
        agent: Some("agent".to_owned()),
        cwd: Some("/".to_owned()),
        host_session: Some("claude:somebody-else".to_owned()),
        ..Hello::default()
    }
}

fn code(outcome: Result<Value, Undelivered>) -> Code {
    match outcome {
        Err(Undelivered::Failed(error)) => error.to_body().code,
        other => panic!("{other:?}"),
    }
}

fn message(content: &str) -> Value {
    json!({"sender": "user", "content": content})
}

/// Each acts in its own session and folder, whatever its Hello says; neither writes into the other's.
#[tokio::test]
async fn two_sessions_act_each_for_itself() {
    let fixture = Fixture::new();
    fixture.note("claude:a");
    fixture.note("codex:b");
    let _serving = fixture.served().await;
    let mut sessions = Vec::new();
    for id in ["claude:a", "codex:b"] {
        let said = format!("said by {id}");
        let reply = fixture
            .call(id, "record_message", message(&said))
            .await
            .unwrap();
        sessions.push(reply["session"].as_str().unwrap().to_owned());
        let listed = fixture.call(id, "list_messages", json!({})).await.unwrap();
        assert_eq!(
            listed["session"].as_str(),
            sessions.last().map(String::as_str)
        );
        let listed = listed.to_string();
        assert!(listed.contains(&said), "{listed}");
    }
    assert_ne!(sessions[0], sessions[1]);
    let mut other = message("spoken for another");
    other["session"] = json!(sessions[0]);
    assert_eq!(
        code(fixture.call("codex:b", "record_message", other).await),
        Code::Forbidden
    );
    let in_hello = Hello {
        session: Some(sessions[0].clone()),
        ..hello("lore")
    };
    let args = message("spoken for another");
    let refused = fixture.call_as("codex:b", in_hello, "record_message", args, false);
    assert_eq!(code(refused.await), Code::Forbidden);
    for all in ["forget", "import_session", "pause_capture"] {
        let refused = fixture.call("codex:b", all, json!({"lines": []})).await;
        assert_eq!(code(refused), Code::Forbidden);
    }
    let payload = |id: &str| {
        let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "prompt": "x",
            "cwd": "/", "transcript_path": "/t"});
        json!({"host": "claude-code", "payload": payload.to_string()})
    };
    let refused = fixture.call("claude:a", "record_hook", payload("c")).await;
    assert_eq!(code(refused), Code::Forbidden);
    let own = fixture.call("claude:a", "record_hook", payload("a")).await;
    assert_eq!(own.unwrap()["recorded"], 1);
    let listed = fixture
        .call("claude:a", "list_messages", json!({"session": sessions[0]}))
        .await;
    let listed = listed.unwrap().to_string();
    assert!(!listed.contains("spoken for another"), "{listed}");
}

/// Where no host names a session, the folder of the project has one of its own, for those that can read its key.
#[tokio::test]
async fn a_folder_has_a_session_of_its_own() {
    let fixture = Fixture::new();
    let _serving = fixture.served().await;
    let (here, other) = (fixture.work("here"), fixture.work("other"));
    let call = |folder: PathBuf, name: &'static str, args: Value| {
        let stores = vec![fixture.store()];
        let work = move || {
            let exchange = Exchange::in_folder(&folder, stores).unwrap();
            let args = Args::Json(args.to_string().into_bytes());
            let reply = exchange.call(&hello("lore"), name, &args, false, None)?;
            Ok::<Value, Undelivered>(serde_json::from_slice(&reply.json).unwrap())
        };
        tokio::task::spawn_blocking(work)
    };
    for (folder, said) in [(&here, "said here"), (&other, "said elsewhere")] {
        let reply = call(folder.clone(), "record_message", message(said));
        reply.await.unwrap().unwrap();
    }
    let listed = call(here.clone(), "list_messages", json!({}))
        .await
        .unwrap();
    let listed = listed.unwrap().to_string();
    assert!(
        listed.contains("said here") && !listed.contains("said elsewhere"),
        "{listed}"
    );
    // The key of another folder opens nothing.
    let key = ".lore/mailbox.key";
    let own = fs::read(other.join(key)).unwrap();
    let exchange = Exchange::in_folder(&here, vec![fixture.store()]).unwrap();
    fs::write(here.join(key), own).unwrap();
    let args = Args::Json(b"{}".to_vec());
    let call = move || exchange.call(&hello("lore"), "status", &args, false, None);
    let refused = tokio::task::spawn_blocking(call).await.unwrap();
    assert!(matches!(refused, Err(Undelivered::Unknown)), "{refused:?}");
}

/// A request that another session has sealed does nothing, whatever else it says.
#[tokio::test]
async fn who_does_not_know_the_id_is_not_answered() {
    let fixture = Fixture::new();
    fixture.note("claude:a");
    let _serving = fixture.served().await;
    fixture
        .call("claude:a", "record_message", message("first"))
        .await
        .unwrap();
    let (own, other) = (Seal::of("claude:a"), Seal::of("claude:b"));
    let mailbox = Mailbox::open(&fixture.store(), own.mailbox()).unwrap();
    let mut frames = Vec::new();
    frame::encode_hello(&mut frames, &hello("lore"));
    let args = Args::Json(message("forged").to_string().into_bytes());
    frame::encode_call(&mut frames, 1, "record_message", &args);
    let name = MailName::new();
    let copied = own.close(Direction::Request, &MailName::new(), &frames);
    for file in [other.close(Direction::Request, &name, &frames), copied] {
        mailbox.post_as(&name, &file).unwrap();
        while mailbox.request(&name).unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let listed = fixture.call("claude:a", "list_messages", json!({})).await;
    let listed = listed.unwrap().to_string();
    assert!(
        listed.contains("first") && !listed.contains("forged"),
        "{listed}"
    );
    // The daemon knows no such session at all.
    let unknown = fixture.call("claude:b", "status", json!({})).await;
    assert!(matches!(unknown, Err(Undelivered::Unknown)), "{unknown:?}");
}

/// Writes wait for the next daemon and are recorded once, also if their answer was lost; reads do not wait.
#[tokio::test]
async fn writes_wait_for_the_next_daemon() {
    let fixture = Fixture::new();
    fixture.note("claude:a");
    let serving = fixture.served().await;
    fixture.call("claude:a", "status", json!({})).await.unwrap();
    serving.abort();
    let _ended = serving.await;
    let read = fixture.call("claude:a", "status", json!({})).await;
    assert!(matches!(read, Err(Undelivered::NotRunning)), "{read:?}");
    let waits = fixture.call_as(
        "claude:a",
        hello("lore"),
        "record_message",
        message("later"),
        true,
    );
    let waits = waits.await;
    assert!(matches!(waits, Err(Undelivered::Waits)), "{waits:?}");
    let seal = Seal::of("claude:a");
    let mailbox = Mailbox::open(&fixture.store(), seal.mailbox()).unwrap();
    let [name] = &mailbox.waiting().unwrap()[..] else {
        panic!("one request waits")
    };
    let file = mailbox.request(name).unwrap().unwrap();

    // No hook calls this one before: the session was written down.
    let data = fixture.context().folder.data.clone();
    let bindings = Bindings::in_data(&data);
    assert_eq!(bindings.read(seal.mailbox()).unwrap().id, "claude:a");
    let _serving = fixture.served().await;
    for _ in 0..2 {
        let (own, named) = (
            Mailbox::open(&fixture.store(), seal.mailbox()),
            name.clone(),
        );
        let taken = move || {
            own.unwrap()
                .take_answer(&named, Duration::from_secs(30))
                .unwrap()
        };
        tokio::task::spawn_blocking(taken).await.unwrap();
        // As if the daemon had been killed before it removed the request.
        let again = Mailbox::open(&fixture.store(), seal.mailbox()).unwrap();
        again.post_as(name, &file).unwrap();
    }
    while !mailbox.waiting().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let listed = fixture.call("claude:a", "list_messages", json!({})).await;
    assert_eq!(listed.unwrap()["messages"].as_array().unwrap().len(), 1);
}

/// Links, folders, large files and strange names do nothing, and requests beside them are answered.
#[tokio::test]
async fn junk_does_nothing() {
    let fixture = Fixture::new();
    fixture.note("claude:a");
    let _serving = fixture.served().await;
    fixture.call("claude:a", "status", json!({})).await.unwrap();
    let seal = Seal::of("claude:a");
    let requests = fixture.store().join(seal.mailbox()).join("in");
    let secret = fixture.folder.path().join("secret");
    fs::write(&secret, "of this user").unwrap();
    let put = |name: &str| {
        // As requests arrive.
        let named = requests.join(name);
        fs::rename(requests.join(".draft-junk"), named).unwrap();
    };
    let name = |at: u8| format!("{at:016x}-{at:016x}");
    symlink(&secret, requests.join(".draft-junk")).unwrap();
    put(&name(1));
    fs::write(requests.join(".draft-junk"), "").unwrap();
    put(&name(2));
    let large = fs::File::create(requests.join(".draft-junk")).unwrap();
    large.set_len(1 << 40).unwrap();
    put(&name(3));
    fs::create_dir_all(requests.join(name(4)).join("full")).unwrap();
    fs::write(requests.join("x"), "x").unwrap();
    symlink(
        "/",
        fixture.store().join("00000000000000000000000000000000"),
    )
    .unwrap();
    fs::write(fixture.store().join("file"), "x").unwrap();
    fixture.call("claude:a", "status", json!({})).await.unwrap();
    let is_left = |name: String| fs::symlink_metadata(requests.join(name)).is_ok();
    while (1..=3).any(|at| is_left(name(at))) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(fs::read(&secret).unwrap(), b"of this user");
    let answers = Path::new(&requests).with_file_name("out");
    assert_eq!(fs::read_dir(answers).unwrap().count(), 0);
}

/// The mailbox of a session that ended is removed with what was written down about it, unless a request waits.
#[tokio::test]
async fn the_end_of_a_session_removes_its_mailbox() {
    let fixture = Fixture::new();
    for id in ["claude:a", "claude:b"] {
        fixture.note(id);
    }
    let _serving = fixture.served().await;
    for id in ["claude:a", "claude:b"] {
        fixture.call(id, "status", json!({})).await.unwrap();
    }
    let sessions = &Capture::of(fixture.context()).unwrap().host_sessions;
    sessions.note_end("claude:a");
    let names = ["claude:a", "claude:b"].map(lore::mailbox::name_of);
    while fixture.store().join(&names[0]).exists() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let bindings = Bindings::in_data(&fixture.context().folder.data);
    while bindings.read(&names[0]).is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(bindings.read(&names[1]).is_some());
    // It is made again when the session goes on.
    fixture.call("claude:a", "status", json!({})).await.unwrap();
}
