//! The tools. What returns a text or an error goes through the encoding of the daemon's replies.

use std::sync::Arc;

use lored::api::{ReplyShape, ToolCall};
use lored::error::{Code, Refusal};
use lored::operation::{Answer, Reply};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ErrorCode, JsonObject,
    ProgressNotificationParam, ResourceContents, Tool,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::Fixtures;
use crate::content::{PNG, WAV};
use crate::input::{Answers, Question, Round, ask, requests};

/// A tool.
pub struct FixtureTool {
    /// Its name.
    pub name: &'static str,
    behaviour: Behaviour,
}

/// What a tool does.
enum Behaviour {
    /// Returns a text.
    Text(&'static str),
    /// Returns content of other kinds.
    Content(fn() -> Vec<ContentBlock>),
    /// Fails.
    Refuse,
    /// Reports its progress, if the request has a token for it.
    Progress,
    /// Requires sampling of the client.
    Sample,
    /// Asks in rounds; the flag says whether a state goes with the questions.
    Ask(&'static [Round], bool),
    /// Asks what the client can answer.
    AskPossible(Round),
}

const NAME: (&str, Question) = (
    "user_name",
    Question::Form("What is your name?", "name", "string"),
);
const CONFIRM: Round = &[("confirm", Question::Form("Please confirm", "ok", "boolean"))];
const SEVERAL: Round = &[
    NAME,
    ("greeting", Question::Sample("Generate a greeting", 50)),
    ("client_roots", Question::Roots),
];

/// Every tool, by name.
pub const TOOLS: [FixtureTool; 20] = [
    of(SCHEMA_TOOL, Behaviour::Text("It has a schema.")),
    of("test_audio_content", Behaviour::Content(audio)),
    of(HEADER_TOOL, Behaviour::Text("Its argument is in a header.")),
    of("test_embedded_resource", Behaviour::Content(embedded)),
    of("test_error_handling", Behaviour::Refuse),
    of("test_image_content", Behaviour::Content(image)),
    of(
        "test_input_required_result_capabilities",
        Behaviour::AskPossible(SEVERAL),
    ),
    of(
        "test_input_required_result_elicitation",
        Behaviour::Ask(&[&[NAME]], false),
    ),
    of(
        "test_input_required_result_list_roots",
        Behaviour::Ask(&[&[("client_roots", Question::Roots)]], false),
    ),
    of(
        "test_input_required_result_multi_round",
        Behaviour::Ask(
            &[
                &[(
                    "step1",
                    Question::Form("Step 1: What is your name?", "name", "string"),
                )],
                &[(
                    "step2",
                    Question::Form("Step 2: What is your favorite color?", "color", "string"),
                )],
            ],
            true,
        ),
    ),
    of(
        "test_input_required_result_multiple_inputs",
        Behaviour::Ask(&[SEVERAL], true),
    ),
    of(
        "test_input_required_result_request_state",
        Behaviour::Ask(&[CONFIRM], true),
    ),
    of(
        "test_input_required_result_sampling",
        Behaviour::Ask(
            &[&[(
                "capital_question",
                Question::Sample("What is the capital of France?", 100),
            )]],
            false,
        ),
    ),
    of(
        "test_input_required_result_tampered_state",
        Behaviour::Ask(&[CONFIRM], true),
    ),
    of("test_logging_tool", Behaviour::Text("It logs nothing.")),
    of("test_missing_capability", Behaviour::Sample),
    of("test_multiple_content_types", Behaviour::Content(mixed)),
    of(
        "test_simple_text",
        Behaviour::Text("This is a simple text response for testing."),
    ),
    of(
        "test_streaming_elicitation",
        Behaviour::Ask(&[&[NAME]], false),
    ),
    of("test_tool_with_progress", Behaviour::Progress),
];

/// The tool whose schema has what JSON Schema 2020-12 has.
const SCHEMA_TOOL: &str = "json_schema_2020_12_tool";
/// The tool with an argument that requests repeat in a header.
const HEADER_TOOL: &str = "test_custom_header";

const fn of(name: &'static str, behaviour: Behaviour) -> FixtureTool {
    FixtureTool { name, behaviour }
}

impl FixtureTool {
    /// Returns whether requests repeat its argument in a header.
    pub fn mirrors_arguments(&self) -> bool {
        self.name == HEADER_TOOL
    }

    /// Returns its schema and description.
    pub fn describe(&self) -> Tool {
        Tool::new(self.name, "A fixture.", Arc::new(self.schema()))
    }

    fn schema(&self) -> JsonObject {
        let schema = match self.name {
            SCHEMA_TOOL => json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
                    "street": {"type": "string"}, "city": {"type": "string"},
                }}},
                "properties": {
                    "name": {"type": "string"},
                    "address": {"$ref": "#/$defs/address"},
                    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                    "phone": {"type": "string"},
                    "email": {"type": "string"},
                },
                "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
                "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
                "then": {"required": ["phone"]},
                "else": {"required": ["email"]},
                "additionalProperties": false,
            }),
            HEADER_TOOL => json!({
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
                "required": ["region"],
            }),
            _ => json!({"type": "object", "properties": {}}),
        };
        match schema {
            Value::Object(schema) => schema,
            _ => JsonObject::new(),
        }
    }
}

/// Calls a tool.
///
/// # Errors
/// When the client lacks a capability, or sends a state that no tool gave.
pub async fn call(
    tool: &'static FixtureTool,
    call: ToolCall<'_, Fixtures>,
) -> Result<CallToolResponse, ErrorData> {
    let capabilities = call.cx.client_capabilities().unwrap_or_default();
    match &tool.behaviour {
        Behaviour::Text(text) => Ok(encoded(tool, &call, reply(text))),
        Behaviour::Content(content) => Ok(CallToolResult::success(content()).into()),
        Behaviour::Refuse => {
            let message = "this tool intentionally returns an error for testing";
            let refusal = Err(Refusal::new(Code::Internal, message));
            Ok(encoded(tool, &call, refusal))
        }
        Behaviour::Progress => {
            report_progress(&call).await;
            Ok(encoded(tool, &call, reply("It reported its progress.")))
        }
        Behaviour::Sample => match capabilities.sampling {
            Some(_) => Ok(encoded(tool, &call, reply("The client can sample."))),
            None => {
                let required = Some(json!({"requiredCapabilities": {"sampling": {}}}));
                Err(ErrorData::new(
                    ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
                    "the tool needs sampling",
                    required,
                ))
            }
        },
        Behaviour::AskPossible(round) => {
            let possible = round
                .iter()
                .filter(|(_, question)| question.can_be_asked(&capabilities));
            Ok(requests(possible.copied(), None)?.into())
        }
        Behaviour::Ask(rounds, has_state) => {
            let answers = Answers {
                of: tool.name,
                state: call.request.request_state.as_deref(),
                responses: call.request.input_responses.as_ref(),
            };
            match ask(rounds, *has_state, &answers)? {
                Err(required) => Ok(required.into()),
                Ok(answered) => {
                    let text = format!("state-ok: {answered}");
                    Ok(encoded(tool, &call, reply(&text)))
                }
            }
        }
    }
}

async fn report_progress(call: &ToolCall<'_, Fixtures>) {
    let Some(token) = call.cx.meta.get_progress_token() else {
        return;
    };
    for progress in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
        // A peer may disconnect at any time.
        let _ = call.cx.peer.notify_progress(progress).await;
    }
}

fn encoded(tool: &FixtureTool, call: &ToolCall<'_, Fixtures>, answer: Answer) -> CallToolResponse {
    let shape = ReplyShape {
        tool: tool.name,
        wrapped_as: None,
        chars_max: None,
    };
    call.encoder().encode(shape, answer, |_| None).into()
}

fn reply(text: &str) -> Answer {
    let json = to_raw_value(&json!({ "text": text }));
    Ok(Reply {
        json: json.map_err(|error| Refusal::new(Code::Internal, error.to_string()))?,
        meta: None,
        readable: Some(text.to_owned()),
        unshown_warnings: Vec::new(),
        memory: None,
    })
}

fn audio() -> Vec<ContentBlock> {
    vec![ContentBlock::audio(WAV, "audio/wav")]
}

fn image() -> Vec<ContentBlock> {
    vec![ContentBlock::image(PNG, "image/png")]
}

fn embedded() -> Vec<ContentBlock> {
    let text = "This is an embedded resource content.";
    vec![ContentBlock::embedded_text(
        "test://embedded-resource",
        text,
    )]
}

fn mixed() -> Vec<ContentBlock> {
    let data = json!({"test": "data", "value": 123}).to_string();
    let resource = ResourceContents::text(data, "test://mixed-content-resource")
        .with_mime_type("application/json");
    vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PNG, "image/png"),
        ContentBlock::resource(resource),
    ]
}
