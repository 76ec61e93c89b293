//! Following the log: every follower receives every matching event once and in order, through reconnects and a
//! kill -9; long polls do not block other calls.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lore::connection::{Connection, Error};
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Code};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::ledger::{Ledger, read_log, record};
use tests::{Daemon, Home, Random, call, has, home, seed, serve, until};

const WRITERS: usize = 8;
/// Time limit for every wait.
const LONG: Duration = Duration::from_secs(60);

fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

/// Creates a Hello in the folder in which `lore` also runs: a working set belongs to an agent in a project.
fn hello(agent: &str) -> Hello {
    Hello {
        client: "tests/1".to_owned(),
        agent: Some(agent.to_owned()),
        cwd: Some("/".to_owned()),
        ..Hello::default()
    }
}

/// Process id of the current daemon; 0 while there is none.
struct Stage<'s> {
    socket: &'s std::path::Path,
    /// Position after which followers stop; 0 while unknown.
    end: AtomicU64,
    acknowledged: AtomicU64,
}

impl Stage<'_> {
    /// Connects as soon as a daemon serves.
    fn connect(&self, agent: &str) -> Connection {
        until("a daemon", LONG, || {
            Connection::connect(self.socket, &hello(agent)).ok()
        })
    }
}

/// Records `steps` in sequence, whatever happens to the daemon meanwhile.
fn write(stage: &Stage<'_>, writer: usize, steps: usize) -> Ledger {
    let session = format!("w{writer}");
    let mut ledger = Ledger::default();
    let mut connection = stage.connect(&session);
    for step in 0..steps {
        let key = format!("w{writer}-{step:04}");
        let answer = loop {
            match record(&mut connection, &session, &key) {
                Ok(answer) => break answer,
                Err(error) if error.is_lost_connection() => connection = stage.connect(&session),
                Err(error) => panic!("{key}: {error}"),
            }
        };
        ledger.acknowledged.insert(key, answer);
        stage.acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    ledger
}

/// A follower's filter, and whether it uses a durable cursor.
struct Follower {
    filter: Value,
    cursor: Option<&'static str>,
}

fn followers() -> Vec<Follower> {
    let follower = |filter: Value, cursor| Follower { filter, cursor };
    vec![
        follower(json!({}), None),
        follower(json!({"session": "w1"}), None),
        follower(json!({"agent": "w2"}), None),
        follower(json!({"not_agent": "w3"}), None),
        follower(json!({"kinds": ["StepRecorded"]}), None),
        follower(json!({}), Some("everything")),
        follower(json!({"agent": "w6", "kinds": "SessionCreated"}), None),
        follower(json!({"session": "w7"}), Some("seven")),
    ]
}

/// Whether an event matches a follower's filter, implemented independently.
fn is_wanted(filter: &Value, event: &Value) -> bool {
    let is = |name: &str, field: &str| filter[name].is_null() || filter[name] == event[field];
    let kinds = &filter["kinds"];
    let kind = event["kind"].as_str().unwrap();
    is("session", "session")
        && is("agent", "agent")
        && (filter["not_agent"].is_null() || filter["not_agent"] != event["agent"])
        && (kinds.is_null() || kinds.to_string().contains(&format!("\"{kind}\"")))
}

impl Follower {
    /// Follows until the end; returns the received positions. Disconnects at random.
    fn follow(&self, stage: &Stage<'_>, random: &mut Random) -> Vec<u64> {
        let mut seen: Vec<u64> = Vec::new();
        let mut next = 1;
        // The last acknowledged commit and the last sent one: the stored cursor is between them.
        let (mut promised, mut sent) = (1, 1);
        loop {
            let mut connection = stage.connect("reader");
            if let Some(name) = self.cursor {
                let Ok(kept) = place(&mut connection, name) else {
                    continue;
                };
                assert!(kept == promised || kept == sent, "{name}: {kept}");
                (promised, sent) = (kept, kept);
                // Events that were not committed arrive again.
                seen.retain(|position| *position < kept);
                next = kept;
            }
            while random.range(0, 8) > 0 {
                let Ok(reply) = self.turn(&mut connection, next, random) else {
                    break;
                };
                let positions = reply["events"].as_array().unwrap().iter();
                seen.extend(positions.map(|event| number(&event["position"])));
                assert!(number(&reply["next"]) >= next, "{reply}");
                next = number(&reply["next"]);
                if let Some(name) = self.cursor {
                    sent = next;
                    let args = json!({"name": name, "position": next});
                    if call(&mut connection, "commit_cursor", args).is_err() {
                        break;
                    }
                    promised = next;
                }
                let end = stage.end.load(Ordering::Relaxed);
                if end > 0 && next > end {
                    return seen;
                }
            }
        }
    }

    fn turn(
        &self,
        connection: &mut Connection,
        next: u64,
        random: &mut Random,
    ) -> Result<Value, Error> {
        let mut args = self.filter.clone();
        match self.cursor {
            Some(name) if next > 1 => args["cursor"] = json!(name),
            _ => args["from"] = json!(next),
        }
        args["limit"] = json!(random.range(1, 30));
        args["wait_ms"] = json!(random.range(0, 100));
        call(connection, "follow_events", args)
    }
}

/// Returns the position of a cursor; 1 if it is missing.
fn place(connection: &mut Connection, name: &str) -> Result<u64, Error> {
    let reply = call(connection, "list_cursors", json!({}))?;
    let cursors = reply["cursors"].as_array().unwrap();
    let found = cursors.iter().find(|cursor| cursor["name"] == name);
    Ok(found.map_or(1, |cursor| number(&cursor["cursor"])))
}

/// Eight writers, eight followers with separate filters that disconnect at random, and a kill -9 with a restart in
/// the middle. Each follower gets every matching event of the log once and in order, with its own position or with
/// a durable cursor. Every acknowledged step is among them.
#[test]
fn followers_miss_nothing_and_see_nothing_twice() {
    let seed = seed();
    println!("seed {seed}");
    let home = home!();
    home.configure("log = \"warn\"\n");
    let socket = home.socket();
    let stage = Stage {
        socket: &socket,
        end: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
    };
    let daemon = home.start();
    for writer in 0..WRITERS {
        let name = format!("w{writer}");
        let mut connection = daemon.connect(&name);
        call(&mut connection, "create_session", json!({"session": name})).unwrap();
    }
    let followers = followers();
    let (daemon, ledger, seen) = std::thread::scope(|scope| {
        let (stage, home) = (&stage, &home);
        let following: Vec<_> = (0..)
            .zip(&followers)
            .map(|(at, follower)| {
                let mut random = Random::new(seed.wrapping_add(at));
                scope.spawn(move || follower.follow(stage, &mut random))
            })
            .collect();
        let writing: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(stage, writer, 40)))
            .collect();
        until("half of the steps", LONG, || {
            (stage.acknowledged.load(Ordering::Relaxed) > 150).then_some(())
        });
        daemon.kill();
        let daemon = home.start();
        let mut ledger = Ledger::default();
        for writer in writing {
            ledger
                .acknowledged
                .extend(writer.join().unwrap().acknowledged);
        }
        let status = daemon.call("status", json!({}));
        stage
            .end
            .store(number(&status["position"]), Ordering::Relaxed);
        let seen: Vec<_> = following
            .into_iter()
            .map(|each| each.join().unwrap())
            .collect();
        (daemon, ledger, seen)
    });
    ledger
        .check(&daemon, 1)
        .unwrap_or_else(|lost| panic!("{lost}"));
    let log = read_log(&daemon, 1).unwrap();
    for (follower, seen) in followers.iter().zip(&seen) {
        let wanted = log
            .iter()
            .filter(|event| is_wanted(&follower.filter, event));
        let wanted: Vec<u64> = wanted.map(|event| number(&event["position"])).collect();
        assert!(!wanted.is_empty(), "{}", follower.filter);
        assert_eq!(seen, &wanted, "{} {:?}", follower.filter, follower.cursor);
    }
    println!(
        "{} events, {} acknowledged steps",
        log.len(),
        ledger.acknowledged.len()
    );
    daemon.stop();
}

fn send(connection: &mut Connection, name: &str, args: &Value) -> u64 {
    let args = Args::Json(args.to_string().into_bytes());
    connection.send(name, &args).unwrap()
}

fn receive(connection: &mut Connection, id: u64) -> Result<Value, Error> {
    let reply = connection.receive(id)?;
    Ok(serde_json::from_slice(&reply.json).unwrap())
}

fn step(daemon: &Daemon, agent: &str) -> u64 {
    let mut connection = Connection::connect(daemon.socket(), &hello(agent)).unwrap();
    let reply = call(
        &mut connection,
        "record_step",
        json!({"tool": "t", "result": "1"}),
    );
    number(&reply.unwrap()["position"])
}

/// With the maximum number of long polls on a connection, ordinary calls are answered and one more long poll is
/// refused with the limit. One commit answers all long polls.
#[test]
fn waiting_calls_hold_up_nobody() {
    let (_home, daemon) = serve!();
    let before = step(&daemon, "w");
    let waiting = json!({"from": before + 1, "wait_ms": 1_000_000_000_u64});
    let mut others: Vec<Connection> = (0..100).map(|_| daemon.connect("other")).collect();
    for other in &mut others {
        send(other, "follow_events", &waiting);
    }
    let mut connection = daemon.connect("reader");
    let ids: Vec<u64> = (0..16)
        .map(|_| send(&mut connection, "follow_events", &waiting))
        .collect();
    match call(&mut connection, "follow_events", waiting.clone()) {
        Err(Error::Refused(body)) => assert_eq!(body.code, Code::RateLimited, "{body:?}"),
        other => panic!("{other:?}"),
    }
    let now = json!({"from": before});
    let reply = call(&mut connection, "follow_events", now).unwrap();
    assert_eq!(reply["events"].as_array().unwrap().len(), 1, "{reply}");
    for _ in 0..100 {
        call(&mut connection, "status", json!({})).unwrap();
    }
    let position = step(&daemon, "w");
    for id in ids {
        let reply = receive(&mut connection, id).unwrap();
        let first = &reply["events"][0];
        assert_eq!(first["position"], before + 1, "{reply}");
        assert_eq!(reply["next"], number(&reply["position"]) + 1);
        assert!(number(&reply["position"]) <= position);
    }
}

/// A long poll ends with its partial result when it is cancelled, its connection ends, or the daemon stops;
/// its `next` is still the position to continue from.
#[test]
fn waiting_ends_with_who_waits() {
    let (_home, daemon) = serve!();
    let next = step(&daemon, "w") + 1;
    let waiting = json!({"from": next, "wait_ms": 30_000});
    let mut connection = daemon.connect("reader");
    let id = send(&mut connection, "follow_events", &waiting);
    connection.cancel(id).unwrap();
    let reply = receive(&mut connection, id).unwrap();
    has(&reply, json!({"next": next, "caught_up": true}));

    let mut gone = daemon.connect("gone");
    send(&mut gone, "follow_events", &waiting);
    let clients = || number(&daemon.call("status", json!({}))["clients"]);
    until("three clients", LONG, || (clients() == 3).then_some(()));
    drop(gone);
    until("two clients", LONG, || (clients() == 2).then_some(()));

    let id = send(&mut connection, "follow_events", &waiting);
    // It has started: an earlier call on the connection has been answered.
    call(&mut connection, "status", json!({})).unwrap();
    daemon.stop();
    let reply = receive(&mut connection, id).unwrap();
    assert_eq!(reply["next"], next);
    assert_eq!(reply["events"], json!([]));
}

/// Changes by others since the caller's last event, without the caller's own.
#[test]
fn what_others_did_since_the_last_turn() {
    let (_home, daemon) = serve!();
    let connect = |agent: &str| {
        let hello = hello(agent);
        Connection::connect(daemon.socket(), &hello).unwrap()
    };
    let mut mine = connect("me");
    step(&daemon, "other");
    let last = step(&daemon, "me");
    let theirs = [step(&daemon, "other"), step(&daemon, "third")];
    let turn = |connection: &mut Connection| {
        let reply = call(
            connection,
            "follow_events",
            json!({"since_last_turn": true}),
        )
        .unwrap();
        let events = reply["events"].as_array().unwrap().clone();
        let steps = events
            .iter()
            .filter(|event| event["kind"] == "StepRecorded");
        let found: Vec<u64> = steps.map(|event| number(&event["position"])).collect();
        (found, number(&reply["next"]))
    };
    let (found, next) = turn(&mut mine);
    assert_eq!(found, theirs);
    assert!(last < theirs[0]);
    let own = step(&daemon, "me");
    let reply = call(
        &mut mine,
        "follow_events",
        json!({"from": next, "others": true}),
    )
    .unwrap();
    assert_eq!(reply["events"], json!([]));
    assert_eq!(reply["next"], own + 1);
    assert!(turn(&mut mine).0.is_empty());
    // An agent without events sees all changes.
    assert_eq!(turn(&mut connect("new")).0.len(), 5);
}

/// Invalid positions and cursors are refused with the valid ones.
#[test]
fn wrong_places_are_refused() {
    let (home, daemon) = serve!();
    let tail = step(&daemon, "w");
    daemon.call(
        "commit_cursor",
        json!({"name": "index", "position": tail + 1}),
    );
    let (at, beyond) = (tail.to_string(), (tail + 2).to_string());
    let (kinds, long) = (vec![r#""K""#; 101].join(","), "x".repeat(129));
    let values = [
        ("$at", &*at),
        ("$beyond", &beyond),
        ("$kinds", &kinds),
        ("$long", &long),
    ];
    daemon.refuses(include_str!("wrong_places.txt"), &values);
    let back = daemon.refusal("commit_cursor", json!({"name": "index", "position": 1}));
    assert_eq!(back.code, Code::Conflict);
    daemon.stop();

    // The cursors of one store with the log of another.
    let other = home!();
    other.start().stop();
    std::fs::copy(home.data().join("cursors"), other.data().join("cursors")).unwrap();
    let daemon = other.start();
    let body = daemon.refusal("follow_events", json!({"cursor": "index"}));
    assert!(
        body.message.contains("of another store"),
        "{}",
        body.message
    );
    let body = daemon.refusal("commit_cursor", json!({"name": "index", "position": 1}));
    assert_eq!(body.code, Code::Conflict);
    let listed = daemon.call("list_cursors", json!({}));
    assert_eq!(listed["cursors"][0]["foreign"], true);
    daemon.call(
        "commit_cursor",
        json!({"name": "index", "position": 1, "reset": true}),
    );
    daemon.call("follow_events", json!({"cursor": "index"}));
    for name in ["a", "b", "c"] {
        daemon.call("commit_cursor", json!({"name": name, "position": 1}));
    }
    let page = daemon.call("list_cursors", json!({"limit": 2}));
    let page = daemon.call("list_cursors", json!({"limit": 2, "next": page["next"]}));
    assert_eq!(page["cursors"][1]["name"], "index", "{page}");
    assert!(page["next"].is_null());
    let body = daemon.refusal("list_cursors", json!({"next": "m-00000000-1"}));
    assert!(body.message.contains("list_messages"), "{}", body.message);
}

/// A running `lore tail` whose output the test reads.
struct Tail {
    child: Child,
    from: BufReader<ChildStdout>,
}

impl Tail {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .env_clear()
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", "/nonexistent/lored")
            .current_dir("/")
            .args(["--agent", "me", "tail"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, from }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    fn position(&mut self) -> u64 {
        let event: Value = serde_json::from_str(&self.line()).unwrap();
        number(&event["position"])
    }

    /// Returns its exit code.
    fn end(mut self) -> Option<i32> {
        let Self { child, from } = &mut self;
        let mut rest = String::new();
        assert_eq!(from.read_line(&mut rest).unwrap(), 0, "{rest}");
        child.wait().unwrap().code()
    }
}

/// `lore tail` prints each event once, through a kill -9 of the daemon. A cursor keeps its position between runs.
/// It exits with success when interrupted, and when its output is closed.
#[test]
fn tail_goes_on_where_it_was() {
    let (home, daemon) = serve!();
    let tail = ["--json", "--from", "1", "--cursor", "tail"];
    let mut tail = Tail::start(&home, &tail);
    let last = step(&daemon, "w");
    for position in 1..=last {
        assert_eq!(tail.position(), position);
    }
    daemon.kill();
    let daemon = home.start();
    assert_eq!(step(&daemon, "w"), last + 1);
    assert_eq!(tail.position(), last + 1);
    let place = || daemon.call("list_cursors", json!({}))["cursors"][0]["cursor"].clone();
    until("the cursor", LONG, || (place() == last + 2).then_some(()));
    let pid = Pid::from_raw(tail.child.id() as i32).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(tail.end(), Some(0));

    let others = step(&daemon, "other");
    let again = Tail::start(
        &home,
        &["--no-follow", "--cursor", "tail", "--agent", "nobody"],
    );
    assert_eq!(again.end(), Some(0), "an empty list is a success");
    let mut again = Tail::start(&home, &["--no-follow", "--json", "--cursor", "tail"]);
    // A new agent's first step creates its session.
    assert_eq!([again.position(), again.position()], [others - 1, others]);
    assert_eq!(again.end(), Some(0));

    step(&daemon, "me");
    let since = step(&daemon, "other");
    let mut tail = Tail::start(&home, &["--since", "--kind", "StepRecorded"]);
    let line = tail.line();
    assert!(line.contains(" other s-"), "{line}");
    assert!(line.contains("step ") && line.contains(" t"), "{line}");
    step(&daemon, "me");
    assert_eq!(step(&daemon, "other"), since + 2);
    assert!(tail.line().contains(" other s-"));
    drop(tail.from);
    step(&daemon, "other");
    assert_eq!(tail.child.wait().unwrap().code(), Some(0));
}
