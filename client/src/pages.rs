//! Manual pages and shell completions, generated from a command line.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

pub use clap_complete::Shell;

/// Renders the manual page of a program.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn manual(command: Command) -> io::Result<Vec<u8>> {
    let mut print = Vec::new();
    page(&built(command)).render(&mut print)?;
    Ok(print)
}

/// Writes the manual pages of a program and each of its commands into a folder, which is created if missing.
///
/// # Errors
/// When a file cannot be written.
pub fn write_manuals(command: Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    write(&built(command), folder)
}

/// Generates a shell's completion script for a program.
#[must_use]
pub fn completions(mut command: Command, shell: Shell) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}

/// Builds the command, which sets the full names of nested commands.
fn built(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    command
}

/// Writes a command's page and its subcommands' pages.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    page(command).generate_to(folder)?;
    let below = command.get_subcommands();
    below
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| write(command, folder))
}

fn page(command: &Command) -> Man {
    Man::new(command.clone())
        .source(concat!("lore ", env!("CARGO_PKG_VERSION")))
        .manual("User commands of lore")
}
