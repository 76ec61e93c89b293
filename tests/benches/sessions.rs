//! Session operations: context packs, entity recognition, messages, and their growth with the store.
//!
//! Targets 11, 23 and 24 of docs/performance.md. `cargo bench -p tests --bench sessions`

use std::fmt::Write;
use std::hint::black_box;
use std::process::ExitCode;

use lored_recognise::{Gazetteer, Knowledge, KnownName, PackSet, recognise};
use tests::bench::{
    EchoServer, Figure, Home, Lored, Peer, Random, Server, Setup, arguments, bench_main, compare,
    median, one_by_one, print_row, ratio_of_medians, so_often,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");

fn main() -> ExitCode {
    if let Some(code) = tests::bench::EchoClient::serve_if_asked() {
        return code;
    }
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    println!("\nSessions: context packs, messages, entities");
    context_packs(setup);
    recognition(setup);
    messages(setup);
    growth(setup);
}

/// Returns the name of a device in a form that the entity packs recognise.
fn device(number: u64) -> String {
    format!("dc{:03}-leaf-{:03}", number / 100, number % 100)
}

/// Returns prose of about `bytes` with a device name about every 200 bytes.
fn prose(random: &mut Random, bytes: usize, mut name: impl FnMut(&mut Random) -> String) -> String {
    const WORDS: [&str; 24] = [
        "The",
        "uplink",
        "was",
        "seen",
        "flapping",
        "again",
        "after",
        "maintenance",
        "and",
        "nobody",
        "knows",
        "whether",
        "replacing",
        "optics",
        "helps",
        "before",
        "Monday",
        "so",
        "please",
        "look",
        "into",
        "logs",
        "of",
        "neighbours,",
    ];
    let mut text = String::new();
    while text.len() < bytes {
        let _ = match random.below(32) {
            0 => write!(text, "{} ", name(random)),
            1 => write!(text, "{} times. ", random.below(100)),
            number => write!(
                text,
                "{} ",
                WORDS.get(number as usize % 24).copied().unwrap_or("")
            ),
        };
    }
    text
}

/// Entities named in each message of a [`SessionDaemon`].
const NAMED_EACH: u64 = 2;

/// A daemon with one session, `bench-0`, and known devices.
struct SessionDaemon {
    home: Home,
    _daemon: Server,
    entities: u64,
}

impl SessionDaemon {
    fn new(setup: &Setup, messages: u64, entities: u64) -> Self {
        let home = Home::new(&setup.dir, LORED);
        let daemon = home.start();
        home.create_sessions(1);
        let talk = Self {
            home,
            _daemon: daemon,
            entities,
        };
        let mut random = Random::new(11);
        let bodies: Vec<Vec<u8>> = (0..messages)
            .map(|number| {
                let mut text = prose(&mut random, 200, |_| "it".to_owned());
                for named in number * NAMED_EACH..(number + 1) * NAMED_EACH {
                    let _ = write!(text, "{} ", device(named % entities));
                }
                message(&text)
            })
            .collect();
        talk.send("record_message", &bodies);
        talk
    }

    fn client(&self, operation: &'static str) -> Lored {
        Lored::connect(&self.home.socket(), operation, |json| json.ends_with(b"}"))
    }

    fn send(&self, operation: &'static str, bodies: &[Vec<u8>]) {
        let mut client = self.client(operation);
        for batch in bodies.chunks(32) {
            let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
            client.trip(&batch);
        }
    }

    fn any(&self, random: &mut Random) -> String {
        device(random.below(self.entities))
    }

    /// Times a call whose body depends on the number of previous calls.
    fn time(
        &self,
        setup: &Setup,
        operation: &'static str,
        body: impl Fn(u64, &mut Random) -> String,
    ) -> Figure {
        let mut client = self.client(operation);
        let mut random = Random::new(7);
        one_by_one(setup.duration, |count| {
            client.trip(&[body(count, &mut random).as_bytes()]);
        })
    }

    /// Prepares texts of 1 KB that name its devices: few, so that they stay in caches.
    fn texts(&self) -> Vec<String> {
        let mut random = Random::new(13);
        let texts = (0..64).map(|_| prose(&mut random, 1024, |random| self.any(random)));
        texts.collect()
    }

    /// Times few calls that record a message, because they grow the measured store.
    fn time_record(&self) -> Figure {
        let mut client = self.client("record_message");
        let bodies: Vec<Vec<u8>> = self.texts().iter().map(|text| message(text)).collect();
        let mut bodies = bodies.iter().cycle();
        so_often(CALLS, |_| {
            if let Some(body) = bodies.next() {
                client.trip(&[body]);
            }
        })
    }
}

/// Calls of a growth measurement that records something.
const CALLS: usize = 300;

/// Returns the arguments of a `record_message`. The text contains nothing that JSON escapes.
fn message(text: &str) -> Vec<u8> {
    format!(r#"{{"session":"bench-0","sender":"user","content":"{text}"}}"#).into_bytes()
}

/// Target 23: a context pack of 4000 tokens from many candidates.
fn context_packs(setup: &Setup) {
    let title = "context pack of 4000 tokens";
    if !setup.wants(title) {
        return;
    }
    let messages = setup.size(10_000, 200) as u64;
    let talk = SessionDaemon::new(setup, messages, messages / 2);
    // The newest messages are long, so that the pack is full.
    let mut random = Random::new(17);
    let steps = [(); 3].map(|()| {
        let result = prose(&mut random, 8 << 10, |random| talk.any(random));
        arguments("bench-0", &format!("\"{result}\""))
    });
    talk.send("record_step", &steps);
    let long = [(); 5].map(|()| message(&prose(&mut random, 2 << 10, |random| talk.any(random))));
    talk.send("record_message", &long);
    let ask = |count: u64, name: &str| {
        format!(
            r#"{{"session":"bench-0","message":"How is {name} doing, for question {count}?","max_tokens":4000}}"#
        )
    };
    let same = ask(0, &device(1));
    let pack = talk.home.call("enrich_message", &same);
    let bytes = pack.to_string().len();
    println!(
        "a pack has {} tokens, its answer {bytes} bytes",
        pack.get("tokens")
            .map_or(0, |tokens| tokens.as_u64().unwrap_or(0))
    );
    let echo = EchoServer::start(&setup.dir);
    compare(
        setup,
        title,
        &[
            (
                "enrich_message, another message",
                Box::new(|| {
                    let round = Random::new(u64::from(std::process::id())).below(1 << 40);
                    talk.time(setup, "enrich_message", |count, random| {
                        ask(round + count, &talk.any(random))
                    })
                }),
            ),
            (
                "enrich_message, the same message",
                Box::new(|| talk.time(setup, "enrich_message", |_, _| same.clone())),
            ),
            (
                "echo of as much",
                Box::new(|| {
                    let mut echo = echo.connect(same.len(), bytes);
                    one_by_one(setup.duration, |_| echo.trip())
                }),
            ),
        ],
    );
}

/// Target 24: recognition in process, with few and with many known names, in the same text.
fn recognition(setup: &Setup) {
    let title = "recognition";
    if !setup.wants(title) {
        return;
    }
    let packs = PackSet::built_in().expect("the built-in packs are good");
    let many = setup.size(100_000, 1000) as u64;
    let gazetteer = |names: u64| {
        Gazetteer::new((0..names).map(|number| {
            let name = device(number);
            KnownName::new("device", &name, &name)
        }))
    };
    let of_many = format!("{many} known names");
    let sides = [
        (of_many.as_str(), gazetteer(many)),
        ("10 known names", gazetteer(10)),
    ];
    for bytes in [1 << 10, 256 << 10] {
        let mut random = Random::new(19);
        let text = prose(&mut random, bytes, |random| device(random.below(10)));
        table(
            setup,
            &format!("known names alone, {bytes} bytes"),
            &text,
            &sides,
            |known| {
                let mut found = 0;
                known.search(&text, |_, _, _| found += 1);
                found
            },
        );
        table(
            setup,
            &format!("all of recognition, {bytes} bytes"),
            &text,
            &sides,
            |known| {
                let gazetteers = [known];
                let knowledge = Knowledge {
                    gazetteers: &gazetteers,
                    source: lored_recognise::TextSource::Person,
                    ..Knowledge::default()
                };
                recognise(&packs, &text, &knowledge).matches.len()
            },
        );
    }
}

/// Searches one text with each gazetteer; the last one is the baseline.
fn table(
    setup: &Setup,
    title: &str,
    text: &str,
    sides: &[(&str, Gazetteer)],
    search: impl Fn(&Gazetteer) -> usize,
) {
    let mut found: Vec<Vec<Figure>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..setup.rounds {
        for ((_, known), figures) in sides.iter().zip(&mut found) {
            figures.push(one_by_one(setup.duration / 2, |_| {
                black_box(search(known));
            }));
        }
    }
    print_row(title, &["MB/s", "finds", "x p50"].map(str::to_owned));
    let baseline = found.last().cloned().unwrap_or_default();
    for ((name, known), figures) in sides.iter().zip(&found) {
        let p50 = median(figures.iter().map(|figure| figure.p50));
        let columns = [
            format!("{:.1}", text.len() as f64 / p50),
            search(known).to_string(),
            format!(
                "{:.3}",
                ratio_of_medians(figures, &baseline, |figure| figure.p50)
            ),
        ];
        print_row(&format!("  {name}"), &columns);
    }
}

/// The cost of a message compared with a step of the same size, and the cost of its entities.
fn messages(setup: &Setup) {
    let title = "recording 1 KB of prose";
    if !setup.wants(title) {
        return;
    }
    let talk = SessionDaemon::new(setup, 500, 1000);
    let plain = vec![prose(&mut Random::new(23), 1024, |_| "it".to_owned())];
    let naming = talk.texts();
    let time = |operation, texts: &[String], body: &dyn Fn(&str) -> Vec<u8>| {
        let mut client = talk.client(operation);
        let bodies: Vec<Vec<u8>> = texts.iter().map(|text| body(text)).collect();
        let mut bodies = bodies.iter().cycle();
        one_by_one(setup.duration, |_| {
            if let Some(body) = bodies.next() {
                client.trip(&[body]);
            }
        })
    };
    let step = |text: &str| arguments("bench-0", &format!("\"{text}\""));
    let message = |texts| time("record_message", texts, &message);
    let step = |texts| time("record_step", texts, &step);
    compare(
        setup,
        title,
        &[
            (
                "record_message, some 5 devices",
                Box::new(|| message(&naming)),
            ),
            ("record_step, some 5 devices", Box::new(|| step(&naming))),
            (
                "record_message, naming nothing",
                Box::new(|| message(&plain)),
            ),
            ("record_step, naming nothing", Box::new(|| step(&plain))),
        ],
    );
}

/// A label and its timed operation.
type BenchSide<'s> = (&'s str, Box<dyn Fn() -> Figure + 's>);

/// Target 11: the cost of an operation does not grow with the store.
fn growth(setup: &Setup) {
    let [many, few] = [setup.size(10_000, 1000) as u64, 100];
    let names = [many, few].map(|entities| format!("{entities} known entities"));
    let [of_many, of_few] = &names;
    let table = |operation: &str, time: &dyn Fn(&SessionDaemon) -> Figure| {
        if !setup.wants(operation) {
            return;
        }
        let [many, few] =
            [many, few].map(|known| SessionDaemon::new(setup, known / NAMED_EACH, known));
        let sides: [BenchSide<'_>; 2] = [
            (of_many, Box::new(|| time(&many))),
            (of_few, Box::new(|| time(&few))),
        ];
        compare(setup, operation, &sides);
    };
    table("record_message", &SessionDaemon::time_record);
    table("list_entities, the first 50", &|talk| {
        talk.time(setup, "list_entities", |_, _| {
            r#"{"session":"bench-0","limit":50}"#.to_owned()
        })
    });
    table("get_entity, any", &|talk| {
        talk.time(setup, "get_entity", |_, random| {
            format!(r#"{{"session":"bench-0","name":"{}"}}"#, talk.any(random))
        })
    });
}
