//! Which sessions did the same kind of work: those with one request, and those that did the same things.
//!
//! What few sessions do says more of them than what all do, so activities count by how rare they are.

use std::collections::{BTreeMap, HashMap};

use crate::codify::Profile;

/// Likeness, 0 to 1, from which on sessions are of one kind.
const ALIKE: f64 = 0.6;
/// Letters from which on two equal requests are no chance.
const TELLING: usize = 12;
/// Activities that a group is described by.
const SHOWN: usize = 5;

/// Sessions of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Indices of the sessions, in order.
    pub members: Vec<usize>,
    /// Whether all of them had the same request.
    pub same_request: bool,
    /// What all of them did, the rarest first.
    pub shared: Vec<String>,
}

/// The groups of two sessions and more, the largest first; each session is in one at most.
pub fn groups(profiles: &[Profile]) -> Vec<Group> {
    let counts = document_counts(profiles);
    let total = profiles.len() as f64;
    let weight = |name: &str| (total / counts.get(name).copied().unwrap_or(1) as f64).ln() + 0.1;
    let vectors: Vec<BTreeMap<String, f64>> = profiles.iter().map(|profile| vector(profile, &weight)).collect();
    // Each group is led by its first member.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut requests: HashMap<&str, usize> = HashMap::new();
    for (index, profile) in profiles.iter().enumerate() {
        let same = Some(profile.request.as_str()).filter(|request| request.len() >= TELLING);
        let known = same.and_then(|request| requests.get(request).copied());
        let likest = || {
            let scored = groups.iter().enumerate().map(|(at, group)| (cosine(&vectors[group[0]], &vectors[index]), at));
            scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).filter(|(score, _)| *score >= ALIKE)
        };
        let at = known.or_else(|| likest().map(|(_, at)| at));
        let at = at.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(index);
        if let Some(request) = same {
            requests.entry(request).or_insert(at);
        }
    }
    let mut found: Vec<Group> =
        groups.into_iter().filter(|it| it.len() > 1).map(|it| group(it, profiles, &weight)).collect();
    found.sort_by_key(|group| (std::cmp::Reverse(group.members.len()), group.members.first().copied()));
    found
}

fn group(members: Vec<usize>, profiles: &[Profile], weight: &dyn Fn(&str) -> f64) -> Group {
    let first = &profiles[members[0]];
    let same_request = members.iter().all(|member| profiles[*member].request == first.request);
    let mut shared: Vec<String> = Vec::new();
    for activity in &first.activities {
        let all = members.iter().all(|member| profiles[*member].activities.contains(activity));
        if all && !shared.contains(activity) {
            shared.push(activity.clone());
        }
    }
    shared.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    shared.truncate(SHOWN);
    Group { members, same_request, shared }
}

/// In how many sessions an activity, or one behind another, is.
fn document_counts(profiles: &[Profile]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for profile in profiles {
        let names: std::collections::BTreeSet<String> = features(profile).collect();
        for name in names {
            *counts.entry(name).or_insert(0) += 1;
        }
    }
    counts
}

/// Activities, and pairs of neighbours.
fn features(profile: &Profile) -> impl Iterator<Item = String> + '_ {
    let pairs = profile.activities.windows(2).filter_map(|pair| match pair {
        [a, b] => Some(format!("{a} → {b}")),
        _ => None,
    });
    profile.activities.iter().cloned().chain(pairs)
}

/// How often each feature is there, damped, by its weight; of length 1.
fn vector(profile: &Profile, weight: &dyn Fn(&str) -> f64) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for name in features(profile) {
        *counts.entry(name).or_insert(0.0) += 1.0;
    }
    let mut vector: BTreeMap<String, f64> = counts
        .into_iter()
        .map(|(name, count)| {
            let it = (1.0 + count.ln()) * weight(&name);
            (name, it)
        })
        .collect();
    let length = vector.values().map(|it| it * it).sum::<f64>().sqrt();
    if length > 0.0 {
        for it in vector.values_mut() {
            *it /= length;
        }
    }
    vector
}

fn cosine(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    a.iter().filter_map(|(name, value)| Some(value * b.get(name)?)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(request: &str, activities: &[&str]) -> Profile {
        Profile { request: request.into(), activities: activities.iter().map(|it| (*it).to_owned()).collect() }
    }

    #[test]
    fn sessions_of_one_kind_are_found() {
        let profiles = [
            profile("mendtheleakingpump", &["read C", "edit C", "make test"]),
            profile("releasetheparser", &["git tag", "npm publish", "npm view", "gh release create"]),
            profile("mendtheleakingpump", &["search"]),
            profile("shipversiontwo", &["edit JSON", "git tag", "npm publish", "npm view", "gh release create"]),
            profile("writetheguide", &["read Markdown", "edit Markdown"]),
            profile("ok", &["git log"]),
            profile("ok", &["ls -la"]),
        ];
        let found = groups(&profiles);
        assert_eq!(found.iter().map(|it| it.members.clone()).collect::<Vec<_>>(), [vec![0, 2], vec![1, 3]]);
        assert_eq!((found[0].same_request, found[1].same_request), (true, false));
        assert_eq!(found[1].shared.len(), 4);
        assert_eq!(groups(&[]), []);
    }
}
