//! Search costs: each mode against an echo, full text against tantivy and SQLite's FTS5, ingestion, memory.
//!
//! Targets 16 and 18 of docs/performance.md. `cargo bench -p tests --bench search`
//! `LORE_BENCH_SECOND_TIER` is the number of chunks that the second tier embeds (1000): each takes tens of
//! milliseconds.
#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lored_retrieval::text::{Change, IndexedText, Kind, NewText, TextIndex, key};
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexReader, TantivyDocument};
use tests::bench::{
    Corpus, EchoServer, Figure, Home, Lored, Peer, Server, Setup, bench_main, compare,
    folder_bytes, median, one_by_one, print_row, ratio_of_medians, rss_anon_kib, sqlite_fts5,
};

const LORED: &str = env!("CARGO_BIN_EXE_lored-under-test");
/// Sections of a file, each of which becomes a chunk.
const SECTIONS: usize = 100;
/// Number of different queries, used in turn.
const QUERIES: usize = 100;
/// Texts in an indexing batch.
const BATCH: usize = 200;
/// Size of the in-memory segment at which it is written to disk, in bytes; the same as in the daemon.
const FRESH_BYTES_MAX: u64 = 24 << 20;
const POLL: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    if let Some(code) = tests::bench::EchoClient::serve_if_asked() {
        return code;
    }
    bench_main(false, env!("CARGO_TARGET_TMPDIR"), run)
}

fn run(setup: &Setup) {
    println!("\nSearch: four modes, full text beside others, memory");
    let corpus = Corpus::new();
    let count = setup.size(50_000, 1000);
    let texts: Vec<String> = (0..count)
        .map(|number| corpus.text(number as u64))
        .collect();
    let queries = corpus.queries(QUERIES);
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{count} texts of {} bytes", bytes / count);
    indexing(setup, &texts);
    documents(setup, &texts, &queries);
    messages(setup, &corpus);
}

fn scratch(setup: &Setup) -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .prefix("lore-bench-")
        .tempdir_in(&setup.dir);
    folder.expect("a folder for the benchmark's data")
}

/// Target 18: both indexes built from the same texts in one thread, without stored texts.
fn indexing(setup: &Setup, texts: &[String]) {
    let title = "index of texts alone";
    if !setup.wants(title) {
        return;
    }
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..setup.rounds {
        for (index, found) in [index_ours, index_tantivy].iter().zip(&mut found) {
            let folder = scratch(setup);
            let began = Instant::now();
            index(folder.path(), texts);
            let took = began.elapsed().as_secs_f64();
            found.push((took, folder_bytes(folder.path()) as f64));
        }
    }
    print_row(
        title,
        &["seconds", "MB", "x seconds", "x MB"].map(str::to_owned),
    );
    let [ours, theirs] = &found;
    for (name, side) in [("  lored", ours), ("  tantivy", theirs)] {
        let of = |part: fn(&(f64, f64)) -> f64| median(side.iter().map(part));
        let ratio = |part: fn(&(f64, f64)) -> f64| {
            let rounds = side.iter().zip(theirs);
            median(rounds.map(|(one, other)| part(one) / part(other)))
        };
        let columns = [
            format!("{:.2}", of(|one| one.0)),
            format!("{:.1}", of(|one| one.1 / 1e6)),
            format!("{:.2}", ratio(|one| one.0)),
            format!("{:.2}", ratio(|one| one.1)),
        ];
        print_row(name, &columns);
    }
}

fn index_ours(folder: &Path, texts: &[String]) {
    let index = TextIndex::open(folder, 1).expect("an index");
    for (position, batch) in (1..).zip(texts.chunks(BATCH)) {
        let changes: Vec<Change> = (0..)
            .zip(batch)
            .map(|(number, text)| {
                Change::Add(NewText {
                    unit: IndexedText {
                        key: key(position, number),
                        kind: Kind::Document,
                        group: position,
                        session: 0,
                        number,
                        time: 0,
                    },
                    text: text.clone(),
                    before: None,
                })
            })
            .collect();
        index.apply(&changes, position).expect("units are added");
        if index.counts().fresh_bytes >= FRESH_BYTES_MAX {
            index.flush().expect("units are written");
        }
    }
    index.flush().expect("units are written");
}

fn index_tantivy(folder: &Path, texts: &[String]) {
    let _ = tantivy_of(folder, texts);
}

/// Builds an index like ours: words and their frequencies, no texts, no positions.
fn tantivy_of(folder: &Path, texts: &[String]) -> (Index, Field) {
    let mut schema = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer("default")
        .set_index_option(IndexRecordOption::WithFreqs);
    let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(words));
    let index = Index::create_in_dir(folder, schema.build()).expect("an index");
    let mut writer = index
        .writer_with_num_threads(1, 64 << 20)
        .expect("a writer");
    for text in texts {
        let mut document = TantivyDocument::new();
        document.add_text(field, text);
        writer.add_document(document).expect("a document is added");
    }
    writer.commit().expect("documents are written");
    writer.wait_merging_threads().expect("segments are merged");
    (index, field)
}

/// tantivy, searched in process for the top ten.
struct Tantivy {
    reader: IndexReader,
    parser: QueryParser,
    _folder: tempfile::TempDir,
}

impl Tantivy {
    fn new(setup: &Setup, texts: &[String]) -> Self {
        let folder = scratch(setup);
        let (index, field) = tantivy_of(folder.path(), texts);
        Self {
            reader: index.reader().expect("a reader"),
            parser: QueryParser::for_index(&index, vec![field]),
            _folder: folder,
        }
    }

    fn time(&self, duration: Duration, queries: &[String]) -> Figure {
        let mut queries = queries.iter().cycle();
        one_by_one(duration, |_| {
            let Some(query) = queries.next() else {
                return;
            };
            let query = self.parser.parse_query(query).expect("words are a query");
            let best = TopDocs::with_limit(10).order_by_score();
            let found = self.reader.searcher().search(&*query, &best);
            black_box(found.expect("the index is searched"));
        })
    }
}

/// A daemon that has ingested files with the texts.
struct Library {
    home: Home,
    daemon: Option<Server>,
    folder: PathBuf,
}

impl Library {
    /// Writes the files and starts a daemon without the second tier.
    fn new(setup: &Setup, texts: &[String]) -> Self {
        let home = Home::new(&setup.dir, LORED);
        let folder = home.path().join("documents");
        std::fs::create_dir(&folder).expect("a folder for documents");
        for (number, sections) in texts.chunks(SECTIONS).enumerate() {
            let sections = (1..).zip(sections);
            let sections: Vec<String> = sections
                .map(|(number, text)| format!("## Section {number}\n\n{text}\n"))
                .collect();
            let file = folder.join(format!("{number:04}.md"));
            std::fs::write(file, sections.join("\n")).expect("a document is written");
        }
        let mut library = Self {
            home,
            daemon: None,
            folder,
        };
        library.start(None);
        library
    }

    /// Starts the daemon again; `second_tier` is the number of chunks that the second tier embeds.
    fn start(&mut self, second_tier: Option<usize>) {
        if let Some(daemon) = self.daemon.take() {
            daemon.stop();
        }
        self.home.configure(&match second_tier {
            None => "[search]\nsecond_tier = false\n".to_owned(),
            Some(most) => format!("[search]\nsecond_tier_chunks_max = {most}\n"),
        });
        self.daemon = Some(self.home.start());
    }

    fn rss_anon_mib(&self) -> u64 {
        let daemon = self.daemon.as_ref();
        daemon.map_or(0, |daemon| rss_anon_kib(daemon.pid()) / 1024)
    }

    /// Waits for a condition; returns the duration and the peak memory in MiB.
    fn until(&self, mut is_so: impl FnMut(&Home) -> bool) -> (Duration, u64) {
        let began = Instant::now();
        let mut most = 0;
        while !is_so(&self.home) {
            most = most.max(self.rss_anon_mib());
            std::thread::sleep(POLL);
        }
        (began.elapsed(), most.max(self.rss_anon_mib()))
    }

    /// Times calls of `search_documents`, each with another query.
    fn time(&self, duration: Duration, queries: &[String], search_type: &str) -> Figure {
        let mut client = self.client();
        let bodies: Vec<String> = queries
            .iter()
            .map(|query| asked(query, search_type))
            .collect();
        let mut bodies = bodies.iter().cycle();
        one_by_one(duration, |_| {
            if let Some(body) = bodies.next() {
                client.trip(&[body.as_bytes()]);
            }
        })
    }

    fn client(&self) -> Lored {
        Lored::connect(&self.home.socket(), "search_documents", |json| {
            json.ends_with(b"}")
        })
    }
}

fn asked(query: &str, search_type: &str) -> String {
    json!({"query": query, "search_type": search_type}).to_string()
}

/// Returns the status of the index.
fn index_of(home: &Home) -> Value {
    let summary = home.call("get_index_summary", r#"{"detail_level":"comprehensive"}"#);
    summary.get("index").cloned().unwrap_or_default()
}

fn number(of: &Value, name: &str) -> u64 {
    of.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// Targets 16 and 18c, and memory: during ingestion, search, embedding, and idle.
fn documents(setup: &Setup, texts: &[String], queries: &[String]) {
    if !setup.wants("search_documents") {
        return;
    }
    let mut library = Library::new(setup, texts);
    take_in(&library);
    let echo = EchoServer::start(&setup.dir);
    let first = queries.first().map_or("", String::as_str);
    let answer = library.home.call("search_documents", &asked(first, "text"));
    let (request, answer) = (asked(first, "text").len(), answer.to_string().len());
    let echoed = || {
        let mut echo = echo.connect(request, answer);
        one_by_one(setup.duration, |_| echo.trip())
    };
    modes(setup, &library, queries, "first tier", &echoed);
    beside_others(setup, &library, texts, queries, &echoed);
    embed(setup, &mut library);
    modes(setup, &library, queries, "second tier", &echoed);
    let idle = idle(setup);
    std::thread::sleep(idle);
    println!(
        "anonymous memory after {} s without a call: {} MiB",
        idle.as_secs(),
        library.rss_anon_mib()
    );
}

/// Adds the folder as a source and waits until all of it is searchable, with first-tier vectors.
fn take_in(library: &Library) {
    let args = json!({"path": library.folder, "watch": false}).to_string();
    library.home.call("add_source", &args);
    let (took, most) = library.until(|home| {
        let listed = home.call("list_sources", "{}");
        let source = listed.pointer("/sources/0").cloned().unwrap_or_default();
        let is_idle = source.get("state").and_then(Value::as_str) == Some("idle");
        is_idle && source.get("scanned_at").is_some_and(Value::is_string)
    });
    let (more, also) = library.until(|home| number(&index_of(home), "lag") == 0);
    let index = index_of(&library.home);
    println!(
        "search_documents: {} chunks taken in after {:.1} s, all indexed {:.1} s later; at most {} MiB anonymous; \
         index of {:.1} MB",
        number(&index, "units"),
        took.as_secs_f64(),
        more.as_secs_f64(),
        most.max(also),
        number(&index, "bytes") as f64 / 1e6,
    );
}

/// Runs the second tier up to its limit; it ranks from then on.
fn embed(setup: &Setup, library: &mut Library) {
    let most = std::env::var("LORE_BENCH_SECOND_TIER").ok();
    let most = most.and_then(|text| text.parse().ok());
    let most = most.unwrap_or(setup.size(1000, 50));
    library.start(Some(most));
    let (took, memory) = library.until(|home| {
        let index = index_of(home);
        index.get("tier").and_then(Value::as_str) == Some("second")
    });
    let embedded = number(&index_of(&library.home), "embedded");
    println!(
        "second tier: {embedded} chunks embedded in {:.1} s, {:.1} ms each; at most {memory} MiB anonymous",
        took.as_secs_f64(),
        took.as_secs_f64() * 1000.0 / embedded.max(1) as f64,
    );
}

/// Times the four modes against an echo with replies of the same size.
fn modes(
    setup: &Setup,
    library: &Library,
    queries: &[String],
    stage: &str,
    echo: &dyn Fn() -> Figure,
) {
    let time = |search_type: &'static str| {
        Box::new(move || library.time(setup.duration, queries, search_type))
            as Box<dyn Fn() -> Figure>
    };
    let sides = [
        ("text", time("text")),
        ("vector", time("vector")),
        ("hybrid", time("hybrid")),
        ("semantic", time("semantic")),
        ("echo of as much", Box::new(echo) as Box<dyn Fn() -> Figure>),
    ];
    compare(setup, &format!("search_documents, {stage}"), &sides);
}

/// Times full text over the socket, against tantivy in process plus an echo, and against FTS5.
fn beside_others(
    setup: &Setup,
    library: &Library,
    texts: &[String],
    queries: &[String],
    echo: &dyn Fn() -> Figure,
) {
    let tantivy = Tantivy::new(setup, texts);
    let (mut ours, mut theirs, mut echoes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..setup.rounds {
        ours.push(library.time(setup.duration, queries, "text"));
        theirs.push(tantivy.time(setup.duration, queries));
        echoes.push(echo());
    }
    let both: Vec<Figure> = theirs
        .iter()
        .zip(&echoes)
        .map(|(theirs, echo)| Figure::of_quantiles(theirs.p50 + echo.p50, theirs.p99 + echo.p99))
        .collect();
    let mut rows = vec![
        ("lored, over the socket", ours.clone()),
        ("tantivy, in process", theirs),
        ("tantivy and an echo", both),
    ];
    let files = scratch(setup);
    let write = |name: &str, lines: &[String]| {
        let path = files.path().join(name);
        std::fs::write(&path, lines.join("\n")).expect("texts are written");
        path
    };
    let (texts, queries) = (write("texts", texts), write("queries", queries));
    match sqlite_fts5(&setup.dir, &texts, &queries) {
        Some(found) => rows.extend([
            (
                "SQLite FTS5, in process, AND",
                vec![found.and; setup.rounds],
            ),
            ("SQLite FTS5, in process, OR", vec![found.or; setup.rounds]),
        ]),
        None => println!("no Python with SQLite's FTS5: left out"),
    }
    print_row(
        "the ten best by BM25",
        &["p50 us", "p99 us", "lored is"].map(str::to_owned),
    );
    for (name, figures) in &rows {
        let columns = [
            format!("{:.1}", median(figures.iter().map(|figure| figure.p50))),
            format!("{:.1}", median(figures.iter().map(|figure| figure.p99))),
            format!(
                "{:.3} x",
                ratio_of_medians(&ours, figures, |figure| figure.p50)
            ),
        ];
        print_row(&format!("  {name}"), &columns);
    }
}

/// Idle time before memory is measured.
fn idle(setup: &Setup) -> Duration {
    let seconds = std::env::var("LORE_BENCH_IDLE_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(if setup.small { 1 } else { 60 }))
}

/// Target 18b: an index of messages with first-tier vectors, rebuilt from the log.
fn messages(setup: &Setup, corpus: &Corpus) {
    let title = "messages";
    if !setup.wants(title) {
        return;
    }
    let count = setup.size(5900, 200);
    let home = Home::new(&setup.dir, LORED);
    home.configure("[search]\nsecond_tier = false\n");
    let daemon = home.start();
    home.create_sessions(1);
    let bodies: Vec<String> = (0..count)
        .map(|number| {
            let text: String = corpus.text(number as u64).chars().take(280).collect();
            json!({"session": "bench-0", "sender": "user", "content": text}).to_string()
        })
        .collect();
    let mut client = Lored::connect(&home.socket(), "record_message", |json| {
        json.ends_with(b"}")
    });
    for batch in bodies.chunks(32) {
        let batch: Vec<&[u8]> = batch.iter().map(String::as_bytes).collect();
        client.trip(&batch);
    }
    daemon.stop();
    let mut found = Vec::new();
    for _ in 0..setup.rounds {
        // The index is missing if the daemon stopped before it created one.
        let _ = std::fs::remove_dir_all(home.path().join("data/index"));
        let daemon = home.start();
        let began = Instant::now();
        while home
            .call("search", r#"{"query":"nobody","search_type":"vector"}"#)
            .get("partial")
            .is_some()
        {}
        found.push(began.elapsed().as_secs_f64());
        daemon.stop();
    }
    println!(
        "{title}: {count} of 280 bytes, indexed again with text and first-tier vectors, found after {:.2} s",
        median(found)
    );
}
