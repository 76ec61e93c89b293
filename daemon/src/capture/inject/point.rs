//! What a hook report means for injection: the moment, and what it is about.

use lored_hosts::{Delivery, HookEvent, Host, Moment, Observed, ToolKind};

use crate::projects::Coordination;

/// A point at which text may be added to a model's context.
#[derive(Clone, Debug)]
pub struct InjectionPoint {
    /// The host.
    pub host: Host,
    /// The moment.
    pub moment: Moment,
    /// The prompt of the user, the task of a subagent; empty at other moments.
    pub text: String,
    /// Files that are about to change, with what is written.
    pub edits: Vec<(String, String)>,
    /// The command that failed, with what it printed.
    pub failure: Option<(String, String)>,
    /// The working folder.
    pub folder: Option<String>,
    /// What is said of others that work on the same files.
    pub coordination: Coordination,
}

impl InjectionPoint {
    /// Returns the point of an event; `None` if nothing can be added.
    pub fn of(event: &HookEvent) -> Option<Self> {
        let moment = event.moment?;
        let mut point = Self {
            host: event.host,
            moment,
            text: String::new(),
            edits: Vec::new(),
            failure: None,
            folder: event.source.cwd.clone(),
            coordination: Coordination::default(),
        };
        for observation in &event.observations {
            point.take(&observation.what);
        }
        let is_complete = match moment {
            Moment::Start | Moment::AfterCompaction => true,
            Moment::Prompt => !point.text.trim().is_empty(),
            Moment::BeforeEdit => !point.edits.is_empty(),
            Moment::ToolFailed => point.failure.is_some(),
            Moment::BeforeSubagent => !point.text.trim().is_empty(),
        };
        is_complete.then_some(point)
    }

    fn take(&mut self, what: &Observed) {
        match what {
            Observed::Prompt { text, .. } => text.clone_into(&mut self.text),
            Observed::SubagentStarted { task, .. } => {
                self.text = task.clone().unwrap_or_default();
            }
            Observed::ToolStarted(call) if call.kind == ToolKind::Subagent => {
                let task = call.input.get("prompt").and_then(|task| task.as_str());
                self.text = task.unwrap_or_default().to_owned();
            }
            Observed::ToolStarted(call) => {
                let edits = call.edits.iter().map(|edit| {
                    let new = edit.new_text.clone().unwrap_or_default();
                    (edit.path.clone(), new)
                });
                self.edits = edits.collect();
            }
            Observed::ToolFailed(call, outcome) if !outcome.is_interrupted => {
                let output = match &outcome.error {
                    Some(error) if !outcome.text.contains(error.as_str()) => {
                        format!("{error}\n{}", outcome.text)
                    }
                    _ => outcome.text.clone(),
                };
                self.failure = call.command.clone().map(|command| (command, output));
            }
            _ => {}
        }
    }

    /// Whether the text of a moment goes with the prompts of this host: no event of its own reaches the model, or only
    /// the model that writes the summary.
    pub fn brings(&self, moment: Moment) -> bool {
        let is_summarised = moment == Moment::AfterCompaction && self.host.summarises_added_text();
        let is_due = is_summarised || self.host.reaches(moment) == Delivery::NextPrompt;
        self.moment == Moment::Prompt && is_due
    }
}
