//! Conversations: arrays of messages, in the forms of the common APIs and frameworks.
//!
//! A tool's call and its result are one group, which is kept or left out as a whole. Groups are ranked: the first
//! request, the newest messages, marked ones, then by importance.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Share of the room of a conversation beyond which a group is too long alone.
const SHARE: f64 = 0.5;
/// The share of each of the first request, the last one and the newest group, if they are three.
const SHARE_OF_THREE: f64 = 1.0 / 3.0;
/// Percent of the elements that must be messages.
const MESSAGES_PERCENT_MIN: usize = 80;
/// Maximum number of bytes of a text that is searched for words.
const SEARCHED_BYTES_MAX: usize = 4096;
/// Number of elements by which an array is judged.
const JUDGED_MAX: usize = 16;
/// Bytes of a group that halve its importance.
const LONG_BYTES: f64 = 4000.0;

/// Keys of the content of a message.
const CONTENT_KEYS: &[&str] = &[
    "content",
    "parts",
    "text",
    "message",
    "tool_calls",
    "toolCalls",
    "function_call",
    "functionCall",
    "output",
    "arguments",
    "summary",
    "body",
    "kwargs",
    "data",
    "value",
];
/// Keys of the author of a message.
const ROLE_KEYS: &[&str] = &["role", "sender", "author", "speaker", "from", "type"];
/// Keys of a person's name, which only messages have.
const NAME_KEYS: &[&str] = &["speaker", "sender"];
/// Keys that mark a message, if their value says so.
const MARK_KEYS: &[&str] = &[
    "critical",
    "isCritical",
    "is_critical",
    "pinned",
    "isPinned",
    "is_pinned",
    "important",
    "isImportant",
    "is_important",
    "marked",
    "starred",
    "keep",
    "layer",
    "importance",
    "priority",
];
/// Words of a message that others depend on.
const WEIGHTY_WORDS: &[&str] = &[
    "must",
    "never",
    "always",
    "decided",
    "decision",
    "decide",
    "agreed",
    "important",
    "constraint",
    "require",
    "required",
    "deadline",
    "instead",
    "don't",
    "remember",
    "approved",
    "critical",
    "root cause",
    "conclusion",
];

/// A group of messages that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Indices of its messages, in order.
    pub messages: Vec<usize>,
    /// Share of the room beyond which it is too long alone.
    pub share: f64,
}

/// Returns the groups of a conversation by rank; `None` for an array that is not a conversation.
pub fn groups(elements: &[&RawValue]) -> Option<Vec<Group>> {
    if elements.is_empty()
        || elements
            .iter()
            .any(|element| !element.get().starts_with('{'))
    {
        return None;
    }
    let messages: Vec<Option<Message>> = elements
        .iter()
        .map(|element| Message::read(element))
        .collect();
    let found = messages.iter().flatten().count();
    if found * 100 < elements.len() * MESSAGES_PERCENT_MIN {
        return None;
    }
    let messages: Vec<Message> = messages
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect();
    Some(rank(&messages, connect(&messages)))
}

/// Returns whether a value is a conversation, by its first elements.
pub fn is_conversation(json: &str) -> bool {
    if !json.starts_with('[') {
        return false;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    let first = elements.get(..elements.len().min(JUDGED_MAX));
    first.is_some_and(|first| groups(first).is_some())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    System,
    User,
    Assistant,
    Tool,
    #[default]
    Other,
}

/// What matters of a message for its rank.
#[derive(Debug, Default)]
struct Message {
    kind: Kind,
    /// Whether it has text of its own; a user's message with only results of tools has none.
    has_text: bool,
    is_marked: bool,
    is_weighty: bool,
    /// Whether it only introduces the next one, as a reasoning item does.
    is_prelude: bool,
    bytes: usize,
    calls: Vec<Call>,
    results: Vec<Call>,
}

/// The call of a tool, or the result of one.
#[derive(Debug)]
struct Call {
    id: Option<String>,
    name: Option<String>,
}

impl Call {
    fn of(object: &Map<String, Value>, ids: &[&str]) -> Self {
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            id: ids.iter().find_map(|id| text(id)),
            name: text("name")
                .or_else(|| text("toolName"))
                .or_else(|| text("tool_name")),
        }
    }
}

impl Message {
    fn read(element: &RawValue) -> Option<Self> {
        let Ok(Value::Object(outer)) = serde_json::from_str(element.get()) else {
            return None;
        };
        // Transcripts of hosts wrap the message of the API.
        let inner = outer.get("message").and_then(Value::as_object);
        let object = inner
            .filter(|inner| inner.contains_key("role"))
            .unwrap_or(&outer);
        if !CONTENT_KEYS.iter().any(|key| object.contains_key(*key)) {
            return None;
        }
        let role = ROLE_KEYS.iter().find_map(|key| kind_of(object.get(*key)?));
        let item = item_type(object);
        let is_named = NAME_KEYS.iter().any(|key| object.contains_key(*key));
        if role.is_none() && item.is_none() && !is_named {
            return None;
        }
        let mut message = Self {
            kind: role.unwrap_or(Kind::Other),
            bytes: element.get().len(),
            is_marked: is_marked(&outer) || is_marked(object),
            is_prelude: item == Some("reasoning"),
            ..Self::default()
        };
        message.read_calls(object);
        for key in ["content", "parts", "text", "message", "output_text"] {
            message.read_content(object.get(key), 2);
        }
        if message.kind == Kind::Tool && message.results.is_empty() {
            let ids = ["tool_call_id", "toolCallId", "tool_use_id", "call_id", "id"];
            message.results.push(Call::of(object, &ids));
        }
        Some(message)
    }

    fn read_calls(&mut self, object: &Map<String, Value>) {
        for key in ["tool_calls", "toolCalls"] {
            let calls = object.get(key).and_then(Value::as_array);
            for call in calls.into_iter().flatten().filter_map(Value::as_object) {
                self.calls
                    .push(Call::of(call, &["id", "toolCallId", "call_id"]));
            }
        }
        for key in ["function_call", "functionCall"] {
            if let Some(call) = object.get(key).and_then(Value::as_object) {
                self.calls.push(Call::of(call, &["id"]));
            }
        }
        match item_type(object) {
            Some(
                "function_call" | "custom_tool_call" | "mcp_call" | "local_shell_call"
                | "computer_call",
            ) => {
                self.kind = Kind::Assistant;
                self.calls.push(Call::of(object, &["call_id", "id"]));
            }
            Some(
                "function_call_output"
                | "custom_tool_call_output"
                | "local_shell_call_output"
                | "computer_call_output",
            ) => {
                self.kind = Kind::Tool;
                self.results.push(Call::of(object, &["call_id", "id"]));
            }
            _ => {}
        }
    }

    fn read_content(&mut self, content: Option<&Value>, depth: usize) {
        match content {
            Some(Value::String(text)) => self.read_text(text),
            Some(Value::Array(blocks)) if depth > 0 => {
                for block in blocks {
                    match block {
                        Value::String(text) => self.read_text(text),
                        Value::Object(block) => self.read_block(block),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn read_block(&mut self, block: &Map<String, Value>) {
        let kind = block.get("type").and_then(Value::as_str);
        if let Some("tool_use" | "tool-call" | "server_tool_use") = kind {
            self.calls.push(Call::of(block, &["id", "toolCallId"]));
        } else if kind.is_some_and(|kind| kind.ends_with("tool_result") || kind == "tool-result") {
            self.results
                .push(Call::of(block, &["tool_use_id", "toolCallId"]));
        } else if let Some(call) = part(block, ["functionCall", "function_call"]) {
            self.calls.push(Call::of(call, &["id"]));
        } else if let Some(result) = part(block, ["functionResponse", "function_response"]) {
            self.results.push(Call::of(result, &["id"]));
        } else if let Some(text) = block.get("text").and_then(Value::as_str) {
            self.read_text(text);
        }
    }

    fn read_text(&mut self, text: &str) {
        self.has_text |= !text.trim().is_empty();
        let mut end = text.len().min(SEARCHED_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let searched = text.get(..end).unwrap_or_default().to_lowercase();
        self.is_weighty |= WEIGHTY_WORDS.iter().any(|word| has_word(&searched, word));
    }

    /// Returns whether a person asks or instructs here.
    fn is_request(&self) -> bool {
        self.kind == Kind::User && (self.has_text || self.results.is_empty())
    }
}

fn part<'v>(block: &'v Map<String, Value>, keys: [&str; 2]) -> Option<&'v Map<String, Value>> {
    keys.iter().find_map(|key| block.get(*key)?.as_object())
}

fn item_type(object: &Map<String, Value>) -> Option<&str> {
    let name = object.get("type")?.as_str()?;
    let is_item = name.ends_with("_call")
        || name.ends_with("_call_output")
        || name == "reasoning"
        || name == "message";
    is_item.then_some(name)
}

/// Returns the kind of author that a value names: a word, or an object with a role or a name.
fn kind_of(role: &Value) -> Option<Kind> {
    let word = match role {
        Value::String(word) => word,
        Value::Object(author) => author
            .get("role")
            .or_else(|| author.get("type"))?
            .as_str()?,
        _ => return None,
    };
    match word.to_lowercase().as_str() {
        "user" | "human" | "customer" | "person" | "humanmessage" => Some(Kind::User),
        "assistant" | "ai" | "model" | "bot" | "agent" | "aimessage" | "gpt" | "claude"
        | "gemini" => Some(Kind::Assistant),
        "system" | "developer" | "systemmessage" => Some(Kind::System),
        "tool" | "function" | "ipython" | "tool_result" | "toolmessage" => Some(Kind::Tool),
        _ => None,
    }
}

/// Returns whether a message is marked as important, by itself or in its metadata.
fn is_marked(message: &Map<String, Value>) -> bool {
    let metadata = message.get("metadata").and_then(Value::as_object);
    let objects = std::iter::once(message).chain(metadata);
    let mut marks = objects.flat_map(|object| MARK_KEYS.iter().filter_map(|key| object.get(*key)));
    marks.any(|mark| match mark {
        Value::Bool(is_marked) => *is_marked,
        Value::Number(number) => number
            .as_f64()
            .is_some_and(|importance| (0.8..=1.0).contains(&importance)),
        Value::String(word) => matches!(
            word.to_lowercase().as_str(),
            "critical" | "high" | "highest" | "pinned"
        ),
        _ => false,
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_end =
        |character: Option<char>| character.is_none_or(|character| !character.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|after| after.chars().next());
        is_end(before) && is_end(after)
    })
}

/// Connects each result with its call, and returns the groups in the order of their first messages.
fn connect(messages: &[Message]) -> Vec<Vec<usize>> {
    let mut groups = UnionFind((0..messages.len()).collect());
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    // Calls without a result yet, oldest first: names are the only connection in some forms.
    let mut open: Vec<(usize, Option<&str>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for result in &message.results {
            let known = result.id.as_deref().and_then(|id| by_id.get(id).copied());
            let call = known.or_else(|| {
                let is_same = |(_, name): &(usize, Option<&str>)| {
                    result.name.is_none() || *name == result.name.as_deref()
                };
                open.iter()
                    .position(is_same)
                    .map(|found| open.remove(found).0)
            });
            if let Some(call) = call {
                groups.join(call, at);
            }
        }
        for call in &message.calls {
            match call.id.as_deref() {
                Some(id) => {
                    by_id.insert(id, at);
                }
                None => open.push((at, call.name.as_deref())),
            }
        }
        if message.is_prelude && at + 1 < messages.len() {
            groups.join(at, at + 1);
        }
    }
    let mut joined: Vec<Vec<usize>> = vec![Vec::new(); messages.len()];
    for at in 0..messages.len() {
        let root = groups.root(at);
        if let Some(group) = joined.get_mut(root) {
            group.push(at);
        }
    }
    joined.retain(|group| !group.is_empty());
    joined
}

/// Disjoint sets; the root of a set is its smallest index.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn root(&mut self, of: usize) -> usize {
        let mut root = of;
        while let Some(above) = self.0.get(root).copied().filter(|above| *above != root) {
            root = above;
        }
        if let Some(above) = self.0.get_mut(of) {
            *above = root;
        }
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(above) = self.0.get_mut(a.max(b)) {
            *above = a.min(b);
        }
    }
}

/// Ranks the groups.
fn rank(messages: &[Message], groups: Vec<Vec<usize>>) -> Vec<Group> {
    let of = |group: &[usize]| {
        group
            .iter()
            .filter_map(|at| messages.get(*at))
            .collect::<Vec<_>>()
    };
    let is_request = |group: &Vec<usize>| of(group).iter().any(|message| message.is_request());
    let newest = groups
        .iter()
        .enumerate()
        .max_by_key(|(_, group)| group.last().copied())
        .map(|(at, _)| at);
    // Without a request, the first message says what the conversation is about.
    let first = groups
        .iter()
        .position(is_request)
        .or((!groups.is_empty()).then_some(0));
    let last = groups.iter().rposition(is_request);
    let mut chosen: Vec<usize> = Vec::new();
    for at in [first, last, newest].into_iter().flatten() {
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    let share = match (groups.len(), chosen.len()) {
        (1, _) => 1.0,
        (_, 3) => SHARE_OF_THREE,
        _ => SHARE,
    };
    let mut rest: Vec<(bool, f64, usize)> = Vec::new();
    for (at, group) in groups
        .iter()
        .enumerate()
        .filter(|(at, _)| !chosen.contains(at))
    {
        let age = (groups.len() - at) as f64;
        let is_marked = of(group).iter().any(|message| message.is_marked);
        rest.push((!is_marked, age * weight(&of(group)), at));
    }
    rest.sort_by(|(marked_a, a, at_a), (marked_b, b, at_b)| {
        marked_a
            .cmp(marked_b)
            .then(a.total_cmp(b))
            .then(at_b.cmp(at_a))
    });
    let must = chosen.iter().map(|at| (*at, share));
    let ranked = must.chain(rest.iter().map(|(_, _, at)| (*at, SHARE)));
    let ranked = ranked.filter_map(|(at, share)| {
        let messages = groups.get(at)?.clone();
        Some(Group { messages, share })
    });
    ranked.collect()
}

/// Returns the factor by which a group ages: 1 is a short answer of an assistant, and more is less important.
fn weight(messages: &[&Message]) -> f64 {
    let bytes: usize = messages.iter().map(|message| message.bytes).sum();
    let has = |test: fn(&Message) -> bool| messages.iter().any(|message| test(message));
    let kind = if has(|message| message.kind == Kind::System) {
        0.25
    } else if has(Message::is_request) {
        0.5
    } else if has(|message| !message.calls.is_empty() || !message.results.is_empty()) {
        2.0
    } else {
        1.0
    };
    let is_weighty = has(|message| message.is_weighty && message.kind != Kind::Tool);
    let weighty = if is_weighty { 0.5 } else { 1.0 };
    kind * weighty * (1.0 + bytes as f64 / LONG_BYTES)
}

#[cfg(test)]
mod tests;
