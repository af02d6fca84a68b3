//! One source of settings: a file or an override, checked against the list of keys.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use toml_edit::{Document, Item, Key as TomlKey};

use crate::file::read_regular;
use crate::keys::{Kind, Known, lookup, nearest};

/// The largest configuration, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Where a setting stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file; line and column count from 1, columns in characters.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// On the command line.
    Override {
        /// The argument as given.
        argument: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => {
                write!(f, "{}:{line}:{column}", path.display())
            }
            Self::Override { argument } => write!(f, "-c {argument}"),
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration `{path}`", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where the parser stopped.
        place: Place,
        /// What it says.
        message: String,
    },
    /// A value is not of the type that its key wants.
    #[error("{place}: `{key}` must be {expected}, not {found}")]
    Type {
        /// Where the value stands.
        place: Place,
        /// The dotted key.
        key: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// An override is not `KEY=VALUE`.
    #[error(
        "-c {argument}: an override is written `KEY=VALUE`, for example `-c model=\"gpt-5.5\"`"
    )]
    NotAnOverride {
        /// The argument as given.
        argument: String,
    },
    /// Under `--strict-config`, an unknown key.
    #[error("{0}")]
    UnknownKey(String),
    /// A value is of the right type and still makes no sense.
    #[error("`{key}`: {problem}")]
    Value {
        /// The dotted key.
        key: String,
        /// What is wrong.
        problem: String,
    },
}

/// A checked source of settings.
#[derive(Debug, Default)]
pub struct Layer {
    pub(crate) table: Table,
    pub(crate) warnings: Vec<String>,
}

impl Layer {
    /// Reads a file; one that does not exist (or whose directory is none) is an empty layer.
    ///
    /// # Errors
    /// When it cannot be read, is no TOML, or a value has the wrong type.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        match read_regular(path, MAX_FILE_BYTES) {
            Ok(bytes) => Self::from_text(path, &String::from_utf8_lossy(&bytes)),
            Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(Self::default())
            }
            Err(source) => Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is no TOML, or a value has the wrong type.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let source = Source::File { path, text };
        let document = Document::parse(text).map_err(|err| ConfigError::Syntax {
            place: source.place(err.span().map_or(0, |span| span.start)),
            message: err.message().to_owned(),
        })?;
        let mut check = Check {
            source,
            warnings: Vec::new(),
        };
        check.item(&mut Vec::new(), None, document.as_item())?;
        let table = text.parse::<Table>().map_err(|err| ConfigError::Syntax {
            place: check.source.place(err.span().map_or(0, |span| span.start)),
            message: err.message().to_owned(),
        })?;
        Ok(Self {
            table,
            warnings: check.warnings,
        })
    }

    /// Reads one override of the command line.
    ///
    /// # Errors
    /// When its value has the wrong type.
    pub fn from_override(given: &Override) -> Result<Self, ConfigError> {
        let item = given.to_item();
        let mut check = Check {
            source: Source::Override {
                argument: &given.argument,
            },
            warnings: Vec::new(),
        };
        check.item(&mut Vec::new(), None, &item)?;
        let table = item.into_table().unwrap_or_default();
        let document = toml_edit::DocumentMut::from(table).to_string();
        Ok(Self {
            table: toml::from_str(&document).unwrap_or_default(),
            warnings: check.warnings,
        })
    }
}

/// `KEY=VALUE` of the command line. The value is TOML, or else taken as text.
#[derive(Debug, Clone)]
pub struct Override {
    argument: String,
    path: Vec<String>,
    value: toml_edit::Value,
}

impl Override {
    /// Reads `KEY=VALUE` with a dotted key; parts may be quoted as in TOML.
    ///
    /// # Errors
    /// When there is no `=` or no key.
    pub fn parse(argument: &str) -> Result<Self, ConfigError> {
        let not_an_override = || ConfigError::NotAnOverride {
            argument: argument.to_owned(),
        };
        let (key, value) = argument.split_once('=').ok_or_else(not_an_override)?;
        let keys = TomlKey::parse(key.trim()).map_err(|_| not_an_override())?;
        let text = value.trim();
        let value = text
            .parse::<toml_edit::Value>()
            .unwrap_or_else(|_| toml_edit::Value::from(text));
        Ok(Self {
            argument: argument.to_owned(),
            path: keys.iter().map(|key| key.get().to_owned()).collect(),
            value,
        })
    }

    /// An override made by the program itself, from an option such as `--model`.
    pub fn new(key: &str, value: impl Into<toml_edit::Value>) -> Self {
        Self {
            argument: key.to_owned(),
            path: key.split('.').map(str::to_owned).collect(),
            value: value.into(),
        }
    }

    /// The setting as a document of its own.
    fn to_item(&self) -> Item {
        let value = Item::Value(self.value.clone());
        self.path.iter().rev().fold(value, |item, name| {
            let mut table = toml_edit::Table::new();
            table.insert(name, item);
            Item::Table(table)
        })
    }
}

/// Where the text that is checked comes from.
enum Source<'a> {
    File { path: &'a Path, text: &'a str },
    Override { argument: &'a str },
}

impl Source<'_> {
    fn place(&self, offset: usize) -> Place {
        match self {
            Self::File { path, text } => {
                let before = text.get(..offset).unwrap_or(text);
                let line_start = before.rfind('\n').map_or(0, |at| at + 1);
                Place::File {
                    path: (*path).to_owned(),
                    line: before.matches('\n').count() + 1,
                    column: before.get(line_start..).unwrap_or("").chars().count() + 1,
                }
            }
            Self::Override { argument } => Place::Override {
                argument: (*argument).to_owned(),
            },
        }
    }
}

/// Walks a document beside the list of keys.
struct Check<'a> {
    source: Source<'a>,
    warnings: Vec<String>,
}

impl Check<'_> {
    fn item(
        &mut self,
        path: &mut Vec<String>,
        key: Option<&TomlKey>,
        item: &Item,
    ) -> Result<(), ConfigError> {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let known = if names.is_empty() {
            Known::Table
        } else {
            lookup(&names)
        };
        match known {
            Known::Value(kind) => self.value(&names, kind, item),
            Known::Unknown => {
                self.warn_unknown(&names, key, item);
                Ok(())
            }
            Known::Table => {
                let Some(table) = item.as_table_like() else {
                    return Err(self.wrong_type(&names, "a table", item));
                };
                for (name, child) in table.iter() {
                    path.push(name.to_owned());
                    let result = self.item(path, table.key(name), child);
                    path.pop();
                    result?;
                }
                Ok(())
            }
        }
    }

    fn warn_unknown(&mut self, names: &[&str], key: Option<&TomlKey>, item: &Item) {
        let span = key.and_then(TomlKey::span).or_else(|| item.span());
        let place = self.source.place(span.map_or(0, |span| span.start));
        let key = names.join(".");
        let hint = nearest(names)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        self.warnings
            .push(format!("{place}: unknown key `{key}`{hint}"));
    }

    fn value(&self, names: &[&str], kind: Kind, item: &Item) -> Result<(), ConfigError> {
        let fits = match kind {
            Kind::Text => item.is_str(),
            Kind::Word(words) => item.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Bool => item.is_bool(),
            Kind::Count => item.as_integer().is_some_and(|number| number >= 0),
            Kind::Texts => item
                .as_array()
                .is_some_and(|list| list.iter().all(toml_edit::Value::is_str)),
            Kind::TextMap => item
                .as_table_like()
                .is_some_and(|table| table.iter().all(|(_, value)| value.is_str())),
            Kind::Approval => {
                item.as_str()
                    .is_some_and(|word| word.parse::<agent_protocol::ApprovalPolicy>().is_ok())
                    || item
                        .as_table_like()
                        .is_some_and(|table| table.contains_key("granular"))
            }
            Kind::Network => match (item.as_str(), item.as_array()) {
                (Some(word), _) => matches!(word, "off" | "on"),
                (None, Some(list)) => list.iter().all(toml_edit::Value::is_str),
                (None, None) => false,
            },
            Kind::Later => true,
        };
        if fits {
            Ok(())
        } else {
            Err(self.wrong_type(names, &expected(kind), item))
        }
    }

    fn wrong_type(&self, names: &[&str], expected: &str, item: &Item) -> ConfigError {
        let found = match item.as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("a value of type {}", item.type_name()),
        };
        ConfigError::Type {
            place: self.source.place(item.span().map_or(0, |span| span.start)),
            key: names.join("."),
            expected: expected.to_owned(),
            found,
        }
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text => "text in quotes".to_owned(),
        Kind::Word(words) => format!("one of `{}`", words.join("`, `")),
        Kind::Bool => "`true` or `false`".to_owned(),
        Kind::Count => "a whole number that is not negative".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::TextMap => "a table of texts".to_owned(),
        Kind::Approval => "`untrusted`, `on-request`, `never` or `{ granular = {…} }`".to_owned(),
        Kind::Network => {
            "`\"off\"`, `\"on\"` or a list of hosts such as `[\"example.org\"]`".to_owned()
        }
        Kind::Later => "anything".to_owned(),
    }
}

/// Puts `above` over `below`: tables are merged, everything else is replaced.
pub(crate) fn merge(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}
