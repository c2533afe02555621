//! Boxes of lists: `- [ ] tag the release`.

/// The items of lists in a text that have a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boxes {
    /// Those that are not ticked.
    pub open: u64,
    /// Those that are.
    pub ticked: u64,
}

impl Boxes {
    /// Counts the boxes of a text.
    pub fn of(text: &str) -> Self {
        let mut boxes = Self::default();
        for is_ticked in text.lines().filter_map(is_ticked) {
            *(if is_ticked { &mut boxes.ticked } else { &mut boxes.open }) += 1;
        }
        boxes
    }

    /// Whether there is any.
    pub const fn any(self) -> bool {
        self.open + self.ticked > 0
    }

    /// `2 boxes not ticked`; nothing where all are.
    pub fn told(self) -> Option<String> {
        match self.open {
            0 => None,
            1 => Some("1 box not ticked".to_owned()),
            open => Some(format!("{open} boxes not ticked")),
        }
    }
}

/// Whether the box of an item is ticked; `None` for a line that is no item with a box.
pub fn is_ticked(line: &str) -> Option<bool> {
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.trim_start().strip_prefix(mark))?;
    [("[ ] ", false), ("[x] ", true), ("[X] ", true)]
        .into_iter()
        .find(|(mark, _)| item.starts_with(mark))
        .map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_lists_have_boxes() {
        let boxes = Boxes::of("- [ ] a\n  * [x] b\n+ [X] c\n-[ ] d\n[ ] e\ntext - [ ] f\n- [ ]\n- [y] g");
        assert_eq!(boxes, Boxes { open: 1, ticked: 2 });
        assert_eq!(boxes.told().as_deref(), Some("1 box not ticked"));
        assert_eq!(Boxes::of("- [x] a").told(), None);
    }
}
