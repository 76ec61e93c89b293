//! A command line as program, subcommand and targets.

use crate::text::beginning;
use crate::text::list::WordList;

/// Bytes of a command line that are read.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Words of a command line that are read.
const WORDS_MAX: usize = 200;

/// Commands of one line that are returned.
const COMMANDS_MAX: usize = 16;

/// Programs whose first argument is what they work on, not a subcommand.
static PLAIN: WordList = WordList::new(
    "grep rg ls cat find fd sed awk echo printf rm cp mv mkdir touch head tail curl wget chmod chown ln python \
    python3 node ruby bash sh zsh psql sqlite3 jest pytest eslint tsc gcc g++ clang cc rustc javac java php perl \
    rspec mocha vitest mypy ruff black flake8 pylint prettier diff tar unzip zip ssh scp rsync kill pkill wc sort \
    uniq jq tree stat file du df ps env which test [ source . export cd pushd popd set unset true false sleep \
    xargs tee patch ansible-playbook phpunit ctest shellcheck ulimit lsof mysql redis-cli base64 date id pwd \
    whoami uname history",
);

/// Programs that run what follows them.
static WRAPPERS: WordList = WordList::new(
    "sudo doas env time nohup nice ionice timeout stdbuf xvfb-run exec command npx bunx pnpx uvx pipx unbuffer \
    strace caffeinate dotenv direnv",
);

/// Programs that run what follows their subcommand.
const RUNNERS: &[(&str, &[&str])] = &[
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("pdm", &["run"]),
    ("rye", &["run"]),
    ("bundle", &["exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("npm", &["exec"]),
    ("nix", &["develop"]),
    ("mise", &["exec"]),
];

/// Commands that prepare the next one in the same line.
static PREPARING: WordList =
    WordList::new("cd pushd export set unset source . true echo pwd mkdir [ test ulimit umask");

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program's name without its folder.
    pub program: String,
    /// Its subcommand; may be empty.
    pub subcommand: String,
    /// The arguments that are no flags, in their order.
    pub targets: Vec<String>,
    /// The flags.
    pub flags: Vec<String>,
}

impl Command {
    /// Whether both run the same program with the same subcommand.
    #[must_use]
    pub fn is_same_program(&self, other: &Self) -> bool {
        self.program == other.program && self.subcommand == other.subcommand
    }

    /// Whether this command works on everything that the other one works on, or on all.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.is_same_program(other)
            && (self.targets.is_empty()
                || other
                    .targets
                    .iter()
                    .all(|target| self.targets.contains(target)))
    }
}

/// Returns the main command of a line: the first that does not only prepare the next one.
///
/// ```
/// let command = lored_moments::failures::command("cd api && RUST_LOG=debug sudo cargo test -p store | tail -5");
/// assert_eq!((command.program.as_str(), command.subcommand.as_str()), ("cargo", "test"));
/// assert_eq!(command.targets, ["store"]);
/// ```
#[must_use]
pub fn command(line: &str) -> Command {
    let found = commands(line);
    let main = found
        .iter()
        .find(|command| !PREPARING.has(&command.program));
    main.or_else(|| found.first()).cloned().unwrap_or_default()
}

/// Returns the commands of a line, the first of each pipe.
#[must_use]
pub fn commands(line: &str) -> Vec<Command> {
    read(line, 0)
}

fn read(line: &str, depth: usize) -> Vec<Command> {
    let mut found = Vec::new();
    for words in parts(beginning(line, LINE_BYTES_MAX)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match shell_script(&words) {
            Some(script) if depth == 0 => found.extend(read(script, depth + 1)),
            _ => found.extend(one(&words)),
        }
        if found.len() >= COMMANDS_MAX {
            found.truncate(COMMANDS_MAX);
            break;
        }
    }
    found
}

/// Returns the script of `bash -lc SCRIPT`.
fn shell_script<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (shell, rest) = words.split_first()?;
    let is_shell = matches!(name(shell), "bash" | "sh" | "zsh" | "dash");
    let at = rest
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    rest.get(at + 1).copied().filter(|_| is_shell && at < 3)
}

/// Splits a line into simple commands; what follows a pipe is left out.
fn parts(line: &str) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut is_piped, mut quote, mut has_word) = (false, None, false);
    let mut chars = line.chars().peekable();
    let mut count = 0;
    let mut end_word =
        |word: &mut String, has_word: &mut bool, words: &mut Vec<String>, is_piped: bool| {
            if *has_word && !is_piped && count < WORDS_MAX {
                words.push(std::mem::take(word));
                count += 1;
            }
            word.clear();
            *has_word = false;
        };
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = chars.next()
                    && next != '\n'
                {
                    word.push(next);
                    has_word = true;
                }
            }
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => (quote, has_word) = (Some(c), true),
            (None, '|' | '&' | ';' | '\n' | '(' | ')') => {
                // `2>&1` and `&>` redirect.
                if c == '&' && (word.ends_with('>') || chars.peek() == Some(&'>')) {
                    word.push(c);
                    continue;
                }
                end_word(&mut word, &mut has_word, &mut words, is_piped);
                let is_double = chars.next_if_eq(&c).is_some();
                if !words.is_empty() {
                    found.push(std::mem::take(&mut words));
                }
                is_piped = c == '|' && !is_double;
            }
            (None, _) if c.is_whitespace() => {
                end_word(&mut word, &mut has_word, &mut words, is_piped)
            }
            (None, '#') if !has_word => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            (None, _) => {
                word.push(c);
                has_word = true;
            }
        }
    }
    end_word(&mut word, &mut has_word, &mut words, is_piped);
    if !words.is_empty() {
        found.push(words);
    }
    found
}

/// Returns the last part of a program's path in lower case letters as they are.
fn name(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn is_redirection(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    rest.starts_with(['>', '<'])
}

/// Reads the words of a simple command.
fn one(words: &[&str]) -> Option<Command> {
    let mut rest = words;
    // Each step takes at least one word off.
    while let Some((first, after)) = rest.split_first() {
        let program = name(first);
        if is_assignment(first)
            || matches!(*first, "then" | "do" | "if" | "while" | "!" | "{" | "else")
        {
            rest = after;
        } else if WRAPPERS.has(program) && after.iter().any(|word| !word.starts_with('-')) {
            rest = after_options(program, after);
        } else if let Some((_, verbs)) = RUNNERS.iter().find(|(runner, _)| *runner == program)
            && after.first().is_some_and(|verb| verbs.contains(verb))
            && after.len() > 1
        {
            rest = after_options(program, after.get(1..).unwrap_or_default());
        } else if matches!(program, "python" | "python3" | "py")
            && after.first() == Some(&"-m")
            && after.len() > 1
        {
            rest = after.get(1..).unwrap_or_default();
        } else {
            break;
        }
    }
    let (first, arguments) = rest.split_first()?;
    let program = name(first).trim_end_matches(".exe").to_owned();
    let program = match program.as_str() {
        "python3" | "py" => "python".to_owned(),
        "pip3" => "pip".to_owned(),
        "docker-compose" => "docker".to_owned(),
        // A folder is not a program.
        "" => return None,
        _ => program,
    };
    let mut made = Command {
        subcommand: if name(first) == "docker-compose" {
            "compose".to_owned()
        } else {
            String::new()
        },
        program,
        ..Command::default()
    };
    read_arguments(&mut made, arguments);
    Some(made)
}

fn read_arguments(made: &mut Command, arguments: &[&str]) {
    let mut skips_next = false;
    // `docker compose up`, `npm run build`, `kubectl rollout restart`: two words.
    const TWO: &[&str] = &[
        "compose",
        "run",
        "run-script",
        "rollout",
        "config",
        "sso",
        "stack",
        "system",
        "image",
        "workspace",
        "auth",
        "db",
        "secret",
    ];
    for word in arguments {
        if std::mem::take(&mut skips_next) {
            continue;
        }
        if is_redirection(word) {
            skips_next = word.ends_with(['>', '<']);
            continue;
        }
        if word.starts_with('-') && word.len() > 1 {
            made.flags.push((*word).to_owned());
            continue;
        }
        let is_plain_word = word.len() < 24
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '_'));
        let takes_subcommand =
            made.targets.is_empty() && is_plain_word && !PLAIN.has(&made.program);
        let is_runner = matches!(
            made.program.as_str(),
            "npm"
                | "pnpm"
                | "yarn"
                | "bun"
                | "docker"
                | "podman"
                | "kubectl"
                | "aws"
                | "gh"
                | "git"
                | "gcloud"
                | "az"
                | "rails"
                | "poetry"
                | "flutter"
                | "vault"
        );
        if made.subcommand.is_empty() && takes_subcommand {
            (*word).clone_into(&mut made.subcommand);
        } else if takes_subcommand && is_runner && TWO.contains(&made.subcommand.as_str()) {
            made.subcommand = format!("{} {word}", made.subcommand);
        } else {
            made.targets.push((*word).to_owned());
        }
    }
}

/// Skips the options of a wrapper, and what they take.
fn after_options<'s, 'w>(program: &str, words: &'s [&'w str]) -> &'s [&'w str] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let takes_value = matches!(
            *first,
            "-u" | "-n" | "-g" | "-p" | "-e" | "-k" | "-s" | "--package" | "--with" | "--user"
        ) && after.len() > 1
            && !matches!(program, "time" | "npx");
        if first.starts_with('-') && *first != "-" {
            rest = if takes_value {
                after.get(1..).unwrap_or_default()
            } else {
                after
            };
        } else if program == "timeout" && first.starts_with(|c: char| c.is_ascii_digit()) {
            return after;
        } else {
            break;
        }
    }
    if rest.is_empty() { words } else { rest }
}
