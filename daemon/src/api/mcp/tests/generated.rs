//! Calls that are generated from the schemas: the program accepts them, and its replies are as their schemas say.

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::*;
use crate::api::operations::TABLE;

/// Calls of each operation; `LORE_GENERATED_CALLS` sets another number.
const CALLS: u64 = 17;
/// Most calls that may be refused as invalid, in percent.
const REFUSED_PERCENT_MAX: usize = 2;

/// Operations whose arguments must name a folder that exists, or hold an export; a schema cannot say that. And one that
/// waits.
const NOT_GENERATED: [&str; 6] = [
    "add_source",
    "follow_events",
    "import_log",
    "import_session",
    "init_project",
    // It asks a server that only a running daemon has.
    "open_page",
];

/// Refusals that depend on what is stored, by a part of their message.
const OF_STATE: [&str; 5] = [
    "has not reached",
    "has no template",
    "no project",
    "step numbers go from 1 to 1000000; this would be",
    "what is asked and the instruction alone have",
];

/// Draws values of a schema, the same in each run.
struct Generator(TestRunner);

impl Generator {
    fn below(&mut self, end: u64) -> u64 {
        let tree = (0..end.max(1)).new_tree(&mut self.0).unwrap();
        tree.current()
    }

    fn one<'a>(&mut self, from: &'a [Value]) -> &'a Value {
        &from[self.below(from.len() as u64) as usize]
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(names) = schema["enum"].as_array() {
            return self.one(names).clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.one(kinds).clone(),
            kind => kind.clone(),
        };
        match kind.as_str().unwrap() {
            "string" => json!(self.text(schema)),
            "boolean" => json!(self.below(2) == 1),
            "number" => json!(self.below(1000)),
            "integer" => {
                let least = schema["minimum"].as_i64().unwrap();
                let most = schema["maximum"].as_i64().unwrap();
                let near = least + self.below((most - least + 1).min(20) as u64) as i64;
                json!([least, most, near, near][self.below(4) as usize])
            }
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(0);
                let length = least + self.below(3);
                let any = json!({"type": "string"});
                let items = schema.get("items").unwrap_or(&any);
                (0..length).map(|_| self.value(items)).collect()
            }
            "object" => self.object(schema),
            other => panic!("a schema has the type {other}"),
        }
    }

    fn text(&mut self, schema: &Value) -> String {
        let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
        let most = schema["maxLength"].as_u64().unwrap_or(100) as usize;
        let pattern = match schema["pattern"].as_str() {
            None => ".{0,24}".to_owned(),
            Some("\\S") => "[a-z ]{0,8}[a-zé]{3}[a-z ]{0,8}".to_owned(),
            Some(pattern) => pattern.trim_matches(['^', '$']).to_owned(),
        };
        let texts = string_regex(&pattern).unwrap();
        loop {
            let text = texts.new_tree(&mut self.0).unwrap().current();
            let text: String = text.chars().take(most).collect();
            if text.chars().count() >= least {
                return text;
            }
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut object = serde_json::Map::new();
        let none = serde_json::Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let least = schema["minProperties"].as_u64().unwrap_or(0) as usize;
        // Pages and positions to wait for come from replies.
        let is_drawn =
            |name: &str| !["next", "at_least", "atLeast", "session", "sessionId"].contains(&name);
        let mut optional = Vec::new();
        for (name, property) in properties {
            if required.contains(&json!(name)) {
                object.insert(name.clone(), self.value(property));
            } else if is_drawn(name) {
                optional.push((name, property));
            }
        }
        while !optional.is_empty() && (object.len() < least || self.below(2) == 1) {
            let at = self.below(optional.len() as u64) as usize;
            let (name, property) = optional.swap_remove(at);
            if !is_excluded(schema, &object, name) {
                object.insert(name.clone(), self.value(property));
            }
        }
        for name in object.clone().keys() {
            let rule = &schema["dependentSchemas"][name];
            let named = |one: &Value| one["required"][0].as_str().unwrap_or_default().to_owned();
            if let Some(needed) = rule["required"][0].as_str() {
                object.insert(needed.to_owned(), self.value(&properties[needed]));
            }
            let choices: Vec<String> = rule["anyOf"]
                .as_array()
                .into_iter()
                .flatten()
                .map(named)
                .collect();
            if !choices.is_empty() && !choices.iter().any(|one| object.contains_key(one)) {
                let chosen = choices[self.below(choices.len() as u64) as usize].clone();
                let value = self.value(&properties[&chosen]);
                object.insert(chosen, value);
            }
        }
        if properties.is_empty() && schema["additionalProperties"] != false {
            let values = schema
                .get("additionalProperties")
                .filter(|values| values.is_object());
            for name in ["alpha", "beta"].iter().take(self.below(3) as usize) {
                let value = values.map_or(json!([1, "x"]), |values| self.value(values));
                object.insert((*name).to_owned(), value);
            }
        }
        Value::Object(object)
    }
}

/// Returns whether an argument and those that are there exclude each other.
fn is_excluded(schema: &Value, there: &serde_json::Map<String, Value>, name: &str) -> bool {
    let excludes = |one: &str, other: &str| {
        schema["dependentSchemas"][one]["properties"][other]["not"].is_object()
    };
    let needs = schema["dependentSchemas"][name]["required"].as_array();
    let needs_excluded = needs.into_iter().flatten().filter_map(Value::as_str);
    let mut names = vec![name];
    names.extend(needs_excluded);
    names.iter().any(|name| {
        there
            .keys()
            .any(|one| excludes(one, name) || excludes(name, one))
    })
}

/// Checks a value against the keywords that the schemas of replies use.
fn check(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    for (key, rule) in schema.as_object().ok_or(format!("{path}: no schema"))? {
        let holds = match (key.as_str(), rule) {
            ("type", Value::String(kind)) => is_of(value, kind),
            ("type", Value::Array(kinds)) => kinds
                .iter()
                .any(|kind| is_of(value, kind.as_str().unwrap())),
            ("enum", Value::Array(names)) => names.contains(value),
            ("const", rule) => value == rule,
            ("required", Value::Array(names)) => {
                !value.is_object()
                    || names
                        .iter()
                        .all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Some(value) = value.get(name) {
                        check(property, value, &format!("{path}/{name}"))?;
                    }
                }
                true
            }
            ("items", items) => {
                for value in value.as_array().into_iter().flatten() {
                    check(items, value, &format!("{path}[]"))?;
                }
                true
            }
            ("additionalProperties", Value::Object(_)) => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                for (name, value) in value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| !known(name))
                {
                    check(rule, value, &format!("{path}/{name}"))?;
                }
                true
            }
            ("additionalProperties", Value::Bool(is_open)) => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                *is_open
                    || value
                        .as_object()
                        .is_none_or(|value| value.keys().all(known))
            }
            ("anyOf" | "oneOf", Value::Array(variants)) => {
                let tried = variants.iter().map(|variant| check(variant, value, path));
                let (fits, wrong): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
                if fits.is_empty() {
                    return wrong.into_iter().next().unwrap_or(Ok(()));
                }
                true
            }
            ("minimum", rule) => value.as_f64() >= rule.as_f64(),
            ("maximum", rule) => value.as_f64() <= rule.as_f64(),
            (
                "description" | "title" | "default" | "format" | "pattern" | "maxLength"
                | "minItems" | "maxItems",
                _,
            ) => true,
            (other, rule) => panic!("{path}: {other}: {rule}"),
        };
        if !holds {
            return Err(format!("{path}: {value} is not as `{key}` says: {rule}"));
        }
    }
    Ok(())
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("a schema has the type {other}"),
    }
}

/// Of the calls that the schemas allow, few are refused as invalid. Every structured content is as its schema says.
#[tokio::test]
async fn what_schemas_allow_is_accepted() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    let wanted = std::env::var("LORE_GENERATED_CALLS").ok();
    let wanted = wanted.map_or(CALLS, |number| number.parse().expect("a number of calls"));
    let mut generator = Generator(TestRunner::deterministic());
    let (mut calls, mut succeeded, mut refused) = (0, 0, Vec::new());
    for tool in TOOLS.iter() {
        let name = tool.name.as_ref();
        if NOT_GENERATED.contains(&name) || name.starts_with("test_") {
            continue;
        }
        let input = Value::Object((*tool.input_schema).clone());
        let output = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        for id in 0..wanted {
            let arguments = generator.value(&input);
            let answer = peer.call(id, name, arguments.clone()).await;
            let content = &answer["result"]["structuredContent"];
            if let Err(wrong) = check(&output, content, name) {
                panic!("{wrong}: {arguments} -> {answer}");
            }
            calls += 1;
            succeeded += usize::from(answer["result"]["isError"] == false);
            let message = content["message"].as_str().unwrap_or_default();
            if content["code"] == "INVALID_INPUT"
                && !OF_STATE.iter().any(|part| message.contains(part))
            {
                refused.push(format!("{name}: {message} {arguments}"));
            }
        }
    }
    assert!(
        TABLE.len() > 80 && calls > 1500 && succeeded * 3 > calls,
        "{succeeded} of {calls}"
    );
    println!(
        "{calls} calls: {succeeded} succeeded, {} refused as invalid",
        refused.len()
    );
    let shown = refused.join("\n");
    assert!(
        refused.len() * 100 <= calls * REFUSED_PERCENT_MAX,
        "{} of {calls}:\n{shown}",
        refused.len()
    );
}
