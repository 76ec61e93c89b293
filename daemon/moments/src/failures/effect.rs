//! What a command does: whether it only reads, checks, or changes something.

use super::command::Command;
use crate::text::list::WordList;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It builds, tests or checks.
    Checks,
    /// It changes something, or nobody knows.
    Changes,
}

/// Programs that only read.
static READING: WordList = WordList::new(
    "ls cat grep rg find fd head tail pwd echo printf which ps df du wc tree env printenv type sed awk jq stat file date sort uniq \
    diff curl cd less more whoami id uname history lsof sleep true man hexdump xxd bat cut tr test [ netstat ss ping dig nslookup \
    get-content",
);

/// Subcommands of git that only read.
static READING_GIT: WordList = WordList::new(
    "status log diff show blame branch remote ls-files grep rev-parse describe reflog",
);

/// Programs with subcommands of which some only read.
static TOOLS: WordList = WordList::new(
    "docker podman kubectl helm gh systemctl brew pip npm pnpm yarn cargo go terraform aws apt uv gcloud az",
);

static READING_SUBCOMMANDS: WordList = WordList::new(
    "ps logs images inspect get describe status list ls view show info tree search outdated version top diff explain freeze env metadata",
);

/// Programs that build, test or check.
static CHECKING: WordList = WordList::new(
    "pytest jest vitest mocha rspec phpunit eslint tsc mypy ruff flake8 pylint clippy make cmake ninja bazel gradle gradlew mvn \
    ctest tox nox shellcheck gcc g++ rustc javac golangci-lint xcodebuild webpack",
);

/// Subcommands that build, test or check.
static CHECKING_SUBCOMMANDS: WordList = WordList::new(
    "test build check lint clippy vet bench typecheck validate plan fmt spec compile ci e2e doc",
);

impl Command {
    /// Returns what the command does.
    #[must_use]
    pub fn effect(&self) -> Effect {
        let (program, subcommand) = (self.program.as_str(), self.subcommand.as_str());
        let has_flag =
            |flags: &[&str]| self.flags.iter().any(|flag| flags.contains(&flag.as_str()));
        let last = subcommand.split([' ', ':']).next_back().unwrap_or_default();
        let changes = match program {
            "sed" | "perl" => has_flag(&["-i", "--in-place", "-pi"]),
            "curl" => has_flag(&["-X", "-d", "--data", "--request", "-T", "-F", "-o", "-O"]),
            "find" => has_flag(&["-delete", "-exec"]),
            // It installs.
            "npm" => subcommand == "ci",
            _ => false,
        };
        let reads = READING.has(program)
            || (program == "git" && READING_GIT.has(subcommand))
            || (TOOLS.has(program) && READING_SUBCOMMANDS.has(last));
        if changes {
            Effect::Changes
        } else if reads {
            Effect::Reads
        } else if CHECKING.has(program) || CHECKING_SUBCOMMANDS.has(last) {
            Effect::Checks
        } else {
            Effect::Changes
        }
    }
}
