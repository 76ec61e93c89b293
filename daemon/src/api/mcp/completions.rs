//! Completions: ids of resources and of prompt arguments that a user may mean.

use std::collections::BTreeSet;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::prompts::{Prompt, SESSION, refused, unknown};
use crate::api::dispatch::Dispatch;
use crate::api::tool_selection::ToolSelection;
use crate::error::Refusal;
use crate::operation::Caller;
use crate::resource::{Entry, Kind};

/// Returns values that start with the typed text, or whose titles contain it. The best come first, up to the
/// protocol's limit.
///
/// # Errors
/// When the prompt, the URI template or the argument does not exist.
pub async fn complete(
    dispatch: &Dispatch,
    caller: Caller,
    tools: &ToolSelection,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let name = request.argument.name.as_str();
    let kinds = dispatch.resources().kinds();
    let (kind, parts) = match &request.r#ref {
        Reference::Prompt(prompt) => {
            let arguments = Prompt::of(&prompt.name, tools)?.arguments();
            let known: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
            if !known.contains(&name) {
                return Err(refused(&unknown("argument", name, &known), tools));
            }
            // Other arguments of a prompt have no known values: names and notes are the user's own.
            let kind = kinds.iter().find(|kind| kind.name == SESSION);
            (kind.filter(|_| name == SESSION), vec![name])
        }
        Reference::Resource(template) => {
            let known: Vec<&str> = kinds.iter().map(|kind| kind.template).collect();
            let kind = kinds.iter().find(|kind| kind.template == template.uri);
            let kind = kind.ok_or_else(|| {
                refused(&unknown("kind of address", &template.uri, &known), tools)
            })?;
            (Some(kind), variables(kind))
        }
        // rmcp may add variants.
        _ => {
            return Err(ErrorData::invalid_params(
                "this reference is not known",
                None,
            ));
        }
    };
    let Some(at) = parts.iter().position(|part| *part == name) else {
        return Err(refused(&unknown("argument", name, &parts), tools));
    };
    let entries = match kind {
        Some(kind) => candidates(dispatch, caller, kind)
            .await
            .map_err(|refusal| refused(&refusal, tools))?,
        None => Vec::new(),
    };
    // The parts of an id before the typed one, if the host sends them.
    let before: Vec<Option<&str>> = parts
        .iter()
        .take(at)
        .map(|part| {
            let context = request.context.as_ref();
            let given = context.and_then(|context| context.get_argument(part));
            given.map(String::as_str)
        })
        .collect();
    let values = fitting(&entries, parts.len(), &before, &request.argument.value);
    let total = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    let shown = values
        .into_iter()
        .take(CompletionInfo::MAX_VALUES)
        .collect();
    let info = CompletionInfo::with_pagination(shown, Some(total), has_more);
    info.map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}

/// Returns the variable names in a kind's URI template, in order.
fn variables(kind: &Kind) -> Vec<&'static str> {
    let varying = kind.template.split('{').skip(1);
    varying
        .filter_map(|part| part.split_once('}').map(|(name, _)| name))
        .collect()
}

async fn candidates(
    dispatch: &Dispatch,
    caller: Caller,
    kind: &Kind,
) -> Result<Vec<Entry>, Refusal> {
    let context = dispatch.context().clone();
    (kind.candidates)(context, caller).await
}

/// Returns the next part of each matching id, without duplicates.
fn fitting(entries: &[Entry], parts: usize, before: &[Option<&str>], typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for entry in entries {
        let own: Vec<&str> = entry.id.splitn(parts, '/').collect();
        let fits_before = before
            .iter()
            .zip(&own)
            .all(|(given, own)| given.is_none_or(|given| given == *own));
        let Some(part) = own.get(before.len()).filter(|_| fits_before) else {
            continue;
        };
        let title = entry.title.as_deref().unwrap_or_default();
        let is_meant =
            part.to_lowercase().starts_with(&typed) || title.to_lowercase().contains(&typed);
        if is_meant && seen.insert(*part) {
            found.push((*part).to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, title: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            title: Some(title.to_owned()),
            description: None,
            bytes: None,
        }
    }

    /// Matches the beginning of an id or any part of a title, ignoring case; id parts complete one by one.
    #[test]
    fn what_is_typed_narrows() {
        let entries = [
            entry("lore/bugs", "bugs of Lore"),
            entry("lore/mental_model", "mental_model of Lore"),
            entry("other/bugs", "bugs of Other"),
        ];
        assert_eq!(fitting(&entries, 2, &[], ""), ["lore", "other"]);
        assert_eq!(fitting(&entries, 2, &[], "LO"), ["lore"]);
        assert_eq!(fitting(&entries, 2, &[], "of oth"), ["other"]);
        assert_eq!(
            fitting(&entries, 2, &[Some("lore")], ""),
            ["bugs", "mental_model"]
        );
        assert_eq!(fitting(&entries, 2, &[None], "b"), ["bugs"]);
        assert!(fitting(&entries, 2, &[Some("nosuch")], "").is_empty());
    }
}
