//! Opening a transcript that may be compressed.
//!
//! Whether it is is told by its first bytes and not by its name. What comes out is bounded in all, and so is the memory
//! it takes, so that a small file cannot unfold into a flood.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use cru_session::source::Bundle;

/// First bytes of a Zstandard frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The most that is taken out of one file, in bytes.
const MOST: u64 = 4 << 30;

/// The most a frame may refer back to, in bytes: what the format asks every reader to grant is eight megabytes.
const WINDOW: u64 = 128 << 20;

const BUFFER: usize = 256 << 10;

/// Opens one file of a bundle, unpacked.
pub(crate) fn open<'b>(bundle: &'b Bundle, path: &Path) -> io::Result<Box<dyn BufRead + 'b>> {
    unpacked(bundle.open(path)?, MOST)
}

/// The same, to read its first lines alone.
pub(crate) fn peek<'b>(bundle: &'b Bundle, path: &Path) -> io::Result<Box<dyn BufRead + 'b>> {
    unpacked(bundle.peek(path)?, MOST)
}

/// Opens a file, unpacked, to read its beginning alone.
pub(crate) fn peek_file(path: &Path) -> io::Result<Box<dyn BufRead>> {
    unpacked(Box::new(BufReader::new(cru_base::files::open_regular(path)?)), MOST)
}

/// What comes out of a source, at most `most` bytes of it.
pub(crate) fn unpacked<'b>(mut source: Box<dyn BufRead + 'b>, most: u64) -> io::Result<Box<dyn BufRead + 'b>> {
    if !source.fill_buf()?.starts_with(&MAGIC) {
        return Ok(source);
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER, Unpack { source: Some(source), frame: None, left: most })))
}

/// The content of one frame after the other.
struct Unpack<'b> {
    source: Option<Box<dyn BufRead + 'b>>,
    frame: Option<StreamingDecoder<Box<dyn BufRead + 'b>, FrameDecoder>>,
    left: u64,
}

impl Read for Unpack<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
                        io::Error::new(io::ErrorKind::FileTooLarge, "unpacks to more than is read of one file")
                    })?;
                    return Ok(count);
                }
                self.source = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new_with_max_window_size(source, WINDOW);
            self.frame = Some(frame.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?);
        }
    }
}

/// Whether an error of reading is the archive's own: what came out before it is good.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory)
        && error.raw_os_error().is_none()
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpack(bytes: &[u8], most: u64) -> (Vec<u8>, io::Result<usize>) {
        let mut text = Vec::new();
        let mut source = match unpacked(Box::new(bytes), most) {
            Ok(source) => source,
            Err(error) => return (text, Err(error)),
        };
        let read = source.read_to_end(&mut text);
        (text, read)
    }

    #[test]
    fn plain_and_packed_are_the_same() {
        let text = "{\"type\":\"event_msg\"}\n".repeat(20_000).into_bytes();
        assert_eq!(unpack(&text, 1 << 30).0, text);
        let packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        assert!(packed.len() < text.len() / 4);
        assert_eq!(unpack(&packed, 1 << 30).0, text);
        let twice = [packed.clone(), packed].concat();
        assert_eq!(unpack(&twice, 1 << 30).0, [text.clone(), text].concat());
    }

    #[test]
    fn damage_and_floods_end_with_an_error() {
        let text = b"0123456789".repeat(100_000);
        let packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        let (out, read) = unpack(&packed, 1000);
        assert!(read.is_err_and(|error| is_damage(&error)) && out.len() < 1 << 20);
        for cut in [4, 5, 9, packed.len() / 2, packed.len() - 1] {
            let (out, _) = unpack(&packed[..cut], 1 << 30);
            assert!(text.starts_with(&out), "cut at {cut}");
        }
        assert!(unpack(&[&MAGIC[..], &[0xff; 40]].concat(), 1 << 30).1.is_err());
    }
}
