//! Paths as text.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, by name alone: a link is not looked at.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_left_out() {
        for (path, clean) in [("/a/./b/../c", "/a/c"), ("../a", "a"), ("/..", "/"), ("", "")] {
            assert_eq!(without_dots(Path::new(path)), Path::new(clean), "{path}");
        }
    }
}
