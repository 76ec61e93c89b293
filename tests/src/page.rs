//! Documentation pages whose examples are run: code blocks, commands with their output, and the comparison of a
//! page with a run, which ignores ids, times, sizes and scores.
//!
//! Output is compared as text or, where the page has JSON, as JSON: the page may break it over lines, and `…` in an
//! object or a list means omitted parts.

use serde_json::{Map, Value};

use crate::ColdHome;

/// Placeholder for fields and elements that a page omits.
const LEFT_OUT: &str = "…";

/// Shapes of values that differ between runs: `0` is a digit, `x` a letter or digit.
const TIMES: [&str; 4] = [
    "0000-00-00 00:00:00",
    "0000-00-00T00:00:00.000000Z",
    "0000-00-00T00:00:00.000Z",
    "0000-00-00",
];
const IDS: [&str; 8] = [
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
    "s-xxxxxxxxxxxxxxxx",
    "m-xxxxxxxxxxxxxxxx",
    "t-xxxxxxxxxxxxxxxx",
    "p-xxxxxxxxxxxxxxxx",
    "doc-xxxxxxxxxxxxxxxx",
    "source-xxxxxxxxxxxxxxxx",
    "agents-xxxxxxxx",
];
const SCORES: [&str; 2] = ["-0.0000", "0.0000"];

/// Text before a cursor.
const CURSOR: &str = "--next ";

/// Working folder of a page's commands, as pages name it.
const FOLDER: &str = "/home/ada/agents";

/// Returns the blocks of a language, in order.
pub fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    // A longer fence may contain shorter ones.
    let fence = if page.contains(&format!("\n````{language}\n")) {
        "````"
    } else {
        "```"
    };
    page.split(&format!("\n{fence}{language}\n"))
        .skip(1)
        .map(|rest| {
            let end = rest.find(&format!("\n{fence}\n")).expect("a block's end");
            rest.split_at(end).0
        })
        .collect()
}

/// A command at a prompt, with its continuation lines and its output.
pub struct Example {
    /// Command line.
    pub command: String,
    /// Output according to the page.
    pub output: String,
}

/// Parses the examples of a `console` block.
pub fn examples(block: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Example {
                command: command.to_owned(),
                output: String::new(),
            });
        } else if let Some(last) = found.last_mut() {
            let continued = line.strip_prefix("> ").filter(|_| last.output.is_empty());
            let (text, line) = match continued {
                Some(more) => (&mut last.command, more),
                None => (&mut last.output, line),
            };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
    }
    found
}

/// Runs the commands of a page.
pub struct Reader<'c> {
    cold: &'c ColdHome,
    /// Ids of the page, and those of the run.
    pub pairs: IdPairs,
    /// Variables set by `export`.
    environment: Vec<(String, String)>,
    /// Output of the last command.
    pub printed: String,
}

impl<'c> Reader<'c> {
    /// Creates a reader that has not run any command.
    pub fn new(cold: &'c ColdHome) -> Self {
        Self {
            cold,
            pairs: IdPairs::default(),
            environment: Vec::new(),
            printed: String::new(),
        }
    }

    /// Runs the commands of a block and compares their output; returns the number of commands.
    pub fn read(&mut self, block: &str) -> usize {
        let mut commands = 0;
        for example in examples(block) {
            if let Some((name, value)) = exported(&example.command) {
                let value = self.pairs.translate(value);
                self.environment.push((name.to_owned(), value));
                continue;
            }
            self.try_read(&example)
                .unwrap_or_else(|error| panic!("$ {}\n{error}", example.command));
            commands += 1;
        }
        commands
    }

    /// Runs a command and compares its output, on standard output or error.
    ///
    /// # Errors
    /// The difference.
    pub fn try_read(&mut self, example: &Example) -> Result<(), String> {
        let line = self.pairs.translate(&example.command);
        let mut shell = self.cold.shell(&format!("{{ {line}\n}} 2>&1"));
        let output = shell.envs(self.environment.clone()).output();
        let printed = String::from_utf8(output.expect("a shell").stdout).expect("a text");
        let folder = self.cold.home.path().join("agents").canonicalize();
        let folder = folder.expect("the shell's folder").display().to_string();
        self.printed = printed.replace(&folder, FOLDER);
        self.pairs.compare(&example.output, &self.printed)
    }
}

/// Returns the variable that a line exports.
fn exported(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("export ")?.split_once('=')
}

/// Ids of a page, and the corresponding ids of a run.
#[derive(Default)]
pub struct IdPairs(Vec<(String, String)>);

impl IdPairs {
    /// Replaces the page's ids in a text by those of the run.
    pub fn translate(&self, text: &str) -> String {
        let pairs = self.0.iter();
        pairs.fold(text.to_owned(), |text, (page, run)| text.replace(page, run))
    }

    /// Compares the page with the output: as JSON where the page has JSON.
    ///
    /// # Errors
    /// The difference.
    pub fn compare(&mut self, page: &str, run: &str) -> Result<(), String> {
        let (page, run) = (page.trim(), run.trim());
        if page.starts_with('{')
            && let Ok(wanted) = serde_json::from_str(&elided(page))
        {
            let found = serde_json::from_str(run).map_err(|error| format!("{error}: {run}"))?;
            return self
                .same_json(&wanted, &found)
                .map_err(|path| format!("{path}\nprinted: {run}"));
        }
        self.same_text(page, run)
    }

    fn same_json(&mut self, page: &Value, run: &Value) -> Result<(), String> {
        match (page, run) {
            (Value::Object(page), Value::Object(run)) => self.same_objects(page, run),
            (Value::Array(page), Value::Array(run)) => {
                let is_cut = page.last().is_some_and(|last| last == LEFT_OUT);
                let wanted = page.len() - usize::from(is_cut);
                if run.len() < wanted || (!is_cut && run.len() != wanted) {
                    return Err(format!(": {wanted} elements wanted, {} found", run.len()));
                }
                let pairs = page.iter().take(wanted).zip(run).enumerate();
                for (at, (page, run)) in pairs {
                    self.same_json(page, run)
                        .map_err(|path| format!("[{at}]{path}"))?;
                }
                Ok(())
            }
            (Value::String(page), Value::String(run)) => self
                .same_text(page, run)
                .map_err(|texts| format!(": {texts}")),
            _ if page == run => Ok(()),
            _ => Err(format!(": {page} wanted, {run} found")),
        }
    }

    fn same_objects(
        &mut self,
        page: &Map<String, Value>,
        run: &Map<String, Value>,
    ) -> Result<(), String> {
        for (key, wanted) in page.iter().filter(|(key, _)| *key != LEFT_OUT) {
            let found = run.get(key).ok_or_else(|| format!(".{key} is not there"))?;
            self.same_json(wanted, found)
                .map_err(|path| format!(".{key}{path}"))?;
        }
        let surplus = run.keys().find(|key| !page.contains_key(*key));
        match surplus {
            Some(key) if !page.contains_key(LEFT_OUT) => Err(format!(".{key} is on no page")),
            _ => Ok(()),
        }
    }

    /// Compares texts except for ids, times, sizes, scores and cursors; an id corresponds to the same id everywhere.
    ///
    /// # Errors
    /// The difference.
    pub fn same_text(&mut self, page: &str, run: &str) -> Result<(), String> {
        let ((plain_page, ids_page), (plain_run, ids_run)) = (plain(page), plain(run));
        if plain_page != plain_run {
            return Err(format!("wanted:\n{page}\nfound:\n{run}"));
        }
        for (page, run) in ids_page.into_iter().zip(ids_run) {
            let known = self.0.iter().find(|(a, b)| *a == page || *b == run);
            match known {
                None => self.0.push((page.to_owned(), run.to_owned())),
                Some((a, b)) if *a == page && *b == run => {}
                Some((a, b)) => return Err(format!("{page} is {run}; but {a} was {b}")),
            }
        }
        Ok(())
    }
}

/// Replaces all values that differ between runs, and returns the text and its ids.
fn plain(text: &str) -> (String, Vec<&str>) {
    let (mut plain, mut ids) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let is_size = !number.is_empty()
            && (plain.ends_with("Bytes\":") || behind.starts_with(" B"))
            && !plain.ends_with(|c: char| c.is_ascii_digit());
        let begins_word = !plain.ends_with(|c: char| c.is_ascii_alphanumeric());
        let is_inside = plain.ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let length = if plain.ends_with(CURSOR) {
            plain += "<cursor>";
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        } else if let Some(time) = shape_of(rest, &TIMES) {
            plain += "<time>";
            time
        } else if let Some(id) = shape_of(rest, &IDS).filter(|_| begins_word) {
            plain += "<id>";
            ids.push(rest.split_at(id).0);
            id
        } else if let Some(score) = shape_of(rest, &SCORES).filter(|_| !is_inside) {
            plain += "<score>";
            score
        } else if is_size {
            plain += "<size>";
            digits
        } else {
            plain.push(first);
            first.len_utf8()
        };
        rest = rest.split_at(length).1;
    }
    (plain, ids)
}

/// Returns the length of the first of these shapes that matches the start of a text.
fn shape_of(text: &str, shapes: &[&str]) -> Option<usize> {
    let has = |shape: &&&str| {
        text.len() >= shape.len()
            && text
                .bytes()
                .zip(shape.bytes())
                .all(|(byte, wanted)| match wanted {
                    b'0' => byte.is_ascii_digit(),
                    b'x' => byte.is_ascii_alphanumeric(),
                    _ => byte == wanted,
                })
    };
    shapes.iter().find(has).map(|shape| shape.len())
}

/// Converts a `…` outside of strings to valid JSON: a field in an object, an element in a list.
fn elided(page: &str) -> String {
    let (mut json, mut in_text, mut escaped) = (String::new(), false, false);
    for (at, c) in page.char_indices() {
        if c == '…' && !in_text {
            let behind = page.split_at(at).1.trim_start_matches('…').trim_start();
            json.push_str(if behind.starts_with(']') {
                "\"…\""
            } else {
                "\"…\":null"
            });
            continue;
        }
        in_text ^= c == '"' && !escaped;
        escaped = in_text && c == '\\' && !escaped;
        json.push(c);
    }
    json
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Blocks, continued lines and output are distinguished; a longer fence contains shorter ones.
    #[test]
    fn blocks_and_examples() {
        let page = "a\n```console\n$ one '{\n>  }'\nout\n> no\n$ two\n```\nb\n````text\n```\nx\n```\n````\n";
        let all = examples(blocks(page, "console").first().unwrap());
        let all: Vec<_> = all
            .iter()
            .map(|one| (one.command.as_str(), one.output.as_str()))
            .collect();
        assert_eq!(all, [("one '{\n }'", "out\n> no"), ("two", "")]);
        assert_eq!(blocks(page, "text"), ["```\nx\n```"]);
    }

    /// Omitted parts may be anything; all other parts must match, and ids correspond to each other.
    #[test]
    fn pages_are_compared_with_runs() {
        let mut pairs = IdPairs::default();
        let mut same = |page: &str, run: &str| pairs.compare(page, run);
        let id = |c: &str| format!("m-{}", c.repeat(16));
        let (a, b, c) = (id("a"), id("b"), id("c"));
        let page = format!(r#"{{"id":"{a}","list":[1, …], "text":"x…", …}}"#);
        let run = |id: &str| format!(r#"{{"text":"x…","id":"{id}","list":[1,2],"more":0}}"#);
        same(&page, &run(&b)).unwrap();
        same(&page, &run(&b)).unwrap();
        assert!(same(&page, &run(&c)).is_err());
        assert!(same(&format!("see {c}"), &format!("see {b}")).is_err());
        same(
            "at 2026-11-22T07:05:49.342Z, 5 B",
            "at 2027-01-02T07:05:49.342Z, 17 B",
        )
        .unwrap();
        same("-0.1234  a\n--next d-1", "1.5678  a\n--next d-23").unwrap();
        for (page, run) in [
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a":1, …}"#, r#"{"b":1}"#),
            (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            (r#"{"a":[1,2, …]}"#, r#"{"a":[1]}"#),
            (r#"{"a":1, …}"#, "a"),
            ("1.5", "1.6"),
            ("--next d-1 a", "--next d-1 b"),
            ("a", "b"),
        ] {
            assert!(same(page, run).is_err(), "{page} {run}");
        }
    }
}
