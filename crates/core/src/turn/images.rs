//! Images that the user gives along with a prompt.

use std::io;
use std::path::{Path, PathBuf};

use agent_protocol::ContentPart;

/// Why an image cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImageError {
    #[error("cannot read the image `{path}`: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot use the image `{path}`: {source}", path = path.display())]
    Decode {
        path: PathBuf,
        source: crate::image::ImageError,
    },
}

/// The parts of a message that carry an image: its name and path, and the image itself.
pub(super) fn content(path: &Path, number: usize) -> Result<[ContentPart; 3], ImageError> {
    let bytes = crate::image::read(path).map_err(|source| ImageError::Read {
        path: path.to_owned(),
        source,
    })?;
    let url = crate::image::to_data_url(&bytes).map_err(|source| ImageError::Decode {
        path: path.to_owned(),
        source,
    })?;
    let text = |text: String| ContentPart::InputText { text };
    Ok([
        text(format!(
            "<image name=[Image #{number}] path=\"{}\">",
            path.display()
        )),
        ContentPart::InputImage {
            image_url: url,
            detail: None,
        },
        text("</image>".to_owned()),
    ])
}
