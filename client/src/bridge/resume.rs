//! What a host is told when a new daemon took the place of the one that it had subscribed at: what
//! the host has heard already it does not hear again, but that something may have changed meanwhile.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Bound to what the host has had from an earlier daemon.
#[derive(Debug, Default)]
pub(super) struct Resumption {
    /// Answers that the host has had, by id, and what it is told in their places.
    had: HashMap<String, Vec<u8>>,
    /// Streams of changes that the host has been granted.
    granted: HashSet<String>,
}

impl Resumption {
    /// The request of this id, sent again, was answered before.
    pub fn had(&mut self, id: &str, instead: Vec<u8>) {
        self.had.insert(id.to_owned(), instead);
    }

    /// The stream of this id, opened again, was granted before.
    pub fn granted(&mut self, id: &str) {
        self.granted.insert(id.to_owned());
    }

    /// What takes the place of an answer, if the host has had it.
    pub fn instead_of_answer(&mut self, id: &str) -> Option<Vec<u8>> {
        self.had.remove(id)
    }

    /// What takes the place of a stream's grant, if the host has had it.
    pub fn instead_of_grant(&mut self, id: &str, line: &[u8]) -> Option<Vec<u8>> {
        self.granted.remove(id).then(|| changed_in_stream(line))
    }
}

/// That the resource at this address may have changed.
pub(super) fn updated(uri: &str) -> Vec<u8> {
    notification("notifications/resources/updated", &json!({ "uri": uri }))
}

/// That lists of resources may have changed.
pub(super) fn lists() -> Vec<u8> {
    notification("notifications/resources/list_changed", &json!({}))
}

/// That all may have changed that a grant names, in the stream that it is of.
fn changed_in_stream(grant: &[u8]) -> Vec<u8> {
    #[derive(Deserialize)]
    struct Grant<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "_meta", borrow)]
        meta: &'a RawValue,
        notifications: Filter,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Filter {
        #[serde(default)]
        resource_subscriptions: Vec<String>,
        #[serde(default)]
        resources_list_changed: bool,
    }
    let Ok(Grant { params }) = serde_json::from_slice::<Grant<'_>>(grant) else {
        return Vec::new();
    };
    let meta: Value = serde_json::from_str(params.meta.get()).unwrap_or_default();
    let mut lines = Vec::new();
    for uri in params.notifications.resource_subscriptions {
        let about = json!({"_meta": meta, "uri": uri});
        lines.extend(notification("notifications/resources/updated", &about));
    }
    if params.notifications.resources_list_changed {
        let about = json!({ "_meta": meta });
        lines.extend(notification("notifications/resources/list_changed", &about));
    }
    lines
}

fn notification(method: &str, params: &Value) -> Vec<u8> {
    let message = match params.as_object().is_some_and(|params| params.is_empty()) {
        true => json!({"jsonrpc": "2.0", "method": method}),
        false => json!({"jsonrpc": "2.0", "method": method, "params": params}),
    };
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
