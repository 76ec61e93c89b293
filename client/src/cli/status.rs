//! `lore status` and `lore compact`: state of the daemon and its disk space.

use lore::sanitize::duration;
use serde_json::Value;

use super::command::Command;
use super::flag::Flag;
use super::output::{self, Output, sanitize, table};
use super::parser::Matches;
use super::report::read;
use super::template::{at, fill, fill_each, list, members, number};
use super::{Caller, Exit, Failure};

/// `lore status`.
pub const STATUS: Command = Command::client("status", "Show the state of the daemon", run)
    .flags(&[&[Flag::switch(
        "prometheus",
        "As text for Prometheus, with metrics of the sessions in use",
    )]])
    .examples(&["lore status"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let json = caller.call("status", matches.fields()?)?;
    match caller.output {
        _ if matches.is("prometheus") => {
            let status: Value = read(&json)?;
            output::write(
                at(&status, "prometheus")
                    .as_str()
                    .unwrap_or_default()
                    .as_bytes(),
            )?;
        }
        Output::Json => output::write_json(&json)?,
        Output::Human => output::write(status(&read(&json)?).as_bytes())?,
    }
    Ok(Exit::Good)
}

fn status(status: &Value) -> String {
    let yes = "yes/no";
    let mut facts: Vec<(String, String)> = [
        ("version", "{version}".to_owned()),
        ("process", "{pid}".to_owned()),
        ("store", "{store}".to_owned()),
        ("socket", "{socket}".to_owned()),
        ("data", "{data}".to_owned()),
        ("position", "{position}".to_owned()),
        ("origin", "{origin}".to_owned()),
        ("durable", format!("{{durable:{yes}}}")),
        ("writable", format!("{{writable:{yes}}}")),
        ("uptime", duration(number(status, "uptime"))),
        ("clients", "{clients}".to_owned()),
        ("confined", "{confinement.landlock}".to_owned()),
        ("core dumps", format!("{{confinement.core_dumps:{yes}}}")),
    ]
    .into_iter()
    .map(|(name, template)| (name.to_owned(), fill(&template, status)))
    .filter(|(_, value)| !value.is_empty())
    .collect();
    for (of, template) in [("counts", "{}"), ("sizes", "{:bytes}")] {
        facts.extend(
            members(status, of).map(|(name, value)| (sanitize(name, 40), fill(template, value))),
        );
    }
    for (of, template) in [
        ("followers", "at {position}, {lag} behind"),
        (
            "resolvers",
            "{state:40}, {calls} calls, {failures} without an answer",
        ),
    ] {
        let values = list(status, of).iter();
        facts.extend(values.map(|value| (fill("{name:40}", value), fill(template, value))));
    }
    let embedding = at(status, "embedding");
    if !embedding.is_null() {
        let left = match at(embedding, "seconds_left") {
            Value::Null => String::new(),
            _ => format!(
                ", about {} left",
                duration(number(embedding, "seconds_left"))
            ),
        };
        let waiting = fill("{missing} texts wait for vectors", embedding);
        facts.push(("second tier".to_owned(), waiting + &left));
    }
    let verified = at(status, "verified");
    if !verified.is_null() {
        let template = "up to {position} on {time:time}, {findings} findings";
        facts.push(("verified".to_owned(), fill(template, verified)));
    }
    let retention = at(status, "retention");
    if !retention.is_null() {
        let template = match at(retention, "last") {
            Value::Null => "next on {next:40=never}",
            _ => "next on {next:40=never}; {events} events, {bytes:bytes} forgotten on {last:40}",
        };
        facts.push(("retention".to_owned(), fill(template, retention)));
    }
    let rows: Vec<_> = facts
        .into_iter()
        .map(|(name, value)| [name, value])
        .collect();
    table(&["lored", ""], &rows) + &warnings(status)
}

fn warnings(reply: &Value) -> String {
    fill_each("warning: {}\n", list(reply, "warnings")).concat()
}

/// `lore compact`.
pub const COMPACT: Command = Command::client(
    "compact",
    "Return the disk space of removed data",
    |_, caller| {
        let json = caller.call("compact", super::flag::Fields::default())?;
        match caller.output {
            Output::Json => output::write_json(&json)?,
            Output::Human => {
                let reply: Value = read(&json)?;
                let text = fill(
                    "{bytes_before:bytes} before, {bytes_after:bytes} now, in {took_ms} ms\n",
                    &reply,
                );
                output::write((text + &warnings(&reply)).as_bytes())?;
            }
        }
        Ok(Exit::Good)
    },
)
.examples(&["lore compact"]);
