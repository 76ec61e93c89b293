//! `lore step …`: records tool results, lists and shows them, and resolves names.

use serde_json::Value;

use super::command::Command;
use super::common::{AS_OF, KEY};
use super::flag::{Fields, Flag, Kind};
use super::output::{self, is_terminal, json_for, sanitize, sanitize_lines};
use super::parser::Matches;
use super::report::{Column, Rendered, Report, Table, cells, column};
use super::template::{at, fill, fill_each, is, list, members, number, plain, raw, unquoted};
use super::{Caller, Exit, Failure, input};

const CURRENT_STEP: Flag = Flag::number("current-step", "NUMBER", "The step being prepared");

/// `lore step` and its commands.
pub const STEP: Command = Command::family(
    "step",
    "Record what tools returned, and refer to it",
    &[
        Command::call_with(
            "record",
            "Record the result of a tool call",
            "record_step",
            result,
            Report::Text(recorded),
        )
        .flags(&[&[
            Flag::positional(Kind::Text, "tool", "TOOL", "Name of the tool"),
            Flag::positional(
                Kind::Text,
                "result",
                "RESULT",
                "What the tool returned, or - to read it from standard input",
            )
            .default("-")
            .allows_dash()
            .local(),
            Flag::number("step", "NUMBER", "Step number; otherwise the next one"),
            Flag::of(
                Kind::Object,
                "parameters",
                "JSON",
                "Parameters of the call, a JSON object",
            ),
            Flag::text("purpose", "TEXT", "Why the tool was called"),
            Flag::text("error", "TEXT", "The error, if the call failed"),
            Flag::of(
                Kind::Bool,
                "success",
                "BOOL",
                "Whether the call succeeded; otherwise judged from the result",
            ),
            KEY,
            Flag::switch("explain", "Report what was extracted"),
        ]])
        .examples(&[
            "lore step record get_pull_request '{\"id\": 4711, \"title\": \"Fix login\"}'",
        ]),
        Command::call("list", "List the steps of a session", "list_steps", STEPS)
            .flags(&[&[
                Flag::number("limit", "COUNT", "At most this many steps"),
                AS_OF,
            ]])
            .examples(&["lore step list --session release-42"]),
        Command::call("show", "Show a whole step", "get_step", Report::Text(step))
            .flags(&[&[
                Flag::positional(Kind::Number, "step", "STEP", "Number of the step"),
                Flag::number(
                    "attempt",
                    "NUMBER",
                    "Attempt at the step; otherwise the latest",
                ),
                AS_OF,
            ]])
            .examples(&["lore step show 2"]),
        Command::call(
            "resolve",
            "Print the values of names such as ID_FROM_STEP_2",
            "resolve_variables",
            Report::Rendered(resolutions),
        )
        .flags(&[&[
            Flag::positional(Kind::Texts, "names", "NAMES", "Names to resolve"),
            CURRENT_STEP,
            Flag::switch("all", "Print every value, not only the first"),
            AS_OF,
        ]])
        .examples(&["lore step resolve ID_FROM_STEP_1 TITLE_FROM_STEP_1"]),
        Command::call_with(
            "params",
            "Replace the names in parameters by their values",
            "resolve_parameters",
            parameters,
            Report::Rendered(replaced),
        )
        .flags(&[&[
            Flag::positional(
                Kind::Text,
                "parameters",
                "PARAMETERS",
                "Parameters as JSON, or - to read them from standard input",
            )
            .local(),
            CURRENT_STEP,
        ]])
        .examples(&["lore step params '{\"pullRequestId\": \"ID_FROM_STEP_1\"}'"]),
    ],
);

const STEPS: Report = Report::Table(Table {
    list: "steps",
    columns: &[
        column("step", "{step}"),
        column("attempt", "{attempt}/{attempts}"),
        column("tool", "{tool:40}"),
        column("outcome", "{success:good/failed}"),
        column("size", "{bytes:bytes}"),
        column("at", "{at:time}"),
        column("agent", "{agent:20}"),
        column("purpose", "{purpose:50}"),
    ],
    more: "… more: raise --limit\n",
    empty: "",
});

const FACTS: &[Column] = &[
    column("session", "{session}"),
    column("step", "{step}, attempt {attempt} of {attempts}"),
    column("tool", "{tool}"),
    column("parameters", "{parameters:json 200}"),
    column("success", "{success}"),
    column("at", "{at:time}"),
    column("agent", "{agent}"),
    column("position", "{position}"),
    column("purpose", "{purpose:200}"),
    column("error", "{error:200}"),
];

/// Adds the result. A failed call without a result does not wait for standard input.
fn result(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    match (matches.needed("result"), matches.text("error")) {
        ("-", Some(_)) => Ok(()),
        (result, _) => {
            let text = input::text("the result", result)?;
            // A command that printed nothing, or no pipe at all, is easily taken for a recorded result.
            if result == "-" && text.is_empty() {
                lore::errln!(
                    "lore: standard input was empty: the recorded result is an empty text"
                );
            }
            fields.put("result", &text)
        }
    }
}

fn recorded(reply: &Value) -> String {
    let attempt = match number(reply, "attempt") {
        0 | 1 => "",
        _ => ", attempt {attempt}",
    };
    let line = format!("step {{step}} of session {{session}}{attempt} (position {{position}})\n");
    let mut text = fill(&line, reply);
    for (kind, count) in members(reply, "extracted") {
        if count.as_u64() != Some(0) {
            text += &format!("  {}: {count}\n", sanitize(kind, 40));
        }
    }
    text
}

fn step(step: &Value) -> String {
    let extracted = members(step, "extracted")
        .map(|(kind, values)| (sanitize(kind, 40), sanitize(&plain(values), 200)));
    let text = output::facts(cells(FACTS, step).chain(extracted));
    format!("{text}\n{}\n", sanitize_lines(raw(step, "result")))
}

fn resolutions(reply: &Value, _: &Matches) -> Rendered {
    let all = list(reply, "resolutions");
    let is_found = all
        .iter()
        .any(|resolution| at(resolution, "reason").is_null());
    Rendered {
        end: if is_found { Exit::Good } else { Exit::Nothing },
        ..Rendered::good(all.iter().map(resolution).collect())
    }
}

fn resolution(resolution: &Value) -> String {
    if !at(resolution, "reason").is_null() {
        return fill("{name:80} has no value: {message=no value}\n", resolution);
    }
    let value = match at(resolution, "values") {
        Value::Null => unquoted(at(resolution, "value")),
        values => plain(values),
    };
    fill("{name:80} = ", resolution) + &sanitize(&value, 0) + "\n"
}

fn parameters(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let text = input::text("the parameters", matches.needed("parameters"))?;
    let parameters: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("the parameters are not JSON: {error}")))?;
    fields.put("parameters", &parameters)
}

fn replaced(reply: &Value, _: &Matches) -> Rendered {
    let calls = match at(reply, "calls") {
        Value::Array(calls) => calls.as_slice(),
        _ => std::slice::from_ref(at(reply, "parameters")),
    };
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let mut aside = fill_each("lore: {message}\n", list(reply, "unresolved")).concat();
    if is(reply, "skip") && !at(reply, "skip_reason").is_null() {
        aside += &fill("lore: the call should be skipped: {skip_reason}\n", reply);
    }
    Rendered::good(json_for(&text, is_terminal()).into_owned()).aside(aside)
}
