//! Types of contexts, derived from their ids: the patterns of "Refined MCP Tools Plan: Use Case
//! Agnostic Design".

/// Types and the upper-case texts that an id of each type contains.
const PATTERNS: [(&str, &[&str]); 5] = [
    ("work_item", &["WI-", "WORK-", "BUG-", "FEATURE-"]),
    ("project", &["PROJ-", "PROJECT-"]),
    ("contract", &["CONTRACT-", "LEGAL-"]),
    ("api", &["API-", "SERVICE-", "ENDPOINT-"]),
    ("policy", &["POLICY-", "PROC-", "PROCEDURE-"]),
];

/// Type of a context that matches no known pattern.
pub const OTHER: &str = "other";

/// Reports whether a context has a type: a known type by its patterns, any other type if the id contains its
/// text, in any case.
#[must_use]
pub fn is_of(context_id: &str, context_type: &str) -> bool {
    let id = context_id.to_uppercase();
    let wanted = context_type.to_lowercase();
    match PATTERNS.iter().find(|(name, _)| *name == wanted) {
        Some((_, patterns)) => patterns.iter().any(|pattern| id.contains(pattern)),
        None => id.contains(&context_type.to_uppercase()),
    }
}

/// Returns the first known type whose patterns match an id.
#[must_use]
pub fn type_of(context_id: &str) -> &'static str {
    let id = context_id.to_uppercase();
    let known = PATTERNS
        .iter()
        .find(|(_, patterns)| patterns.iter().any(|pattern| id.contains(pattern)));
    known.map_or(OTHER, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_patterns() {
        for (id, context_type) in [
            ("WI-123", "work_item"),
            ("bug-7", "work_item"),
            ("UserAPI-v2", "api"),
            ("CONTRACT-2024-001", "contract"),
            ("POLICY-AUTH-001", "policy"),
            ("PROJ-1", "project"),
            ("ProjectAlpha", OTHER),
        ] {
            assert_eq!(type_of(id), context_type, "{id}");
            assert!(context_type == OTHER || is_of(id, context_type), "{id}");
        }
        assert!(is_of("UserAPI-v2", "API"));
        assert!(is_of("ProjectAlpha", "alpha"));
        assert!(!is_of("ProjectAlpha", "project"));
        assert!(!is_of("WI-1", "api"));
    }
}
