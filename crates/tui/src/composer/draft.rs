//! What the composer holds, in a form that is kept in a file.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::rich_text::{Content, RichText};

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// What the composer holds: the text with its elements, and the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Draft {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    parts: Vec<Part>,
    /// In bytes of the text with labels.
    cursor: usize,
    /// Numbers that were given out.
    pastes: usize,
    images: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Text(String),
    Paste { label: String, text: String },
    Image { label: String, path: PathBuf },
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == VERSION {
        Ok(version)
    } else {
        let message = format!("version {version} of the draft is unknown");
        Err(serde::de::Error::custom(message))
    }
}

/// How many numbers were given to elements since the composer was empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) pastes: usize,
    pub(super) images: usize,
}

impl Draft {
    pub(super) fn new(text: &RichText, cursor: usize, numbers: Numbers) -> Self {
        let part = |(range, element): (_, Option<&super::rich_text::Element>)| {
            let label = text.get(range).to_owned();
            match element.map(|element| &element.content) {
                None => Part::Text(label),
                Some(Content::Paste(pasted)) => Part::Paste {
                    label,
                    text: pasted.to_string(),
                },
                Some(Content::Image(path)) => match path.to_str() {
                    // JSON is Unicode; a path that is not cannot be kept, only its label.
                    None => Part::Text(label),
                    Some(_) => Part::Image {
                        label,
                        path: path.clone(),
                    },
                },
            }
        };
        Self {
            version: VERSION,
            parts: text.pieces(0..text.len()).map(part).collect(),
            cursor,
            pastes: numbers.pastes,
            images: numbers.images,
        }
    }

    /// Nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text with pastes in full.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.rich_text().expanded()
    }

    pub(super) fn rich_text(&self) -> RichText {
        let mut text = RichText::default();
        for part in self.parts.clone() {
            text.push(&match part {
                Part::Text(plain) => RichText::plain(plain),
                // Without a label an element could neither be seen nor kept.
                Part::Paste { label, text } if label.is_empty() => RichText::plain(text),
                Part::Paste { label, text } => {
                    RichText::element(label, Content::Paste(Arc::from(text)))
                }
                Part::Image { label, path } => RichText::element(label, Content::Image(path)),
            });
        }
        text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn numbers(&self) -> Numbers {
        Numbers {
            pastes: self.pastes,
            images: self.images,
        }
    }
}
