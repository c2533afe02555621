//! Sessions and their sub-agents point at each other.

use std::collections::BTreeMap;

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{Written, world};

fn parents_and_children_name_each_other(set: &TranscriptSet) {
    let world = world(set);
    let hosts = world.by_host();
    let names: BTreeMap<&str, &Written> = world.notes.iter().map(|note| (note.stem(), note)).collect();
    let mut links = 0;
    for note in &world.notes {
        assert_eq!(note.session.meta.session_id.as_deref(), Some(note.stem()));
        let parent = note.session.meta.parent.as_ref().map(|link| link.target.as_str());
        match (note.host_session().split_once("/agent-"), parent) {
            (Some(_), Some(parent)) => {
                let above = names.get(parent).unwrap_or_else(|| panic!("{}: no note {parent}", note.path));
                let listed = above.session.meta.subagents.iter().any(|child| child.session == note.stem());
                assert!(listed, "{} is not listed in {}", note.path, above.path);
                links += 1;
            }
            // Its session gave no note: the file is not at hand, or empty.
            (Some((session, _)), None) => assert!(!hosts.contains_key(session), "{} has no parent", note.path),
            (None, Some(parent)) => assert!(names.contains_key(parent), "{}: no note {parent}", note.path),
            (None, None) => {}
        }
        for child in &note.session.meta.subagents {
            let below = names.get(child.session.as_str());
            let below = below.unwrap_or_else(|| panic!("{}: no note {}", note.path, child.session));
            let parent = below.session.meta.parent.as_ref().map(|link| link.target.as_str());
            assert_eq!(parent, Some(note.stem()), "{}", below.path);
            assert_eq!(child.tokens, below.session.meta.tokens_used, "{}", below.path);
        }
    }
    assert!(links >= set.least(2, 6), "{links} links");
}

on_both_sets!(parents_and_children_name_each_other);
