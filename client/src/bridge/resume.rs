//! Replacement messages for a host after a reconnect to a new daemon: responses that the host already has
//! are not sent again; a notification that something may have changed is sent instead.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Responses and grants that the host has received from earlier daemons.
#[derive(Debug, Default)]
pub(super) struct Resumption {
    /// Responses that the host has, by request id, with the line to send instead.
    had: HashMap<String, Vec<u8>>,
    /// Ids of the change streams that were granted to the host.
    granted: HashSet<String>,
}

impl Resumption {
    /// Records that the request with this id was already answered, before it was sent again.
    pub fn had(&mut self, id: &str, instead: Vec<u8>) {
        self.had.insert(id.to_owned(), instead);
    }

    /// Records that the stream with this id was already granted, before it was opened again.
    pub fn granted(&mut self, id: &str) {
        self.granted.insert(id.to_owned());
    }

    /// Returns the line to send instead of a response, if the host already has the response.
    pub fn instead_of_answer(&mut self, id: &str) -> Option<Vec<u8>> {
        self.had.remove(id)
    }

    /// Returns the line to send instead of a stream's grant, if the host already has the grant.
    pub fn instead_of_grant(&mut self, id: &str, line: &[u8]) -> Option<Vec<u8>> {
        self.granted.remove(id).then(|| changed_in_stream(line))
    }
}

/// Encodes a notification that the resource at this URI may have changed.
pub(super) fn updated(uri: &str) -> Vec<u8> {
    notification("notifications/resources/updated", &json!({ "uri": uri }))
}

/// Encodes notifications that the resource lists may have changed.
pub(super) fn lists() -> Vec<u8> {
    notification("notifications/resources/list_changed", &json!({}))
}

/// Encodes notifications, within the granted stream, that everything the grant names may have changed.
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
