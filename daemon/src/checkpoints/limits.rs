//! Storage limits of checkpoints: per checkpoint, per session, in total.

use serde_json::json;

use crate::error::{Code, Refusal};
use crate::hint::{Tool, aside, hint};

/// Storage limits, in the section `[checkpoints]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Stored bytes of one checkpoint.
    pub checkpoint_bytes_max: u64,
    /// Stored bytes of one session's checkpoints.
    pub session_bytes_max: u64,
    /// Stored bytes of all checkpoints.
    pub total_bytes_max: u64,
    /// Number of checkpoints of one session; beyond it the oldest without name and tags are deleted.
    pub per_session_max: u64,
    /// Share of a limit from which replies warn, in percent.
    pub warn_percent: u64,
    /// Share of `total_bytes_max` from which unnamed checkpoints of inactive sessions are deleted, in percent.
    pub clean_percent: u64,
    /// A session is inactive after this many days without a read or write.
    pub inactive_days: u64,
    /// Top-level keys of contexts that only a person changes; `protected` in the section `[trust]`.
    pub protected: Vec<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            checkpoint_bytes_max: 10 << 20,
            session_bytes_max: 1 << 30,
            total_bytes_max: 10 << 30,
            per_session_max: 1000,
            warn_percent: 80,
            clean_percent: 90,
            inactive_days: 30,
            protected: Vec::new(),
        }
    }
}

impl Limits {
    /// Maximum number of critical keys of a session.
    pub const MARKS_MAX: usize = 1024;
    /// Maximum length of a critical key, in bytes.
    pub const MARK_BYTES_MAX: usize = 1024;
    /// Maximum length of metadata, in bytes.
    pub const METADATA_BYTES_MAX: usize = 64 << 10;
    /// Maximum length of a name, in bytes.
    pub const NAME_BYTES_MAX: usize = 256;
    /// Maximum number of tags of a checkpoint.
    pub const TAGS_MAX: usize = 64;
    /// Maximum length of a tag, in bytes.
    pub const TAG_BYTES_MAX: usize = 128;

    /// Checks a checkpoint of `stored` bytes, of which `new` are added to its session and to the total.
    ///
    /// # Errors
    /// `STORAGE_QUOTA_EXCEEDED` with current, requested and maximum bytes.
    pub fn allow(
        &self,
        session: &str,
        stored: u64,
        new: u64,
        of_session: u64,
        of_all: u64,
    ) -> Result<(), Refusal> {
        let max = self.checkpoint_bytes_max;
        if stored > max {
            return Err(exceeded("checkpoint", "one checkpoint", 0, stored, max)
                .hint("Save less in the context, or what is large in a document or a file."));
        }
        let over = |current: u64, max: u64| new > 0 && current.saturating_add(new) > max;
        if over(of_session, self.session_bytes_max) {
            let whose = format!("the checkpoints of the session `{session}`");
            return Err(
                exceeded("session", &whose, of_session, new, self.session_bytes_max).hint(hint![
                    "Delete checkpoints of it",
                    aside(Tool::CheckpointDelete),
                    ", or save into a new session."
                ]),
            );
        }
        if over(of_all, self.total_bytes_max) {
            let whose = "all checkpoints";
            return Err(exceeded("total", whose, of_all, new, self.total_bytes_max)
                .hint("Delete checkpoints that are not needed, or raise `checkpoints.total_bytes_max` in the config."));
        }
        Ok(())
    }

    /// Returns the requested bytes if a refusal is about the total limit.
    #[must_use]
    pub fn asked_of_all(refusal: &Refusal) -> Option<u64> {
        let details = refusal.details.as_deref()?;
        let is_total = details.get("limit")?.as_str() == Some("total");
        details.get("askedBytes")?.as_u64().filter(|_| is_total)
    }

    /// Builds the refusal for a session whose checkpoints are all exempt from automatic deletion.
    #[must_use]
    pub fn too_many(&self, session: &str, count: u64) -> Refusal {
        let max = self.per_session_max;
        Refusal::new(
            Code::StorageQuotaExceeded,
            format!(
                "the session `{session}` has {count} checkpoints, all with names, tags or critical \
                 keys; the most is {max}"
            ),
        )
        .hint(hint![
            "Delete some of them",
            aside(Tool::CheckpointDelete),
            ", or save into a new session."
        ])
        .details(json!({"limit": "count", "current": count, "asked": 1, "maximum": max}))
    }

    /// Returns warnings about limits that are nearly reached.
    #[must_use]
    pub fn warnings(&self, session: Option<(u64, u64)>, of_all: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut warn = |what: &str, current: u64, max: u64, unit: &str| {
            let percent = u128::from(current) * 100 / u128::from(max.max(1));
            if percent >= u128::from(self.warn_percent) {
                warnings.push(format!("{what}: {current} of {max} {unit} ({percent} %)"));
            }
        };
        if let Some((count, bytes)) = session {
            let what = "this session's checkpoints";
            warn(what, bytes, self.session_bytes_max, "bytes");
            warn(what, count, self.per_session_max, "checkpoints");
        }
        warn("all checkpoints", of_all, self.total_bytes_max, "bytes");
        warnings
    }

    /// Returns the report on checkpoints of a session that clean-up removed.
    #[must_use]
    pub fn cleaned(&self, count: u64) -> String {
        let checkpoints = match count {
            1 => "1 checkpoint".to_owned(),
            count => format!("{count} checkpoints"),
        };
        format!(
            "clean-up removed {checkpoints} of this session, the oldest without name, tags and critical keys: \
             a session keeps at most {}, and gives them up after {} days without use if space is short; \
             a name or tag prevents it",
            self.per_session_max, self.inactive_days
        )
    }

    /// Returns whether inactive sessions must be cleaned up.
    #[must_use]
    pub fn is_clean_up_due(&self, of_all: u64) -> bool {
        u128::from(of_all) * 100
            >= u128::from(self.total_bytes_max) * u128::from(self.clean_percent)
    }
}

fn exceeded(limit: &str, whose: &str, current: u64, asked: u64, maximum: u64) -> Refusal {
    Refusal::new(
        Code::StorageQuotaExceeded,
        format!(
            "{whose} may take {maximum} bytes; {current} are taken and {asked} more were asked for"
        ),
    )
    .details(json!({
        "limit": limit,
        "currentBytes": current,
        "askedBytes": asked,
        "maximumBytes": maximum,
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        checkpoint_bytes_max: 100,
        session_bytes_max: 1000,
        total_bytes_max: 10_000,
        per_session_max: 10,
        warn_percent: 80,
        clean_percent: 90,
        inactive_days: 30,
        protected: Vec::new(),
    };

    /// Each limit holds at its boundary and reports current, requested and maximum bytes.
    #[test]
    fn limits_hold_at_their_boundaries() {
        assert!(LIMITS.allow("s", 100, 100, 900, 9900).is_ok());
        assert!(
            LIMITS.allow("s", 100, 0, 5000, 50_000).is_ok(),
            "nothing is added"
        );
        for (stored, new, session, all, limit, current, asked, maximum) in [
            (101, 101, 0, 0, "checkpoint", 0, 101, 100),
            (100, 100, 901, 0, "session", 901, 100, 1000),
            (100, 1, 0, 10_000, "total", 10_000, 1, 10_000),
        ] {
            let refused = LIMITS.allow("s", stored, new, session, all).unwrap_err();
            assert_eq!(refused.code, Code::StorageQuotaExceeded);
            let wanted = json!({
                "limit": limit, "currentBytes": current, "askedBytes": asked, "maximumBytes": maximum,
            });
            assert_eq!(refused.details.as_deref(), Some(&wanted));
            let asked_of_all = (limit == "total").then_some(asked);
            assert_eq!(Limits::asked_of_all(&refused), asked_of_all);
        }
    }

    /// Warnings begin at 80 percent, clean-up at 90.
    #[test]
    fn warnings_and_clean_up_begin_where_they_should() {
        assert!(LIMITS.warnings(Some((7, 799)), 7999).is_empty());
        assert_eq!(LIMITS.warnings(Some((8, 800)), 8000).len(), 3);
        assert_eq!(
            LIMITS.warnings(None, 8000),
            ["all checkpoints: 8000 of 10000 bytes (80 %)"]
        );
        assert!(!LIMITS.is_clean_up_due(8999));
        assert!(LIMITS.is_clean_up_due(9000));
    }
}
