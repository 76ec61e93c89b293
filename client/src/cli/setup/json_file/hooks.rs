//! Hooks and rules for tools in hosts' JSON files: elements of lists, among those of other programs.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp};
use lored_hosts::config::{Format, HookSetup, Permission};
use serde_json::Value;

use super::File;
use crate::cli::setup::edit::{EditError, JsonShape};
use crate::cli::setup::entry::InstallState;

/// The object that holds the lists of hooks.
const HOOKS: &str = "hooks";
/// The number of the file's form, which Copilot CLI and Cursor demand.
const VERSION: &str = "version";

/// Returns whether all hooks are there, or some; `None` if there are none.
pub fn find_hooks(
    shape: JsonShape,
    text: &str,
    setup: &HookSetup,
) -> Result<Option<InstallState>, EditError> {
    let file = File::parse(shape, text)?;
    let Some(hooks) = file.object_of_top(HOOKS)? else {
        return Ok(None);
    };
    let mut found = 0;
    for entry in setup.entries {
        let list = file.list(&hooks, entry.event)?;
        let is_there = list.is_some_and(|list| {
            let values = list.elements().into_iter().map(|node| value(&node));
            values
                .into_iter()
                .any(|one| is_entry(&one, entry.matcher, entry.command))
        });
        found += usize::from(is_there);
    }
    Ok(match found {
        0 => None,
        all if all == setup.entries.len() => Some(InstallState::Same),
        _ => Some(InstallState::Other),
    })
}

/// Appends the hooks that are not there. Others are never moved: Codex knows a hook by its place, too.
pub fn put_hooks(shape: JsonShape, text: &str, setup: &HookSetup) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    file.object_of_top(HOOKS)?;
    let top = file.root.object_value_or_set();
    if matches!(setup.format, Format::Copilot | Format::Cursor)
        && file.member(&top, VERSION)?.is_none()
    {
        top.insert(0, VERSION, CstInputValue::Number("1".to_owned()));
    }
    let hooks = top.object_value_or_set(HOOKS);
    let Some(wanted) = setup.hooks() else {
        return Ok(file.root.to_string());
    };
    for (event, values) in wanted.as_object().into_iter().flatten() {
        file.list(&hooks, event)?;
        let list = hooks.array_value_or_set(event);
        for wanted in values.as_array().into_iter().flatten() {
            let matcher = wanted.get("matcher").and_then(Value::as_str);
            let command = commands(wanted).next().unwrap_or_default().to_owned();
            let is_there = list
                .elements()
                .iter()
                .any(|node| is_entry(&value(node), matcher.unwrap_or_default(), &command));
            if !is_there {
                list.append(input(wanted));
            }
        }
    }
    Ok(file.root.to_string())
}

/// Removes the hooks, and the lists and objects that become empty.
pub fn remove_hooks(shape: JsonShape, text: &str, setup: &HookSetup) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    let Some(hooks) = file.object_of_top(HOOKS)? else {
        return Ok(text.to_owned());
    };
    let is_ours = |command: &str| setup.entries.iter().any(|entry| entry.command == command);
    for event in hooks.properties() {
        let Some(list) = event.array_value() else {
            continue;
        };
        let before = list.elements().len();
        for element in list.elements() {
            remove_commands(element, &is_ours);
        }
        if before > 0 && list.elements().is_empty() {
            event.remove();
        }
    }
    remove_if_empty(&file, HOOKS)?;
    Ok(file.root.to_string())
}

/// Removes our commands from an element of an event's list: a hook, or a group of hooks with a matcher.
fn remove_commands(element: CstNode, is_ours: &dyn Fn(&str) -> bool) {
    let content = value(&element);
    let Some(object) = element.as_object() else {
        return;
    };
    match object.array_value(HOOKS) {
        None if commands(&content).any(is_ours) => element.remove(),
        None => {}
        Some(group) => {
            let ours: Vec<CstNode> = group
                .elements()
                .into_iter()
                .filter(|hook| commands(&value(hook)).any(is_ours))
                .collect();
            match ours.len() == group.elements().len() && !ours.is_empty() {
                true => element.remove(),
                false => ours.into_iter().for_each(CstNode::remove),
            }
        }
    }
}

/// Returns whether a rule is in its list.
pub fn find_rule(
    shape: JsonShape,
    text: &str,
    permission: Permission,
) -> Result<Option<InstallState>, EditError> {
    let file = File::parse(shape, text)?;
    let rules = rules(&file, permission)?;
    let rule = Value::from(permission.rule);
    let is_there =
        rules.is_some_and(|rules| rules.elements().iter().any(|node| value(node) == rule));
    Ok(is_there.then_some(InstallState::Same))
}

/// Appends a rule to its list.
pub fn put_rule(shape: JsonShape, text: &str, permission: Permission) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    if rules(&file, permission)?.is_none() {
        let (folder, list) = names(permission);
        let folder = file.root.object_value_or_set().object_value_or_set(folder);
        folder.array_value_or_set(list);
    }
    if let Some(rules) = rules(&file, permission)? {
        rules.append(CstInputValue::from(permission.rule));
    }
    Ok(file.root.to_string())
}

/// Removes a rule, and the list and the object that become empty.
pub fn remove_rule(
    shape: JsonShape,
    text: &str,
    permission: Permission,
) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    let Some(rules) = rules(&file, permission)? else {
        return Ok(text.to_owned());
    };
    let rule = Value::from(permission.rule);
    for element in rules.elements() {
        if value(&element) == rule {
            element.remove();
        }
    }
    let (folder, list) = names(permission);
    if rules.elements().is_empty()
        && let Some(folder) = file.object_of_top(folder)?
        && let Some(list) = file.member(&folder, list)?
    {
        list.remove();
    }
    remove_if_empty(&file, folder)?;
    Ok(file.root.to_string())
}

/// Returns the list of a rule, if it exists.
fn rules(file: &File<'_>, permission: Permission) -> Result<Option<CstArray>, EditError> {
    let (folder, list) = names(permission);
    match file.object_of_top(folder)? {
        Some(folder) => file.list(&folder, list),
        None => Ok(None),
    }
}

/// Returns the two names of the place of a list: all are in an object of the outermost one.
fn names(permission: Permission) -> (&'static str, &'static str) {
    let path = permission.list.trim_start_matches('/');
    path.split_once('/').unwrap_or((path, ""))
}

fn remove_if_empty(file: &File<'_>, name: &str) -> Result<(), EditError> {
    if let Some(object) = file.object_of_top(name)?
        && object.properties().is_empty()
        && let Some(top) = file.root.object_value()
        && let Some(member) = file.member(&top, name)?
    {
        member.remove();
    }
    Ok(())
}

impl File<'_> {
    /// Returns an object in the outermost one, if it exists.
    fn object_of_top(&self, name: &str) -> Result<Option<CstObject>, EditError> {
        let Some(top) = self.root.value() else {
            return Ok(None);
        };
        let Some(top) = top.as_object() else {
            return Err(self.fault(&top, "an object should stand here"));
        };
        let Some(member) = self.member(&top, name)? else {
            return Ok(None);
        };
        match member.object_value() {
            Some(object) => Ok(Some(object)),
            None => Err(self.fault(&member.into(), format!("`{name}` should be an object"))),
        }
    }

    /// Returns a list in an object, if it exists.
    fn list(&self, object: &CstObject, name: &str) -> Result<Option<CstArray>, EditError> {
        let Some(member) = self.member(object, name)? else {
            return Ok(None);
        };
        let list: Option<CstArray> = CstObjectProp::array_value(&member);
        match list {
            Some(list) => Ok(Some(list)),
            None => Err(self.fault(&member.into(), format!("`{name}` should be a list"))),
        }
    }
}

/// Returns whether an element of an event's list is a hook with this command, for these tools. Other fields may differ: a
/// hook that is there is never changed.
fn is_entry(value: &Value, matcher: &str, command: &str) -> bool {
    let own = value.get("matcher").and_then(Value::as_str);
    let is_for_all = |matcher: &str| matches!(matcher, "" | "*");
    let own = own.unwrap_or_default();
    let is_same = own == matcher || is_for_all(own) && is_for_all(matcher);
    is_same && commands(value).any(|one| one == command)
}

/// Returns the commands of a hook, or of the hooks of a group.
fn commands(value: &Value) -> impl Iterator<Item = &str> {
    let group = value.get(HOOKS).and_then(Value::as_array);
    let hooks = group.into_iter().flatten().chain(std::iter::once(value));
    hooks.filter_map(|hook| {
        let command = hook.get("command").or_else(|| hook.get("bash"));
        command?.as_str()
    })
}

fn value(node: &CstNode) -> Value {
    node.to_serde_value().unwrap_or_default()
}

/// Returns a value to be written.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            CstInputValue::Object(
                fields
                    .map(|(name, value)| (name.clone(), input(value)))
                    .collect(),
            )
        }
    }
}
