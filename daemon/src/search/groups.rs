//! Hashes by which the index finds the texts of one thing: a document, a context file, a session.

/// Hashes the name of a group.
#[must_use]
pub fn hash(kind: &str, parts: &[&str]) -> u64 {
    let mut bytes = kind.as_bytes().to_vec();
    for part in parts {
        bytes.push(0);
        bytes.extend(part.as_bytes());
    }
    let digest = crate::log::Hash::of(&bytes).0;
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    // 0 means none.
    u64::from_be_bytes(first).max(1)
}

/// Returns the group of a document.
#[must_use]
pub fn of_document(document: &str) -> u64 {
    hash("document", &[document])
}

/// Returns the group of a context file.
#[must_use]
pub fn of_context(project: &str, file_type: &str) -> u64 {
    hash("context", &[project, file_type])
}

/// Returns the hash of a source.
#[must_use]
pub fn of_source(source: &str) -> u64 {
    hash("source", &[source])
}

/// Returns the hash of a session.
#[must_use]
pub fn of_session(session: &str) -> u64 {
    hash("session", &[session])
}

/// Returns the group of a tool call: one text for all events of the same call.
#[must_use]
pub fn of_execution(session: &str, id: &str) -> u64 {
    hash("execution", &[session, id])
}

/// Returns the group of a checkpoint.
#[must_use]
pub fn of_checkpoint(checkpoint: &str) -> u64 {
    hash("checkpoint", &[checkpoint])
}
