//! Images as providers take them: a `data:` URL of a format and size that they accept.

use std::io::{self, Cursor};
use std::path::Path;

use base64::Engine as _;
use image::{ImageFormat, ImageReader, Limits, imageops::FilterType};

/// The longest side, in pixels. Larger images are scaled down: providers do it anyway, and
/// count the tokens before.
const MAX_SIDE: u32 = 2048;
/// The largest encoded image that is sent as it is, in bytes.
const MAX_SENT_BYTES: usize = 4 << 20;
/// Memory that decoding may take, in bytes, against images that claim to be enormous.
const MAX_DECODE_BYTES: u64 = 256 << 20;

/// The formats that providers take.
const SENT: [ImageFormat; 4] = [
    ImageFormat::Png,
    ImageFormat::Jpeg,
    ImageFormat::Gif,
    ImageFormat::WebP,
];

/// The largest image file, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Why bytes are no image that can be sent.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The content is none of the formats, whatever the file is called.
    #[error("its content is no PNG, JPEG, GIF or WebP image")]
    Format,
    /// It is one of the formats, but damaged or too large.
    #[error("the image cannot be decoded: {0}")]
    Decode(image::ImageError),
}

/// Reads an image file, as it is.
///
/// # Errors
/// When it is no regular file, cannot be read or is too large to be an image.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    agent_config::read_regular(path, MAX_FILE_BYTES)
}

/// Checks that the bytes are an image, scales it down where it is large, and renders it.
///
/// # Errors
/// When the bytes are no image or a damaged one.
pub fn to_data_url(bytes: &[u8]) -> Result<String, ImageError> {
    if bytes.is_empty() {
        return Err(ImageError::Empty);
    }
    let format = image::guess_format(bytes).map_err(|_| ImageError::Format)?;
    if !SENT.contains(&format) {
        return Err(ImageError::Format);
    }
    let mime = format.to_mime_type();
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODE_BYTES);
    reader.limits(limits);
    let picture = reader.decode().map_err(ImageError::Decode)?;
    let fits = picture.width() <= MAX_SIDE && picture.height() <= MAX_SIDE;
    if fits && bytes.len() <= MAX_SENT_BYTES {
        return Ok(data_url(mime, bytes));
    }
    let picture = if fits {
        picture
    } else {
        picture.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle)
    };
    let mut encoded = Cursor::new(Vec::new());
    // Photographs stay small as JPEG; what may be transparent stays a PNG.
    let format = if format == ImageFormat::Jpeg {
        ImageFormat::Jpeg
    } else {
        ImageFormat::Png
    };
    picture
        .write_to(&mut encoded, format)
        .map_err(ImageError::Decode)?;
    Ok(data_url(format.to_mime_type(), encoded.get_ref()))
}

fn data_url(mime: &str, bytes: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("data:{mime};base64,{text}")
}
