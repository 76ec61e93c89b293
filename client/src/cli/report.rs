//! What people see of a reply: a sentence, facts, a table, or what a function renders.

use std::io;

use lore::protocol::{Deserialize, Meta, Reply, Serialize};
use serde_json::Value;

use super::output::{self, Output, sanitize, table};
use super::parser::Matches;
use super::template::{at, fill, list};
use super::{Caller, Exit, Failure};

/// How the reply of an operation is printed for people.
pub enum Report {
    /// A sentence: a template, as of [`fill`].
    Line(&'static str),
    /// Names and values, a line each.
    Facts(&'static [Column]),
    /// A list of the reply as a table.
    Table(Table),
    /// A text that a function makes.
    Text(fn(&Value) -> String),
    /// What a function renders, which also decides how the command ends.
    Rendered(fn(&Value, &Matches) -> Rendered),
    /// The same of the reply's bytes, for values that have to stay as they are.
    Exact(fn(&[u8]) -> Result<Rendered, Failure>),
}

/// A column of a table, or a fact.
pub struct Column {
    name: &'static str,
    cell: Cell,
}

enum Cell {
    Template(&'static str),
    Function(fn(&Value) -> String),
}

/// A column whose cells are a template.
pub const fn column(name: &'static str, template: &'static str) -> Column {
    Column {
        name,
        cell: Cell::Template(template),
    }
}

/// A column whose cells a function makes.
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

/// A list of a reply as a table.
pub struct Table {
    /// Where the list is.
    pub list: &'static str,
    /// What is said of each of its values.
    pub columns: &'static [Column],
    /// The last line, when the reply has a `next`.
    pub more: &'static str,
    /// What standard error says of an empty list.
    pub empty: &'static str,
}

/// The last line of a page, when there is another.
pub const MORE: &str = "… more: --next {next}\n";

/// A table of pages.
pub const fn pages(list: &'static str, columns: &'static [Column]) -> Report {
    Report::Table(Table {
        list,
        columns,
        more: MORE,
        empty: "",
    })
}

/// A table that says something of an empty list.
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

/// What people see.
pub struct Rendered {
    /// On standard output.
    pub out: String,
    /// On standard error: what must not be in a pipe.
    pub aside: String,
    /// How the command ends.
    pub end: Exit,
}

impl Rendered {
    /// The command did what it should.
    pub const fn good(out: String) -> Self {
        Self {
            out,
            aside: String::new(),
            end: Exit::Good,
        }
    }

    /// The command found nothing.
    pub const fn nothing(aside: String) -> Self {
        Self {
            out: String::new(),
            aside,
            end: Exit::Nothing,
        }
    }

    /// With something on standard error.
    pub fn aside(mut self, aside: String) -> Self {
        self.aside = aside;
        self
    }
}

impl Report {
    /// What people see of a reply.
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
            Self::Rendered(render) => render(&value, matches),
            Self::Exact(render) => render(json)?,
        })
    }
}

impl Table {
    fn render(&self, value: &Value) -> Rendered {
        let values = list(value, self.list);
        if values.is_empty() {
            return Rendered::nothing(fill(self.empty, value));
        }
        Rendered::good(rows(self.columns, values) + &more(self.more, value))
    }
}

/// The last line of a page, when there is another.
pub fn more(template: &str, reply: &Value) -> String {
    match at(reply, "next") {
        Value::Null => String::new(),
        _ => fill(template, reply),
    }
}

/// Values as a table.
pub fn rows(columns: &[Column], values: &[Value]) -> String {
    let heading: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let row = |value| columns.iter().map(|column| column.cell(value)).collect();
    let rows: Vec<Vec<String>> = values.iter().map(row).collect();
    table(&heading, &rows)
}

/// Names and values, a line each; empty values are omitted.
pub fn facts(columns: &[Column], value: &Value) -> String {
    output::facts(cells(columns, value))
}

/// The name and the text of each column.
pub fn cells(columns: &[Column], value: &Value) -> impl Iterator<Item = (String, String)> {
    columns
        .iter()
        .map(|column| (column.name.to_owned(), column.cell(value)))
}

impl Caller {
    /// Prints a reply: to programs the whole of it, to people what was rendered, and the warnings.
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

/// The fields beside a reply.
pub fn meta(reply: &Reply) -> Result<Option<Meta>, Failure> {
    reply.meta.as_deref().map(read).transpose()
}

/// What the caller should know, from the reply and from the fields beside it.
fn warnings(reply: &Reply) -> Result<Vec<String>, Failure> {
    #[derive(Default, Deserialize)]
    struct Warnings {
        #[serde(default)]
        warnings: Vec<String>,
    }
    let mut all = match reply.json.trim_ascii_start().first() {
        Some(b'{') => read::<Warnings>(&reply.json)?.warnings,
        // A list has its warnings beside it.
        Some(_) | None => Vec::new(),
    };
    all.extend(meta(reply)?.into_iter().flat_map(|meta| meta.warnings));
    Ok(all)
}

/// Reads a reply of the daemon.
pub fn read<T: for<'de> Deserialize<'de>>(reply: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(reply).map_err(|error| {
        Failure::Io(io::Error::other(format!(
            "the daemon's reply cannot be read ({error}): use a lore and a lored of the same release"
        )))
    })
}

/// JSON of our own.
pub fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    Ok(serde_json::to_vec(value).map_err(io::Error::other)?)
}
