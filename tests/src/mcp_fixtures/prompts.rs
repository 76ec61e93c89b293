//! The prompts, and the completion of their arguments.

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
    Reference, ResourceContents, Role,
};
use serde_json::Value;

use crate::content::PNG;
use crate::input::{self, Round};

/// Name, description and required arguments of every prompt.
const PROMPTS: [(&str, &str, &[&str]); 5] = [
    ("test_simple_prompt", "Without arguments.", &[]),
    (
        "test_prompt_with_arguments",
        "With two arguments.",
        &["arg1", "arg2"],
    ),
    (
        "test_prompt_with_embedded_resource",
        "With a resource in it.",
        &["resourceUri"],
    ),
    ("test_prompt_with_image", "With an image in it.", &[]),
    (ASKS, "Asks the user first.", &[]),
];

const ASKS: &str = "test_input_required_result_prompt";
const CONTEXT: [Round; 1] = [&[(
    "user_context",
    input::Question::Form("What context should the prompt use?", "context", "string"),
)]];

/// Lists every prompt.
pub fn list() -> ListPromptsResult {
    let prompts = PROMPTS.map(|(name, description, arguments)| {
        let arguments = arguments
            .iter()
            .map(|name| PromptArgument::new(*name).with_required(true));
        Prompt::new(name, Some(description), Some(arguments.collect()))
    });
    ListPromptsResult::with_all_items(prompts.to_vec())
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn known(name: &str) -> Result<&'static [&'static str], ErrorData> {
    let found = PROMPTS.iter().find(|(known, ..)| *known == name);
    let found = found.ok_or_else(|| invalid(format!("prompt `{name}` not found")))?;
    Ok(found.2)
}

/// Returns the messages of a prompt.
pub fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let required = known(&request.name)?;
    let given = |name: &str| {
        let arguments = request.arguments.as_ref();
        let text = arguments.and_then(|all| all.get(name)?.as_str());
        text.ok_or_else(|| invalid(format!("argument `{name}` is missing")))
    };
    let text = |text: &str| PromptMessage::new_text(Role::User, text);
    let messages = match (request.name.as_str(), required) {
        ("test_prompt_with_arguments", [first, second]) => {
            let (first, second) = (given(first)?, given(second)?);
            vec![text(&format!(
                "Prompt with arguments: arg1='{first}', arg2='{second}'"
            ))]
        }
        ("test_prompt_with_embedded_resource", [uri]) => {
            let resource =
                ResourceContents::text("Embedded resource content for testing.", given(uri)?);
            vec![
                PromptMessage::new(Role::User, ContentBlock::resource(resource)),
                text("Please process the embedded resource above."),
            ]
        }
        ("test_prompt_with_image", _) => vec![
            PromptMessage::new(Role::User, ContentBlock::image(PNG, "image/png")),
            text("Please analyze the image above."),
        ],
        (ASKS, _) => {
            let answers = input::Answers {
                of: ASKS,
                state: request.request_state.as_deref(),
                responses: request.input_responses.as_ref(),
            };
            match input::ask(&CONTEXT, false, &answers)? {
                Err(required) => return Ok(required.into()),
                Ok(answered) => {
                    let context = answered.pointer("/user_context/content/context");
                    let context = context.and_then(Value::as_str).unwrap_or_default();
                    vec![text(&format!("Use this context: {context}"))]
                }
            }
        }
        _ => vec![text("This is a simple prompt for testing.")],
    };
    Ok(GetPromptResult::new(messages).into())
}

/// Completes an argument of a prompt.
pub fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let name = &request.argument.name;
    match &request.r#ref {
        Reference::Prompt(prompt) if known(&prompt.name)?.contains(&name.as_str()) => {}
        Reference::Prompt(_) => return Err(invalid(format!("argument `{name}` not found"))),
        _ => return Err(invalid("only arguments of prompts complete".to_owned())),
    }
    let values = ["test-one", "test-two", "other"].map(str::to_owned);
    let fitting = values
        .into_iter()
        .filter(|value| value.starts_with(&request.argument.value));
    let info = CompletionInfo::new(fitting.collect());
    info.map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}
