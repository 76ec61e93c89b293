//! `[resolvers.NAME]`: the MCP servers that resolve names.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::setting::{Setting, ValueType};
use super::{Error, set};
use crate::upstream::{Program, Question, Server, Settings, check_url};

/// Maximum length of the name of a resolver or a kind, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// One resolver as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolverTable {
    command: Option<Vec<String>>,
    url: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    kinds: BTreeMap<String, KindTable>,
    timeout_ms: Option<u64>,
    start_ms: Option<u64>,
    concurrent_max: Option<u64>,
    failures_max: Option<u64>,
    pause_ms: Option<u64>,
    cache_ms: Option<u64>,
    idle_ms: Option<u64>,
    auto: Option<bool>,
}

/// `[resolvers.NAME.kinds.KIND]`: the call for one kind of entity.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KindTable {
    tool: String,
    arguments: Option<Map<String, Value>>,
}

impl ResolverTable {
    /// Every key of a resolver.
    pub const SETTINGS: &[Setting] = &[
        Setting::of_own(
            "resolvers.NAME.command",
            ValueType::Texts,
            "Program with arguments that serves MCP on standard input and output.",
        ),
        Setting::of_own(
            "resolvers.NAME.url",
            ValueType::Text,
            "URL of a server that speaks MCP over HTTP, instead of `command`.",
        ),
        Setting::of_own(
            "resolvers.NAME.env",
            ValueType::Secrets,
            "Environment variables of the program, in addition to those of the daemon.",
        ),
        Setting::of_own(
            "resolvers.NAME.kinds.KIND.tool",
            ValueType::Text,
            "Tool that is called for names of this kind.",
        ),
        Setting::of_own(
            "resolvers.NAME.kinds.KIND.arguments",
            ValueType::Table,
            "Arguments of the tool; `{name}` stands for the name.",
        ),
        Setting::of_own(
            "resolvers.NAME.timeout_ms",
            ValueType::Whole {
                least: 1,
                most: 600_000,
            },
            "Time limit for an answer, in milliseconds.",
        ),
        Setting::of_own(
            "resolvers.NAME.start_ms",
            ValueType::Whole {
                least: 1,
                most: 600_000,
            },
            "Time limit for the start of the server, in milliseconds.",
        ),
        Setting::of_own(
            "resolvers.NAME.concurrent_max",
            ValueType::Whole {
                least: 1,
                most: 256,
            },
            "Maximum number of concurrent calls.",
        ),
        Setting::of_own(
            "resolvers.NAME.failures_max",
            ValueType::Whole {
                least: 1,
                most: 1000,
            },
            "Number of failures in a row after which the resolver is paused.",
        ),
        Setting::of_own(
            "resolvers.NAME.pause_ms",
            ValueType::Whole {
                least: 1,
                most: 86_400_000,
            },
            "Length of the pause, in milliseconds.",
        ),
        Setting::of_own(
            "resolvers.NAME.cache_ms",
            ValueType::Whole {
                least: 0,
                most: 31_536_000_000,
            },
            "How long an answer is cached, in milliseconds.",
        ),
        Setting::of_own(
            "resolvers.NAME.idle_ms",
            ValueType::Whole {
                least: 1000,
                most: 86_400_000,
            },
            "Idle time before the program is stopped, in milliseconds.",
        ),
        Setting::of_own(
            "resolvers.NAME.auto",
            ValueType::Flag,
            "Whether names are resolved automatically, or only on request.",
        ),
    ];

    /// Returns the settings of the table, with the defaults for missing keys.
    pub fn settings(self, name: &str) -> Result<Settings, Error> {
        let refused = |problem: String| Error::Resolver {
            name: name.to_owned(),
            problem,
        };
        if !is_name(name) {
            let problem =
                format!("a name has 1 to {NAME_BYTES_MAX} bytes and no control characters");
            return Err(refused(problem));
        }
        let server = server(self.command, self.url, self.env).map_err(refused)?;
        let mut settings = Settings::new(server, questions(self.kinds).map_err(refused)?);
        let to = &mut settings;
        set(
            &mut to.timeout_ms,
            "timeout_ms",
            self.timeout_ms,
            1,
            600_000,
        )
        .and_then(|()| set(&mut to.start_ms, "start_ms", self.start_ms, 1, 600_000))
        .and_then(|()| {
            set(
                &mut to.concurrent_max,
                "concurrent_max",
                self.concurrent_max,
                1,
                256,
            )
        })
        .and_then(|()| {
            set(
                &mut to.failures_max,
                "failures_max",
                self.failures_max,
                1,
                1000,
            )
        })
        .and_then(|()| set(&mut to.pause_ms, "pause_ms", self.pause_ms, 1, 86_400_000))
        .and_then(|()| {
            set(
                &mut to.cache_ms,
                "cache_ms",
                self.cache_ms,
                0,
                31_536_000_000,
            )
        })
        .and_then(|()| set(&mut to.idle_ms, "idle_ms", self.idle_ms, 1000, 86_400_000))
        .map_err(|error| refused(error.to_string()))?;
        settings.auto = self.auto.unwrap_or(settings.auto);
        Ok(settings)
    }
}

fn server(
    command: Option<Vec<String>>,
    url: Option<String>,
    environment: BTreeMap<String, String>,
) -> Result<Server, String> {
    match (command, url) {
        (Some(_), Some(_)) => Err("`command` and `url` are both set; set one of them".to_owned()),
        (None, None) => Err("neither `command` nor `url` is set; set one of them".to_owned()),
        (Some(command), None) => {
            let mut words = command.into_iter();
            let program = words.next().filter(|program| !program.trim().is_empty());
            let program = program.ok_or(
                "`command` names no program; it is a list of the program and its arguments",
            )?;
            let arguments: Vec<String> = words.collect();
            let texts = [&program].into_iter().chain(&arguments);
            if texts
                .chain(environment.keys())
                .chain(environment.values())
                .any(|text| text.contains('\0'))
            {
                return Err("`command` and `env` must not have zero bytes".to_owned());
            }
            if let Some(key) = environment
                .keys()
                .find(|key| key.is_empty() || key.contains('='))
            {
                return Err(format!(
                    "`env` has {key:?}, which is not a name of a variable"
                ));
            }
            Ok(Server::Command(Program {
                program,
                arguments,
                environment,
            }))
        }
        (None, Some(_)) if !environment.is_empty() => {
            Err("`env` is for a `command`; a server at a `url` has its own environment".to_owned())
        }
        (None, Some(url)) => match check_url(&url) {
            Ok(()) => Ok(Server::Url(url)),
            Err(problem) => Err(format!("`url` {problem}")),
        },
    }
}

fn questions(kinds: BTreeMap<String, KindTable>) -> Result<BTreeMap<String, Question>, String> {
    if kinds.is_empty() {
        return Err(
            "`kinds` is empty; it says for each kind of entity which tool is called".to_owned(),
        );
    }
    let question = |(kind, table): (String, KindTable)| {
        if !is_name(&kind) {
            return Err(format!(
                "`kinds` has {kind:?}, which is not a kind of entity"
            ));
        }
        if table.tool.trim().is_empty() {
            return Err(format!(
                "`kinds.{kind}.tool` is empty; it is the name of a tool"
            ));
        }
        let mut question = Question::new(&table.tool);
        if let Some(arguments) = table.arguments {
            question.arguments = arguments;
        }
        Ok((kind, question))
    };
    kinds.into_iter().map(question).collect()
}

fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::Config;
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(text, Path::new("config.toml"))
    }

    const KIND: &str = "[resolvers.netbox.kinds.device]\ntool = \"get\"\n";

    /// All settings of a resolver are accepted; missing ones have their defaults.
    #[test]
    fn a_resolver_is_read() {
        let text = format!(
            "[resolvers.netbox]\ncommand = [\"netbox-mcp\", \"-v\"]\nenv = {{TOKEN = \"t\"}}\n\
             timeout_ms = 1\nstart_ms = 2\nconcurrent_max = 3\nfailures_max = 4\npause_ms = 5\n\
             cache_ms = 0\nidle_ms = 1000\nauto = false\n{KIND}\
             arguments = {{object_type = \"dcim.device\", filters = {{name = \"{{name}}\"}}, limit = 1}}\n\
             [resolvers.other]\nurl = \"http://127.0.0.1:8000/mcp\"\nkinds.site.tool = \"sites\""
        );
        let config = parse(&text).unwrap();
        let netbox = config.resolvers.get("netbox").unwrap();
        let arguments = json!({
            "object_type": "dcim.device", "filters": {"name": "{name}"}, "limit": 1,
        });
        let wanted = Settings {
            server: Server::Command(Program {
                program: "netbox-mcp".to_owned(),
                arguments: vec!["-v".to_owned()],
                environment: [("TOKEN".to_owned(), "t".to_owned())].into(),
            }),
            kinds: netbox.kinds.clone(),
            timeout_ms: 1,
            start_ms: 2,
            concurrent_max: 3,
            failures_max: 4,
            pause_ms: 5,
            cache_ms: 0,
            idle_ms: 1000,
            auto: false,
        };
        assert_eq!(*netbox, wanted);
        let device = netbox.kinds.get("device").unwrap();
        assert_eq!(
            (device.tool.as_str(), json!(device.arguments)),
            ("get", arguments)
        );
        let other = config.resolvers.get("other").unwrap();
        let url = Server::Url("http://127.0.0.1:8000/mcp".to_owned());
        assert_eq!(*other, Settings::new(url, other.kinds.clone()));
        assert_eq!(*other.kinds.get("site").unwrap(), Question::new("sites"));
    }

    /// Each invalid value is rejected with the resolver's name and the expected value.
    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (lines, wanted) in [
            ("", "neither `command` nor `url`"),
            ("command = [\"a\"]\nurl = \"http://a/\"", "both set"),
            ("command = []", "names no program"),
            ("command = [\" \"]", "names no program"),
            ("command = [\"a\\u0000\"]", "zero bytes"),
            (
                "command = [\"a\"]\nenv = {\"A=B\" = \"c\"}",
                "not a name of a variable",
            ),
            ("url = \"https://a/\"", "TLS"),
            ("url = \"a\"", "http://"),
            (
                "url = \"http://a/\"\nenv = {A = \"b\"}",
                "`env` is for a `command`",
            ),
            (
                "command = [\"a\"]\ntimeout_ms = 0",
                "timeout_ms` is 0; it must be from 1",
            ),
            ("command = [\"a\"]\nstart_ms = 0", "start_ms` is 0"),
            (
                "command = [\"a\"]\nconcurrent_max = 0",
                "concurrent_max` is 0",
            ),
            ("command = [\"a\"]\nfailures_max = 0", "failures_max` is 0"),
            ("command = [\"a\"]\npause_ms = 0", "pause_ms` is 0"),
            ("command = [\"a\"]\nidle_ms = 0", "idle_ms` is 0"),
            (
                "command = [\"a\"]\ntimeout = 5",
                "did you mean `timeout_ms`?",
            ),
            ("command = [\"a\"]\nkinds.site = {}", "missing field `tool`"),
            (
                "command = [\"a\"]\nkinds.site = {tool = \"\"}",
                "`kinds.site.tool` is empty",
            ),
            (
                "command = [\"a\"]\nkinds.site = {tool = \"t\", limit = 1}",
                "unknown setting `resolvers.netbox.kinds.site.limit`",
            ),
            (
                "command = [\"a\"]\nkinds.\"\".tool = \"t\"",
                "not a kind of entity",
            ),
        ] {
            let text = format!("[resolvers.netbox]\n{lines}\n{KIND}");
            let refused = parse(&text).err().map(|error| error.to_string());
            let refused = refused.unwrap_or_else(|| panic!("{lines} was taken"));
            assert!(refused.contains(wanted), "{lines}: {refused}");
        }
        let refused = parse("[resolvers.netbox]\ncommand = [\"a\"]")
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("`resolvers.netbox`") && refused.contains("`kinds`"),
            "{refused}"
        );
        assert!(parse("[resolvers.\"a\\nb\"]\ncommand = [\"a\"]").is_err());
    }
}
