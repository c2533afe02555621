//! The ids that git gives to the bytes of files.

use std::fmt::Write as _;

use sha1::Digest as _;

/// The id of a file's bytes, or of what a link points to, in a repository whose ids look like `like`: SHA-1, or SHA-256.
pub fn blob_id(bytes: &[u8], like: &str) -> String {
    let head = format!("blob {}\0", bytes.len());
    let digest = if like.len() == 64 {
        sha2::Sha256::new().chain_update(&head).chain_update(bytes).finalize().to_vec()
    } else {
        sha1::Sha1::new().chain_update(&head).chain_update(bytes).finalize().to_vec()
    };
    digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        assert_eq!(blob_id(b"a\n", ""), "78981922613b2afb6025042ff6bd878ac1994e85");
        assert_eq!(blob_id(b"", ""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        let long = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert_eq!(blob_id(b"", long), long);
    }
}
