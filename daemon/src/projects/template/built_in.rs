//! The built-in templates.

/// File name and text of each template.
pub(super) const BUILT_IN: [(&str, &str); 4] = [
    ("mental_model.toml", include_str!("mental_model.toml")),
    ("session_summary.toml", include_str!("session_summary.toml")),
    ("bugs.toml", include_str!("bugs.toml")),
    ("features.toml", include_str!("features.toml")),
];
