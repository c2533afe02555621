//! Files that were not copied, told by folder where they are many.

use std::collections::BTreeMap;

use super::manifest::LeftOut;

/// Rows that are told.
const MOST_ROWS: usize = 40;

/// Joins files of one folder that were left out for one reason; folders into those above them, until few are left.
pub(super) fn by_folder(all: Vec<LeftOut>) -> Vec<LeftOut> {
    let deepest = all.iter().map(|it| depth(&it.path)).max().unwrap_or(0);
    for depth in (0..=deepest).rev() {
        let joined = joined(&all, depth);
        if joined.len() <= MOST_ROWS || depth == 0 {
            return joined;
        }
    }
    all
}

fn depth(path: &str) -> usize {
    path.trim_end_matches('/').matches('/').count()
}

/// Rows whose files lie in folders of at most `depth` parts.
fn joined(all: &[LeftOut], depth: usize) -> Vec<LeftOut> {
    let mut groups: BTreeMap<(String, &str), Vec<&LeftOut>> = BTreeMap::new();
    for it in all {
        let folder: Vec<&str> = it.path.split('/').collect();
        let folder = folder[..folder.len().saturating_sub(1).min(depth)].join("/");
        groups.entry((folder, it.why.as_str())).or_default().push(it);
    }
    let mut rows = Vec::new();
    for ((folder, why), group) in groups {
        if let [only] = group.as_slice() {
            rows.push((*only).clone());
            continue;
        }
        let is_counted = group.iter().all(|it| it.count > 0);
        let count = if is_counted { group.iter().map(|it| it.count).sum() } else { 0 };
        let size = group.iter().map(|it| it.size).sum();
        rows.push(LeftOut { path: format!("{folder}/"), why: why.to_owned(), count, size });
    }
    rows.sort_by(|a, b| a.path.cmp(&b.path));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_one_row() {
        let file = |path: &str, why: &str| LeftOut { path: path.to_owned(), why: why.to_owned(), count: 1, size: 10 };
        let mut all: Vec<LeftOut> =
            (0..300).map(|number| file(&format!("n/{}/{number}", number % 60), "the time was up")).collect();
        all.push(file("big", "larger than 8 MiB"));
        let rows = by_folder(all);
        let told: Vec<_> = rows.iter().map(|it| (it.path.as_str(), it.count, it.size)).collect();
        assert_eq!(told, [("big", 1, 10), ("n/", 300, 3000)]);
    }
}
