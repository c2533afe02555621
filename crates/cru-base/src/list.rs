//! Lists in which each item stands once, in the order in which they came.

/// Adds an item that the list does not hold yet.
pub fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The first `most` items that differ from all before them.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let mut list = Vec::new();
    for item in items {
        if list.len() >= most {
            break;
        }
        push_new(&mut list, item);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_stands_once() {
        assert_eq!(distinct([3, 1, 3, 2, 1, 4], 3), [3, 1, 2]);
        assert_eq!(distinct([3, 1, 3], 0), [0; 0]);
    }
}
