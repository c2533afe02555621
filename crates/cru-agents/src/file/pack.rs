//! Packing text that is kept, as Zstandard frames: any other program can unpack them.

use std::io::{self, Read as _};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::unpack::unpacked;

/// Packs bytes; an error where they would not come out again as they went in.
pub fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let packed = compress_to_vec(bytes, CompressionLevel::Fastest);
    // This may be the only copy some day, so nothing is taken on trust.
    match unpack(&packed, bytes.len() as u64) {
        Ok(again) if again == bytes => Ok(packed),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "packed bytes do not come out as they went in")),
        Err(error) => Err(error),
    }
}

/// Unpacks at most `most` bytes; an error where there are more.
pub fn unpack(packed: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    unpacked(Box::new(packed), most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for bytes in [Vec::new(), b"x".to_vec(), b"line\n".repeat(100_000), (0..=255).collect()] {
            let packed = pack(&bytes).unwrap();
            assert_eq!(unpack(&packed, bytes.len() as u64).unwrap(), bytes);
        }
        let packed = pack(&b"line\n".repeat(1000)).unwrap();
        assert!(packed.len() < 1000);
        assert!(unpack(&packed, 4999).is_err(), "more than was granted");
    }
}
