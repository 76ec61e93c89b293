//! Guidance to fix a text: the worst diagnostic step by step, then the others.

use super::fix::{Edit, excerpt};
use super::template::Template;
use super::validate::{Diagnostic, FlawKind, Severity, Validation};

/// What the caller sent: it decides what to send again, and with which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The whole file, with `update_context`.
    File,
    /// An entry, with `append_context`.
    Entry,
}

/// Guidance to fix or improve a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// Message of the worst diagnostic.
    pub primary_issue: String,
    /// Steps to fix it, then the other diagnostics.
    pub step_by_step_fix: Vec<String>,
    /// The part of the template that the faulty part must follow.
    pub template_to_follow: String,
    /// The text with the worst diagnostic fixed as far as possible; of a long text, the part around the edit.
    pub example_fix: String,
    /// Instructions for the next attempt.
    pub retry_instructions: String,
}

/// Returns guidance for the worst error, or for the worst warning if there are no errors. `None` if there are no
/// diagnostics.
#[must_use]
pub fn guide(
    validation: &Validation,
    template: &Template,
    content: &str,
    submission: Submission,
) -> Option<Guidance> {
    let worst = |severity: Severity| {
        let diagnostics = validation.errors.iter();
        let mut of_severity = diagnostics
            .filter(move |diagnostic| diagnostic.severity == severity)
            .collect::<Vec<&Diagnostic>>();
        // The sort is stable: within a kind, the first in the text comes first.
        of_severity.sort_by_key(|diagnostic| diagnostic.kind);
        of_severity
    };
    let (errors, warnings) = (worst(Severity::Error), worst(Severity::Warning));
    let is_warning = errors.is_empty();
    let diagnostics = if is_warning { warnings } else { errors };
    let (first, rest) = diagnostics.split_first()?;
    let count = if is_warning {
        validation.warning_count
    } else {
        validation.error_count
    };
    let mut steps = steps(first, template);
    steps.extend(then(rest.len().max(count.saturating_sub(1))));
    let all: Vec<&Diagnostic> = std::iter::once(*first)
        .chain(rest.iter().copied())
        .collect();
    Some(Guidance {
        primary_issue: first.message.clone(),
        step_by_step_fix: steps,
        template_to_follow: fragment(first, template),
        example_fix: example(&all, content),
        retry_instructions: if is_warning {
            improvement(first)
        } else {
            retry(first, submission)
        },
    })
}

/// Returns a sentence with the next steps.
#[must_use]
pub fn next_steps(guidance: &Guidance, submission: Submission) -> String {
    let sent = match submission {
        Submission::File => "content",
        Submission::Entry => "entry",
    };
    format!(
        "Your {sent} has validation issues. {}",
        guidance.retry_instructions
    )
}

fn steps(diagnostic: &Diagnostic, template: &Template) -> Vec<String> {
    let section = diagnostic.section.as_deref().unwrap_or("whole file");
    match diagnostic.kind {
        FlawKind::MissingSection if diagnostic.renames => {
            let heading = diagnostic.edit.as_ref().map_or("", |edit| edit.text.trim());
            vec![
                format!(
                    "1. Change the heading on line {} to: {heading}",
                    diagnostic.line
                ),
                "2. Leave the text below it as it is".to_owned(),
                "3. Ensure the section follows the template format exactly".to_owned(),
            ]
        }
        FlawKind::MissingSection => {
            let format = template.section(section).map(|one| one.format.word());
            vec![
                format!(
                    "1. Add a new section header: ## {}",
                    section.replace('_', " ")
                ),
                format!(
                    "2. Include the following content structure: {}",
                    format.unwrap_or("freeform")
                ),
                "3. Fill in relevant information based on your current knowledge".to_owned(),
                "4. Ensure the section follows the template format exactly".to_owned(),
            ]
        }
        FlawKind::FormatError => vec![
            format!("1. Review the format requirements for section: {section}"),
            "2. Compare your content with the template example".to_owned(),
            "3. Restructure the content to match the expected format".to_owned(),
            "4. Verify all required elements are present".to_owned(),
        ],
        FlawKind::ContentQuality => vec![
            format!("1. Expand the content in section: {section}"),
            "2. Add more specific details and context".to_owned(),
            "3. Ensure the content is actionable and clear".to_owned(),
            "4. Remove any placeholder text".to_owned(),
        ],
        FlawKind::SchemaViolation => vec![
            format!("1. Address the error: {}", diagnostic.message),
            "2. Follow the template guidance".to_owned(),
        ],
    }
}

/// Mentions the errors after the worst one, which the reply lists.
fn then(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("then: correct the other one that is listed".to_owned()),
        count => Some(format!("then: correct the other {count} that are listed")),
    }
}

fn fragment(diagnostic: &Diagnostic, template: &Template) -> String {
    let schema = diagnostic
        .section
        .as_deref()
        .and_then(|key| template.section(key));
    match (diagnostic.kind, schema) {
        (FlawKind::MissingSection, Some(schema)) => template.section_skeleton(schema),
        (_, Some(schema)) if !template.holds_entries(&schema.key) => {
            template.section_sample(schema)
        }
        _ => match &template.entries {
            Some(entries) if diagnostic.section.is_some() => entries.sample.clone(),
            _ => first_example(template),
        },
    }
}

fn first_example(template: &Template) -> String {
    let example = template.examples.first().cloned();
    example.unwrap_or_else(|| "Follow the template structure".to_owned())
}

/// Applies the fixes of all diagnostics to the text, the worst first; a fix that overlaps another one is left out.
/// What is unknown is a gap.
fn example(diagnostics: &[&Diagnostic], content: &str) -> String {
    let mut edits: Vec<&Edit> = Vec::new();
    for edit in diagnostics.iter().filter_map(|one| one.edit.as_ref()) {
        if edits.iter().all(|other| !edit.overlaps(other)) {
            edits.push(edit);
        }
    }
    match edits.first() {
        Some(first) => Edit::apply_all(&edits, content, first),
        None => excerpt(content, diagnostics.first().map_or(1, |first| first.line)),
    }
}

fn retry(diagnostic: &Diagnostic, submission: Submission) -> String {
    let prompt = &diagnostic.correction_prompt;
    match submission {
        Submission::File => format!(
            "Take your original content and {prompt}. \n\n\
             Make sure to:\n\
             - Keep all existing valid content\n\
             - Only modify the problematic section\n\
             - Follow the exact template format shown above\n\
             - Do not remove other sections that are working correctly\n\n\
             Then call update_context again with your corrected content."
        ),
        Submission::Entry => format!(
            "Take your original entry and {prompt}. \n\n\
             Make sure to:\n\
             - Keep what is right in the entry\n\
             - Follow the exact template format shown above\n\
             - Send this entry alone: the rest of the file stays as it is\n\n\
             Then call append_context again with your corrected entry."
        ),
    }
}

fn improvement(diagnostic: &Diagnostic) -> String {
    format!(
        "The content is valid as it is. To make it better, {}.",
        diagnostic.correction_prompt
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::projects::template::Layers;
    use crate::projects::validate::validate;

    fn guided(name: &str, content: &str) -> Guidance {
        let layers = Layers::built_in();
        let template = &layers.get(name).unwrap().template;
        guide(
            &validate(content, template),
            template,
            content,
            Submission::File,
        )
        .unwrap()
    }

    const FEATURE: &str = "# Features\n\n## Search\n\nStatus: active\nConfidence: high\n\
        Last verified: 2025-01-02\nDescription: finds\nImplementation: src\nUsage: type\n";

    #[test]
    fn a_missing_section_is_worst_and_what_follows_is_listed() {
        let layers = Layers::built_in();
        let template = &layers.get("mental_model").unwrap().template;
        let content = template.examples[0]
            .replace("## Data Flow", "## Stream of Things")
            .replace("**Confidence**: High", "**Confidence**: sure");
        let guidance = guided("mental_model", &content);
        assert_eq!(
            guidance.primary_issue,
            "Missing required section: data_flow"
        );
        let steps = &guidance.step_by_step_fix;
        assert_eq!(steps[0], "1. Add a new section header: ## data flow");
        assert_eq!(
            steps[1],
            "2. Include the following content structure: freeform"
        );
        assert_eq!(
            steps[2],
            "3. Fill in relevant information based on your current knowledge"
        );
        assert_eq!(
            steps[3],
            "4. Ensure the section follows the template format exactly"
        );
        assert_eq!(steps[4..], ["then: correct the other one that is listed"]);
        assert!(
            guidance
                .template_to_follow
                .starts_with("## Data Flow\n\n<how data comes in")
        );
        // Of a long text, the part around the section; it is a gap.
        let (before, behind) = guidance.example_fix.split_once("\n## Data Flow\n").unwrap();
        assert!(before.starts_with("…\n") && !before.contains("## Key Decisions"));
        assert!(
            behind.starts_with("\n<how data comes in") && behind.contains("\n## Key Decisions\n")
        );
    }

    #[test]
    fn the_texts_are_those_that_agents_know() {
        let guidance = guided(
            "mental_model",
            "# Mental Model\n\n## System Overview\n\nx\n",
        );
        let prompt = "add a `## Components` section with one list item per part of the system, each with its purpose, location, dependencies, key functions, notes and the date it was last verified";
        assert_eq!(
            guidance.primary_issue,
            "Missing required section: components"
        );
        assert_eq!(
            guidance.retry_instructions,
            format!(
                "Take your original content and {prompt}. \n\nMake sure to:\n- Keep all existing valid content\n- Only modify the problematic section\n- Follow the exact template format shown above\n- Do not remove other sections that are working correctly\n\nThen call update_context again with your corrected content."
            )
        );
        assert_eq!(
            next_steps(&guidance, Submission::File),
            format!(
                "Your content has validation issues. {}",
                guidance.retry_instructions
            )
        );
    }

    #[test]
    fn each_kind_has_its_own_steps() {
        let steps = |content: &str| guided("features", content).step_by_step_fix;
        let format = steps("# Features\n\n## Search\n\nText.\n\n## Usage\n\nx\n");
        assert_eq!(
            format[0],
            "1. Review the format requirements for section: usage"
        );
        assert_eq!(format[3], "4. Verify all required elements are present");
        let quality = steps(&FEATURE.replace("finds", "TODO"));
        assert_eq!(quality[0], "1. Expand the content in section: search");
        assert_eq!(quality[3], "4. Remove any placeholder text");
        let schema = steps(&FEATURE.replace("Usage: type\n", ""));
        assert_eq!(
            schema,
            [
                "1. Address the error: The feature `Search` has no `Usage`",
                "2. Follow the template guidance"
            ]
        );
    }

    #[test]
    fn the_fix_is_made_from_the_original_and_of_a_long_one_a_part() {
        let fix = guided("features", &FEATURE.replace("active", "done")).example_fix;
        let gap = "<how far it is: Active, In development, Planned, Deprecated>";
        assert_eq!(fix, FEATURE.replace("active", gap));
        let long = FEATURE
            .replace("finds", &"finds again\n".repeat(2000))
            .replace("type", "TODO")
            + &FEATURE.replace("Search", "Sort").replace("active", "done")
            + &"more\n".repeat(2000);
        let layers = Layers::built_in();
        let template = &layers.get("features").unwrap().template;
        let validation = validate(&long, template);
        let diagnostic = validation
            .errors
            .iter()
            .find(|diagnostic| diagnostic.message.contains("done"))
            .unwrap();
        let shown = example(&[diagnostic], &long);
        assert!(
            shown.starts_with("…\n") && shown.ends_with("\n…\n"),
            "{shown}"
        );
        assert!(
            shown.contains("## Sort\n\nStatus: <how far it is") && shown.len() < 2000,
            "{shown}"
        );
    }

    /// What an agent has to do after an append is an append: following the instructions to the letter replaces nothing.
    #[test]
    fn after_an_append_the_entry_alone_is_sent_again() {
        let layers = Layers::built_in();
        let template = &layers.get("features").unwrap().template;
        let entry = FEATURE
            .trim_start_matches("# Features\n\n")
            .replace("active", "done");
        let validation = validate(&entry, template);
        let guidance = guide(&validation, template, &entry, Submission::Entry).unwrap();
        let retry = &guidance.retry_instructions;
        assert!(
            retry.starts_with("Take your original entry and correct `Status`"),
            "{retry}"
        );
        assert!(
            retry.ends_with("Then call append_context again with your corrected entry."),
            "{retry}"
        );
        assert!(
            !retry.contains("update_context") && !retry.contains("content"),
            "{retry}"
        );
        assert!(next_steps(&guidance, Submission::Entry).starts_with("Your entry has"));
        assert!(
            guidance
                .example_fix
                .starts_with("## Search\n\nStatus: <how far"),
            "{guidance:?}"
        );
    }

    /// The fix has the user's own text and gaps, nothing of the template's example; and it is rejected as it is.
    #[test]
    fn a_fix_that_is_sent_as_it_is_is_rejected() {
        let layers = Layers::built_in();
        let cases = [
            ("features", FEATURE.replace("active", "done")),
            ("features", FEATURE.replace("high", "sure").replace("2025-01-02", "last week")),
            ("features", FEATURE.replace("Description: finds", "Description: TODO")),
            ("features", "# Features\n\nWe can search.\n".to_owned()),
            ("session_summary", "# Log\n\n## Today\n\n### Added\n\n- search\n".to_owned()),
            ("session_summary", "# Log\n\n## 2025-01-02: Search\n\nWe made it.\n".to_owned()),
            ("mental_model", "# Shop\n\n## System Overview\n\nThe shop sells lamps.\n".to_owned()),
            (
                "mental_model",
                "# Shop\n\n## Components\n\n- **web**\n  - **Location**: `web/`\n- **mail**: sends mails\n".to_owned(),
            ),
            ("bugs", "# Bugs\n\n## Open Issues\n\n### Lamps flicker\n\n- **Context**: at night\n".to_owned()),
            ("bugs", "# Bugs\n\nLamps flicker at night.\n".to_owned()),
        ];
        for (name, content) in cases {
            let template = &layers.get(name).unwrap().template;
            let validation = validate(&content, template);
            assert!(!validation.valid, "{content}");
            let fix = guide(&validation, template, &content, Submission::File)
                .unwrap()
                .example_fix;
            assert!(fix.contains('<'), "{content}\n--\n{fix}");
            let again = validate(&fix, template);
            let is_gap = |one: &Diagnostic| one.message.starts_with("Placeholder text: <");
            assert!(again.errors.iter().any(is_gap), "{fix}\n{again:#?}");
            let example = &template.examples[0];
            for line in example
                .lines()
                .filter(|line| line.len() > 40 && !content.contains(line))
            {
                let line = line.trim_start_matches([' ', '-']);
                assert!(!fix.contains(line), "{line}\n--\n{fix}");
            }
            for line in content
                .lines()
                .filter(|line| !line.contains(':') && line.len() > 12)
            {
                assert!(
                    fix.contains(line.trim_start_matches('#').trim()),
                    "{line}\n--\n{fix}"
                );
            }
        }
    }

    #[test]
    fn warnings_are_for_when_there_are_no_errors() {
        let guidance = guided(
            "features",
            &(FEATURE.to_owned() + "Notes: none\n\nTODO: measure it\n"),
        );
        assert_eq!(guidance.primary_issue, "Looks like placeholder text: TODO");
        assert!(guidance.retry_instructions.starts_with(
            "The content is valid as it is. To make it better, replace the placeholder"
        ));
        let layers = Layers::built_in();
        let template = &layers.get("features").unwrap().template;
        assert_eq!(
            guide(
                &validate(FEATURE, template),
                template,
                FEATURE,
                Submission::File
            ),
            None
        );
    }

    #[test]
    fn many_that_follow_are_counted() {
        let content = "# Features\n\n## A\n\nx\n\n## B\n\ny\n\n## C\n\nz\n";
        let steps = guided("features", content).step_by_step_fix;
        assert_eq!(steps.len(), 3);
        assert_eq!(steps[2], "then: correct the other 17 that are listed");
    }
}
