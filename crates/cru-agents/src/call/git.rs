//! What commands of git print.

/// The commit in the first lines of what `git commit` prints: `[main 4f1c2ab] …`.
pub(crate) fn commit_in(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        let (head, _) = line.strip_prefix('[')?.split_once(']')?;
        let sha = head.rsplit(' ').next()?;
        let is_sha = (7..=40).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_sha && head.contains(' ')).then_some(sha)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits() {
        assert_eq!(commit_in("hook ran\n[main (root-commit) 4f1c2ab] start\n"), Some("4f1c2ab"));
        assert_eq!(commit_in("[feature/x 0123456789abcdef] y"), Some("0123456789abcdef"));
        assert_eq!(commit_in("[4f1c2ab] y\n[INFO done] x"), None);
    }
}
