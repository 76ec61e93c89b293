//! The help of every command, short and long.

use crate::assert_snapshot;
use crate::programs::Programs;

/// Commands that no list contains.
const HIDDEN: [(&str, &[&str]); 2] = [
    ("lore", &["man"]),
    ("lored", &["files", "man", "completions"]),
];

/// `lore top` executes a separate program, whose tests cover its help.
const OTHER_PROGRAM: [&str; 1] = ["top"];

/// Headings without commands; the headings of commands are the program's groups.
const NO_COMMANDS: [&str; 5] = [
    "Arguments:",
    "Options:",
    "Global options:",
    "Examples:",
    "Usage:",
];

/// Lists the commands in a help text, in its order.
fn commands(help: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = line.ends_with(':') && !NO_COMMANDS.contains(&line);
        } else if let (true, Some(entry)) = (is_list, line.strip_prefix("  ")) {
            // Deeper lines continue a description.
            if !entry.starts_with(' ') {
                found.extend(entry.split_whitespace().next().map(str::to_owned));
            }
        }
    }
    found.retain(|name| name != "help");
    found
}

/// Writes the help of a command and of all its subcommands.
fn write_pages(programs: &Programs, path: &[String], pages: &mut String) {
    let (program, words) = path.split_first().unwrap();
    let of = |flag: &str| {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push(flag);
        let output = programs.run(program, &arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let (short, long) = (of("-h"), of("--help"));
    let name = path.join(" ");
    if short == long {
        *pages += &format!("$ {name} -h|--help\n{short}\n");
    } else {
        *pages += &format!("$ {name} -h\n{short}\n$ {name} --help\n{long}\n");
    }
    let mut below = commands(&short);
    if words.is_empty() {
        let hidden = HIDDEN.iter().find(|(of, _)| of == program).unwrap();
        below.extend(hidden.1.iter().map(|name| (*name).to_owned()));
    }
    for command in below {
        if OTHER_PROGRAM.contains(&command.as_str()) {
            continue;
        }
        let path = [path, &[command]].concat();
        write_pages(programs, &path, pages);
    }
}

fn assert_help(program: &str, commands_min: usize) {
    let programs = Programs::new();
    let mut pages = String::new();
    write_pages(&programs, &[program.to_owned()], &mut pages);
    let found = pages.lines().filter(|line| line.starts_with("$ ")).count();
    assert!(found >= commands_min, "{found} commands");
    assert_snapshot(&format!("help_{program}"), &pages);
}

#[test]
fn help_of_lore() {
    assert_help("lore", 80);
}

#[test]
fn help_of_lored() {
    assert_help("lored", 18);
}
