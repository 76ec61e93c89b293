//! `lore step …`: record what tools returned, list and show it, resolve names.

use std::fmt::Write;

use clap::Subcommand;
use lore::protocol::Body;
use lore::protocol::steps::{
    GetStepArgs, GetStepReply, ListStepsArgs, ListStepsReply, RecordStepArgs, RecordStepReply,
    Resolution, ResolveParametersArgs, ResolveParametersReply, ResolveVariablesArgs,
    ResolveVariablesReply,
};
use serde_json::Value;

use super::call::text_or_stdin;
use super::exchange::{Told, ask, moment, object, utf8};
use super::output::{is_terminal, json_for, shown, shown_lines, table};
use super::{Caller, End, Failure, status};

/// Record what tools returned, and refer to it
#[derive(Debug, Subcommand)]
pub enum Step {
    /// Record the result of a tool call
    Record(Record),
    /// List the steps of a session
    List {
        /// At most so many
        #[arg(long, value_name = "COUNT")]
        limit: Option<u64>,
        /// As things stood at this position or RFC 3339 time
        #[arg(long, value_name = "WHEN")]
        as_of: Option<String>,
    },
    /// Show one step whole
    Show {
        /// Its number
        step: u64,
        /// Which attempt at it
        #[arg(long, value_name = "NUMBER")]
        attempt: Option<u64>,
        /// As things stood at this position or RFC 3339 time
        #[arg(long, value_name = "WHEN")]
        as_of: Option<String>,
    },
    /// Give the values of names such as ID_FROM_STEP_2
    Resolve {
        /// The names
        #[arg(required = true)]
        names: Vec<String>,
        /// The step being prepared
        #[arg(long, value_name = "NUMBER")]
        current_step: Option<u64>,
        /// Every value, not just the first
        #[arg(long)]
        all: bool,
        /// As things stood at this position or RFC 3339 time
        #[arg(long, value_name = "WHEN")]
        as_of: Option<String>,
    },
    /// Replace the names inside of parameters
    Params {
        /// The parameters as JSON, or - to read them from standard input
        parameters: String,
        /// The step being prepared
        #[arg(long, value_name = "NUMBER")]
        current_step: Option<u64>,
    },
}

/// Record the result of a tool call
#[derive(Debug, clap::Args)]
pub struct Record {
    /// Name of the tool
    tool: String,
    /// What it returned, or - to read it from standard input
    #[arg(default_value = "-", allow_hyphen_values = true)]
    result: String,
    /// Step number; the next one if absent
    #[arg(long, value_name = "NUMBER")]
    step: Option<u64>,
    /// What it was called with, a JSON object
    #[arg(long, value_name = "JSON")]
    parameters: Option<String>,
    /// Why it was called
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// What went wrong
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Whether it succeeded; judged from the result if absent
    #[arg(long, value_name = "BOOL")]
    success: Option<bool>,
    /// Idempotency key: the same call again records nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Say what was extracted
    #[arg(long)]
    explain: bool,
}

impl Step {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Record(record) => record.run(caller),
            Self::List { limit, as_of } => list(caller, limit, as_of.as_deref()),
            Self::Show {
                step,
                attempt,
                as_of,
            } => {
                let as_of = moment(as_of.as_deref())?;
                let session = None;
                let args = GetStepArgs {
                    session,
                    step,
                    attempt,
                    as_of,
                    at_least: None,
                    agent: None,
                };
                ask(caller, "get_step", &args, show)
            }
            Self::Resolve {
                names,
                current_step,
                all,
                as_of,
            } => {
                let args = ResolveVariablesArgs {
                    session: None,
                    names,
                    current_step,
                    all: all.then_some(true),
                    as_of: moment(as_of.as_deref())?,
                    at_least: None,
                    explain: None,
                    agent: None,
                };
                ask(caller, "resolve_variables", &args, resolutions)
            }
            Self::Params {
                parameters,
                current_step,
            } => params(caller, parameters, current_step),
        }
    }
}

impl Record {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let parameters = object("--parameters", self.parameters.as_deref())?;
        // A failed call without a result does not wait for one on standard input.
        let result = match (self.result.as_str(), &self.error) {
            ("-", Some(_)) => None,
            _ => Some(utf8("the result", text_or_stdin(self.result)?)?),
        };
        let args = RecordStepArgs {
            session: None,
            step: self.step,
            tool: self.tool,
            parameters,
            purpose: self.purpose,
            result: result.map(Body),
            error: self.error,
            success: self.success,
            key: self.key,
            fence: None,
            explain: self.explain.then_some(true),
            agent: None,
        };
        ask(caller, "record_step", &args, |reply: &RecordStepReply| {
            let mut text = format!("step {} of session {}", reply.step, reply.session);
            if reply.attempt > 1 {
                let _ = write!(text, ", attempt {}", reply.attempt);
            }
            let _ = writeln!(text, " (position {})", reply.position);
            for (kind, count) in reply
                .extracted
                .iter()
                .flatten()
                .filter(|(_, count)| **count > 0)
            {
                let _ = writeln!(text, "  {}: {count}", shown(kind, 40));
            }
            Told::good(text)
        })
    }
}

fn list(caller: &mut Caller, limit: Option<u64>, as_of: Option<&str>) -> Result<End, Failure> {
    let args = ListStepsArgs {
        session: None,
        limit,
        next: None,
        as_of: moment(as_of)?,
        at_least: None,
        agent: None,
    };
    ask(caller, "list_steps", &args, |reply: &ListStepsReply| {
        let rows: Vec<_> = reply
            .steps
            .iter()
            .map(|step| {
                let outcome = if step.success { "good" } else { "failed" };
                [
                    step.step.to_string(),
                    format!("{}/{}", step.attempt, step.attempts),
                    shown(&step.tool, 40),
                    outcome.to_owned(),
                    status::bytes(step.bytes),
                    shown(&step.at, 30),
                    shown(&step.agent, 20),
                    shown(step.purpose.as_deref().unwrap_or_default(), 50),
                ]
            })
            .collect();
        let heading = [
            "step", "attempt", "tool", "outcome", "size", "at", "agent", "purpose",
        ];
        if rows.is_empty() {
            return Told::nothing(String::new());
        }
        let mut text = table(heading, &rows);
        if reply.next.is_some() {
            text.push_str("… more; give a higher --limit\n");
        }
        Told::good(text)
    })
}

fn show(step: &GetStepReply) -> Told {
    let mut rows = vec![
        ["session".to_owned(), step.session.to_string()],
        [
            "step".to_owned(),
            format!(
                "{}, attempt {} of {}",
                step.step, step.attempt, step.attempts
            ),
        ],
        ["tool".to_owned(), shown(&step.tool, 0)],
        [
            "parameters".to_owned(),
            shown(&step.parameters.to_string(), 200),
        ],
        ["success".to_owned(), step.success.to_string()],
        ["at".to_owned(), shown(&step.at, 0)],
        ["agent".to_owned(), shown(&step.agent, 0)],
        ["position".to_owned(), step.position.to_string()],
    ];
    let mut push = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            rows.push([name.to_owned(), shown(text, 200)]);
        }
    };
    push("purpose", &step.purpose);
    push("error", &step.error);
    for (kind, values) in step
        .extracted
        .iter()
        .filter(|(_, values)| !values.is_empty())
    {
        let listed: Vec<_> = values.iter().map(plain).collect();
        rows.push([shown(kind, 40), shown(&listed.join(", "), 200)]);
    }
    let mut text = table(["", ""], &rows).trim_start().to_owned();
    let _ = writeln!(text, "\n{}", shown_lines(&step.result));
    Told::good(text)
}

fn resolutions(reply: &ResolveVariablesReply) -> Told {
    let mut text = String::new();
    let mut found = false;
    for resolution in &reply.resolutions {
        found |= resolution.reason.is_none();
        let _ = writeln!(text, "{}", resolution_line(resolution));
    }
    Told {
        end: if found { End::Good } else { End::Nothing },
        ..Told::good(text)
    }
}

fn resolution_line(resolution: &Resolution) -> String {
    let name = shown(&resolution.name, 80);
    if resolution.reason.is_some() {
        let message = resolution.message.as_deref().unwrap_or("no value");
        return format!("{name} has no value: {}", shown(message, 0));
    }
    match &resolution.values {
        Some(values) => {
            let listed: Vec<_> = values.iter().map(|value| shown(&plain(value), 0)).collect();
            format!("{name} = {}", listed.join(", "))
        }
        None => format!("{name} = {}", shown(&plain(&resolution.value), 0)),
    }
}

fn params(
    caller: &mut Caller,
    parameters: String,
    current_step: Option<u64>,
) -> Result<End, Failure> {
    let parameters = serde_json::from_slice(&text_or_stdin(parameters)?)
        .map_err(|error| Failure::Usage(format!("the parameters are not JSON: {error}")))?;
    let args = ResolveParametersArgs {
        session: None,
        parameters,
        current_step,
        defaults: None,
        as_of: None,
        at_least: None,
        agent: None,
    };
    ask(
        caller,
        "resolve_parameters",
        &args,
        |reply: &ResolveParametersReply| {
            let (mut text, mut aside) = (String::new(), String::new());
            match &reply.calls {
                Some(calls) => calls.iter().for_each(|call| {
                    let _ = writeln!(text, "{call}");
                }),
                None => {
                    let _ = writeln!(text, "{}", reply.parameters);
                }
            }
            for unresolved in &reply.unresolved {
                let _ = writeln!(aside, "lore: {}", shown(&unresolved.message, 0));
            }
            if let Some(reason) = reply
                .skip_reason
                .as_ref()
                .filter(|_| reply.skip == Some(true))
            {
                let reason = shown(reason, 0);
                let _ = writeln!(aside, "lore: the call should be skipped: {reason}");
            }
            Told {
                out: json_for(&text, is_terminal()).into_owned(),
                aside,
                end: End::Good,
            }
        },
    )
}

/// A value as a person writes it: text without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
