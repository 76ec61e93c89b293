//! Input that a tool or a prompt requires from the user, the model or the client, in rounds.
//!
//! The server keeps nothing between the rounds. A sealed state says which round is answered, and for what.

use hmac::{Hmac, KeyInit, Mac};
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, InputRequests, InputRequiredResult, InputResponses};
use serde_json::{Map, Value, json};
use sha2::Sha256;

/// What is asked.
#[derive(Clone, Copy)]
pub enum Question {
    /// A form for the user: its message, and the name and the type of its field.
    Form(&'static str, &'static str, &'static str),
    /// A message for the client's model, with the maximum of tokens.
    Sample(&'static str, u32),
    /// The client's roots.
    Roots,
}

/// Questions that are asked together, by their keys.
pub type Round = &'static [(&'static str, Question)];

/// What a request answers.
pub struct Answers<'r> {
    /// Name of the tool or prompt.
    pub of: &'static str,
    /// The state that came back.
    pub state: Option<&'r str>,
    /// The answers by their keys.
    pub responses: Option<&'r InputResponses>,
}

impl Question {
    /// Returns the request to the client.
    fn request(self) -> Value {
        match self {
            Self::Form(message, field, kind) => json!({
                "method": "elicitation/create",
                "params": {"mode": "form", "message": message, "requestedSchema": {
                    "type": "object", "properties": {field: {"type": kind}}, "required": [field],
                }},
            }),
            Self::Sample(text, tokens) => json!({
                "method": "sampling/createMessage",
                "params": {
                    "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
                    "maxTokens": tokens,
                },
            }),
            Self::Roots => json!({"method": "roots/list", "params": {}}),
        }
    }

    /// Returns whether a response answers the question.
    fn is_answered_by(self, response: &Value) -> bool {
        match self {
            Self::Form(_, field, _) => match response.get("action").and_then(Value::as_str) {
                Some("accept") => response.pointer(&format!("/content/{field}")).is_some(),
                Some("decline" | "cancel") => true,
                Some(_) | None => false,
            },
            Self::Sample(..) => {
                response.get("content").is_some() && response.get("model").is_some()
            }
            Self::Roots => response.get("roots").is_some_and(Value::is_array),
        }
    }

    /// Returns whether a client with these capabilities can be asked.
    pub fn can_be_asked(self, capabilities: &ClientCapabilities) -> bool {
        match self {
            Self::Form(..) => capabilities.elicitation.is_some(),
            Self::Sample(..) => capabilities.sampling.is_some(),
            Self::Roots => capabilities.roots.is_some(),
        }
    }
}

/// Returns the answers of the last round, or what is required next. A round whose answers do not fit is asked again.
///
/// # Errors
/// When the state is not one that this server gave.
pub fn ask(
    rounds: &[Round],
    has_state: bool,
    answers: &Answers<'_>,
) -> Result<Result<Value, InputRequiredResult>, ErrorData> {
    let number = match answers.state {
        Some(state) => unseal(answers.of, state)?,
        None => 0,
    };
    let round = rounds.get(number).copied().unwrap_or_default();
    let is_answered = |(key, question): &(&str, Question)| {
        let response = answers.responses.and_then(|all| all.get(*key));
        response.is_some_and(|response| question.is_answered_by(response))
    };
    let next = number + usize::from(round.iter().all(is_answered));
    let Some(round) = rounds.get(next) else {
        return Ok(Ok(json!(answers.responses)));
    };
    let state = has_state.then(|| seal(answers.of, next));
    requests(round.iter().copied(), state).map(Err)
}

/// Builds the result that requires answers.
///
/// # Errors
/// Never: the requests are well-formed.
pub fn requests(
    questions: impl Iterator<Item = (&'static str, Question)>,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let requests: Map<String, Value> = questions
        .map(|(key, question)| (key.to_owned(), question.request()))
        .collect();
    let requests = serde_json::from_value::<InputRequests>(Value::Object(requests));
    let requests = requests.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(requests), state))
}

/// Returns the state of a round: its number, and a code over it and what it belongs to.
fn seal(of: &str, round: usize) -> String {
    let code = code(of, round).finalize().into_bytes();
    let code: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{round}.{code}")
}

fn unseal(of: &str, state: &str) -> Result<usize, ErrorData> {
    let number = state
        .split('.')
        .next()
        .and_then(|number| number.parse().ok());
    number
        .filter(|number| seal(of, *number) == state)
        .ok_or_else(|| ErrorData::invalid_params("`requestState` is not one of this server", None))
}

fn code(of: &str, round: usize) -> Hmac<Sha256> {
    // A test needs no secret key.
    let mut code = Hmac::<Sha256>::new(&[7; 64].into());
    code.update(format!("{of}\0{round}").as_bytes());
    code
}
