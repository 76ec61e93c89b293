//! Groups and ranks of conversations in the forms of the common APIs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};

use super::*;

/// Returns the groups by rank, as indices.
fn ranked(conversation: &Value) -> Option<Vec<Vec<usize>>> {
    let json = conversation.to_string();
    let elements: Vec<&RawValue> = serde_json::from_str(&json).unwrap();
    let groups = groups(&elements)?;
    Some(groups.into_iter().map(|group| group.messages).collect())
}

fn pairs(conversation: &Value) -> Vec<Vec<usize>> {
    let mut groups = ranked(conversation).expect("a conversation");
    groups.retain(|group| group.len() > 1);
    groups.sort();
    groups
}

/// The same conversation in each form: a request, two calls in one turn, their results, an answer.
#[test]
fn a_call_and_its_result_are_one_group_in_every_form() {
    let openai = json!([
        {"role": "system", "content": "You are a network engineer."},
        {"role": "user", "content": "Is it up?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "ping", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "show", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "b", "content": "up"},
        {"role": "tool", "tool_call_id": "a", "content": "3 ms"},
        {"role": "assistant", "content": "Yes."},
    ]);
    assert_eq!(pairs(&openai), [[2, 3, 4]]);
    let legacy = json!([
        {"role": "user", "content": "Is it up?"},
        {"role": "assistant", "content": null, "function_call": {"name": "ping", "arguments": "{}"}},
        {"role": "function", "name": "ping", "content": "3 ms"},
    ]);
    assert_eq!(pairs(&legacy), [[1, 2]]);
    let responses = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is it up?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "ping", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "3 ms"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
    ]);
    assert_eq!(pairs(&responses), [[1, 2, 3]]);
    let anthropic = json!([
        {"role": "user", "content": "Is it up?"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "a", "name": "ping", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "3 ms"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
    ]);
    assert_eq!(pairs(&anthropic), [[1, 2]]);
    let gemini = json!([
        {"role": "user", "parts": [{"text": "Is it up?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ping", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ping", "response": {"ms": 3}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ping", "args": {}}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "ping", "response": {"ms": 4}}}]},
        {"role": "model", "parts": [{"text": "Yes."}]},
    ]);
    assert_eq!(pairs(&gemini), [[1, 2], [3, 4]]);
    let sdk = json!([
        {"role": "user", "content": "Is it up?"},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "a", "toolName": "ping", "args": {}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a", "toolName": "ping", "result": 3}]},
    ]);
    assert_eq!(pairs(&sdk), [[1, 2]]);
    let langchain = json!([
        {"type": "human", "content": "Is it up?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "ping", "args": {}, "id": "a"}]},
        {"type": "tool", "content": "3 ms", "tool_call_id": "a"},
    ]);
    assert_eq!(pairs(&langchain), [[1, 2]]);
    let transcript = json!([
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Is it up?"}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {}}]}},
        {"type": "user", "uuid": "3", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "3 ms"}]}},
    ]);
    assert_eq!(pairs(&transcript), [[1, 2]]);
}

/// Ids may be used again; each result belongs to the call before it.
#[test]
fn a_result_belongs_to_the_last_call_with_its_id() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "call_0"}]});
    let result = json!({"role": "tool", "tool_call_id": "call_0", "content": "x"});
    let conversation = json!([call, result, call, result]);
    assert_eq!(pairs(&conversation), [[0, 1], [2, 3]]);
}

#[test]
fn first_request_last_request_newest_marked_then_by_importance() {
    let conversation = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Migrate the billing service."},
        {"role": "assistant", "content": "I begin."},
        {"role": "assistant", "content": "The old endpoint stays for two weeks.", "pinned": true},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "a long listing ".repeat(600)},
        {"role": "user", "content": "We must keep invoices."},
        {"role": "assistant", "content": "Noted."},
        {"role": "assistant", "content": "Halfway."},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "2"}]},
        {"role": "tool", "tool_call_id": "2", "content": "done"},
    ]);
    let ranked = ranked(&conversation).unwrap();
    assert_eq!(ranked[..4], [vec![1], vec![9], vec![10, 11], vec![3]]);
    let rank = |at: usize| ranked.iter().position(|group| group.contains(&at)).unwrap();
    assert!(rank(6) < rank(7), "an instruction outweighs an answer");
    assert!(
        rank(0) < rank(2),
        "the system's instruction is early and short"
    );
    assert_eq!(rank(5), ranked.len() - 1, "a long old result is the last");
}

/// In a user's message, results of tools are not a request.
#[test]
fn a_result_is_not_the_last_request() {
    let conversation = json!([
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "second"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]},
    ]);
    assert_eq!(
        ranked(&conversation).unwrap()[..3],
        [vec![0], vec![2], vec![3, 4]]
    );
}

#[test]
fn people_may_talk_as_well() {
    let conversation = json!([
        {"speaker": "Dana", "text": "Hello"},
        {"speaker": "Ali", "text": "Hello Dana"},
        {"speaker": "Dana", "text": "Bye"},
    ]);
    assert_eq!(ranked(&conversation).unwrap()[..2], [vec![0], vec![2]]);
}

/// A conversation begins with one message, which has all of its room.
#[test]
fn one_message_is_a_conversation() {
    for one in [
        json!([{"role": "user", "content": "alone"}]),
        json!([{"speaker": "Dana", "text": "Hello"}]),
    ] {
        assert_eq!(ranked(&one).unwrap(), [vec![0]], "{one}");
        assert!(is_conversation(&one.to_string()));
    }
}

#[test]
fn other_arrays_are_not_conversations() {
    for other in [
        json!([]),
        json!(["user: a", "assistant: b"]),
        json!([{"level": "error", "message": "x"}, {"level": "info", "message": "y"}]),
        json!([{"name": "Dana", "role": "user"}, {"name": "Ali", "role": "admin"}]),
        json!([{"title": "A", "text": "x"}, {"title": "B", "text": "y"}]),
        json!([{"type": "interface", "name": "eth0"}, {"type": "interface", "name": "eth1"}]),
    ] {
        assert_eq!(ranked(&other), None, "{other}");
    }
}
