//! Formats replies for people: a sentence, labelled values, a table or rendered text.

use std::io;

use lore::protocol::{Code, Deserialize, Meta, Reply, Serialize};
use serde_json::Value;

use super::output::{self, Output, sanitize, table};
use super::parser::Matches;
use super::template::{at, fill, list};
use super::{Caller, Exit, Failure};

/// Output format of an operation's reply for people.
pub enum Report {
    /// A sentence from a template, as in [`fill`].
    Line(&'static str),
    /// Names and values, one per line.
    Facts(&'static [Column]),
    /// A list of the reply as a table.
    Table(Table),
    /// A list of the reply, by its name, as a function shows it.
    List(&'static str, fn(&Value, &Matches) -> Rendered),
    /// Text from a function.
    Text(fn(&Value) -> String),
    /// Output from a function that also decides the outcome.
    Rendered(fn(&Value, &Matches) -> Rendered),
    /// Like `Rendered`, but from the raw bytes of the reply, for values that must not change.
    Exact(fn(&[u8]) -> Result<Rendered, Failure>),
}

/// A column of a table, or a labelled value.
pub struct Column {
    name: &'static str,
    cell: Cell,
}

enum Cell {
    Template(&'static str),
    Function(fn(&Value) -> String),
}

/// Creates a column whose cells come from a template.
pub const fn column(name: &'static str, template: &'static str) -> Column {
    Column {
        name,
        cell: Cell::Template(template),
    }
}

/// Creates a column whose cells come from a function.
pub const fn column_of(name: &'static str, cell: fn(&Value) -> String) -> Column {
    Column {
        name,
        cell: Cell::Function(cell),
    }
}

impl Column {
    fn cell(&self, value: &Value) -> String {
        match self.cell {
            Cell::Template(template) => fill(template, value),
            Cell::Function(cell) => cell(value),
        }
    }
}

/// A list of a reply, shown as a table.
pub struct Table {
    /// Path of the list in the reply.
    pub list: &'static str,
    /// Columns of the table.
    pub columns: &'static [Column],
    /// Last line when the reply has a `next`.
    pub more: &'static str,
    /// Standard error output for an empty list, which is a success; otherwise made from the name of the list.
    pub empty: &'static str,
}

/// Last line of a page when there is another page.
pub const MORE: &str = "… more: --next {next}\n";

/// Creates a table of a paged list.
pub const fn pages(list: &'static str, columns: &'static [Column]) -> Report {
    Report::Table(Table {
        list,
        columns,
        more: MORE,
        empty: "",
    })
}

/// Creates a table with a message for an empty list.
pub const fn table_or(
    list: &'static str,
    columns: &'static [Column],
    empty: &'static str,
) -> Report {
    Report::Table(Table {
        list,
        columns,
        more: MORE,
        empty,
    })
}

/// Output of a command for people.
pub struct Rendered {
    /// Text for standard output.
    pub out: String,
    /// Text for standard error, which must not enter a pipe.
    pub aside: String,
    /// Outcome of the command.
    pub end: Exit,
}

impl Rendered {
    /// Output of a successful command.
    pub const fn good(out: String) -> Self {
        Self {
            out,
            aside: String::new(),
            end: Exit::Good,
        }
    }

    /// Output of a list without entries: a success that says on standard error what is empty.
    pub const fn empty(aside: String) -> Self {
        Self {
            out: String::new(),
            aside,
            end: Exit::Good,
        }
    }

    /// Output of a command that found nothing.
    pub const fn nothing(aside: String) -> Self {
        Self {
            out: String::new(),
            aside,
            end: Exit::Nothing,
        }
    }

    /// Adds text for standard error.
    pub fn aside(mut self, aside: String) -> Self {
        self.aside = aside;
        self
    }
}

impl Report {
    /// Renders a reply for people.
    pub fn render(&self, json: &[u8], matches: &Matches) -> Result<Rendered, Failure> {
        if let Self::Exact(render) = self {
            return render(json);
        }
        let value: Value = read(json)?;
        Ok(match self {
            Self::Line(template) => Rendered::good(fill(template, &value) + "\n"),
            Self::Facts(columns) => Rendered::good(facts(columns, &value)),
            Self::Table(table) => table.render(&value),
            Self::Text(render) => Rendered::good(render(&value)),
            Self::Rendered(render) | Self::List(_, render) => render(&value, matches),
            Self::Exact(render) => render(json)?,
        })
    }
}

impl Report {
    /// Returns the name of the list that it shows, if it shows one.
    pub const fn list_name(&self) -> Option<&'static str> {
        match self {
            Self::Table(table) => Some(table.list),
            Self::List(name, _) => Some(name),
            Self::Line(_) | Self::Facts(_) | Self::Text(_) | Self::Rendered(_) | Self::Exact(_) => {
                None
            }
        }
    }
}

impl Table {
    fn render(&self, value: &Value) -> Rendered {
        let values = list(value, self.list);
        if values.is_empty() {
            let more = more(self.more, value);
            return Rendered::empty(
                match self.empty {
                    "" => none(self.list),
                    empty => fill(empty, value),
                } + &more,
            );
        }
        Rendered::good(rows(self.columns, values) + &more(self.more, value))
    }
}

impl Caller {
    /// Returns the reply with a list. Without a session to read, prints that the list is empty and returns `None`, unless
    /// the caller named the session.
    pub fn list_reply(
        &self,
        name: &str,
        reply: Result<Reply, Failure>,
    ) -> Result<Option<Reply>, Failure> {
        match reply {
            Err(Failure::Call(error))
                if error.to_body().code == Code::SessionNotFound
                    && self.output == Output::Human
                    && self.named_session()?.is_none() =>
            {
                let name = name.replace('_', " ");
                lore::errln!("lore: no {name}: no session here has any");
                Ok(None)
            }
            reply => reply.map(Some),
        }
    }
}

/// Says that there are none of what a list holds.
pub fn none(list: &str) -> String {
    format!("lore: no {}\n", list.replace('_', " "))
}

/// Formats the last line of a page when there is another page.
pub fn more(template: &str, reply: &Value) -> String {
    match at(reply, "next") {
        Value::Null => String::new(),
        _ => fill(template, reply),
    }
}

/// Formats values as a table.
pub fn rows(columns: &[Column], values: &[Value]) -> String {
    let heading: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let row = |value| columns.iter().map(|column| column.cell(value)).collect();
    let rows: Vec<Vec<String>> = values.iter().map(row).collect();
    table(&heading, &rows)
}

/// Formats names and values, one per line; omits empty values.
pub fn facts(columns: &[Column], value: &Value) -> String {
    output::facts(cells(columns, value))
}

/// Returns the name and the text of each column.
pub fn cells(columns: &[Column], value: &Value) -> impl Iterator<Item = (String, String)> {
    columns
        .iter()
        .map(|column| (column.name.to_owned(), column.cell(value)))
}

impl Caller {
    /// Prints the whole reply for programs, or the rendered text for people, then the warnings.
    pub fn print(&self, reply: Reply, rendered: Rendered) -> Result<Exit, Failure> {
        match self.output {
            Output::Json => output::write_json(&reply.into_one_text())?,
            Output::Human => {
                output::write(rendered.out.as_bytes())?;
                lore::err!("{}", rendered.aside);
                for warning in warnings(&reply)? {
                    lore::errln!("lore: {}", sanitize(&warning, 0));
                }
            }
        }
        Ok(rendered.end)
    }
}

/// Parses the metadata of a reply.
pub fn meta(reply: &Reply) -> Result<Option<Meta>, Failure> {
    reply.meta.as_deref().map(read).transpose()
}

/// Collects the warnings of the reply and of its metadata.
fn warnings(reply: &Reply) -> Result<Vec<String>, Failure> {
    #[derive(Default, Deserialize)]
    struct Warnings {
        #[serde(default)]
        warnings: Vec<String>,
    }
    let mut all = match reply.json.trim_ascii_start().first() {
        Some(b'{') => read::<Warnings>(&reply.json)?.warnings,
        // A list carries its warnings in the metadata.
        Some(_) | None => Vec::new(),
    };
    all.extend(meta(reply)?.into_iter().flat_map(|meta| meta.warnings));
    Ok(all)
}

/// Parses a reply of the daemon.
pub fn read<T: for<'de> Deserialize<'de>>(reply: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(reply).map_err(|error| {
        Failure::Io(io::Error::other(format!(
            "the daemon's reply cannot be read ({error}): use a lore and a lored of the same release"
        )))
    })
}

/// Serialises a value of the client.
pub fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    Ok(serde_json::to_vec(value).map_err(io::Error::other)?)
}
