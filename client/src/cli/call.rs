//! `lore call NAME JSON`: any operation, for scripts.

use std::io::{self, Read};

use super::{Caller, End, Failure, output};

/// Call any operation by its name
#[derive(Debug, clap::Args)]
pub struct Call {
    /// Name of the operation, for instance record_step
    name: String,
    /// Its arguments as a JSON object, or - to read them from standard input
    #[arg(default_value = "{}", allow_hyphen_values = true, value_name = "JSON")]
    arguments: String,
}

impl Call {
    /// From a name, and arguments if there are any.
    pub fn plain(words: Vec<String>) -> Option<Self> {
        let mut words = words.into_iter();
        let name = words.next()?;
        let arguments = words.next().unwrap_or_else(|| "{}".to_owned());
        words.next().is_none().then_some(Self { name, arguments })
    }

    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = text_or_stdin(self.arguments)?;
        let mut reply = caller.reply(&self.name, args)?.into_one_text();
        reply.push(b'\n');
        output::write_json_lines(&reply)?;
        Ok(End::Good)
    }
}

/// An argument, or for `-` all of standard input.
pub fn text_or_stdin(text: String) -> Result<Vec<u8>, io::Error> {
    if text != "-" {
        return Ok(text.into_bytes());
    }
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    Ok(input)
}
