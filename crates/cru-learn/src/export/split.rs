//! Which cases are trained on and which are kept to evaluate with.
//!
//! Whole families of sessions go to one side, a session with its sub-agents and with every session that tells nearly the
//! same, so that nothing that is asked at the end was seen before. The side follows from a hash of the family, so cases
//! that are added later move none that were there, unless there are so few that a side or a table would stay empty.

use std::collections::{BTreeMap, HashMap};

use cru_base::hash::short;

use crate::export::draft::Record;
use crate::export::likeness::{self, Sets};
use crate::rows::row::Table;

/// Sides and near duplicates of cases, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    /// Whether a case is kept to evaluate with.
    pub(crate) validation: Vec<bool>,
    /// Number of the near duplicates that a case belongs to; 0 for none.
    pub(crate) dup_group: Vec<usize>,
    /// Families with a case.
    pub(crate) families: usize,
}

/// Splits cases; `train` is the share of families that are trained on.
pub(crate) fn of(cases: &[Record], train: f64) -> Split {
    let signatures: Vec<_> = cases.iter().map(|case| &case.likeness).collect();
    let mut alike = likeness::groups(&signatures);
    let mut size: HashMap<usize, usize> = HashMap::new();
    for at in 0..cases.len() {
        *size.entry(alike.first(at)).or_default() += 1;
    }
    let mut families = Sets::new(cases.len());
    let mut roots: HashMap<&str, usize> = HashMap::new();
    for (at, case) in cases.iter().enumerate() {
        families.join(at, *roots.entry(&case.root).or_insert(at));
        families.join(at, alike.first(at));
    }
    // A family is called by the first of its roots.
    let mut names: HashMap<usize, &str> = HashMap::new();
    for (at, case) in cases.iter().enumerate() {
        let name = names.entry(families.first(at)).or_insert(&case.root);
        *name = (*name).min(&case.root);
    }
    let mut draws: Vec<(f64, usize)> = names.iter().map(|(family, name)| (draw(name), *family)).collect();
    draws.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut trained = draws.iter().filter(|(draw, _)| *draw < train).count();
    if draws.len() > 1 && train > 0.0 && train < 1.0 {
        // Neither side stays empty.
        trained = trained.clamp(1, draws.len() - 1);
    }
    let mut validation: HashMap<usize, bool> =
        draws.iter().enumerate().map(|(rank, (_, family))| (*family, rank >= trained)).collect();
    if train < 1.0 {
        let ranks: HashMap<usize, usize> =
            draws.iter().enumerate().map(|(rank, (_, family))| (*family, rank)).collect();
        let of_case = |at: usize| ranks.get(&families.first(at)).map(|rank| (*rank, families.first(at)));
        fill(&tables(cases, of_case), &mut validation);
    }
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut split = Split { families: draws.len(), ..Split::default() };
    for at in 0..cases.len() {
        split.validation.push(validation.get(&families.first(at)).copied().unwrap_or(false));
        let group = alike.first(at);
        let next = numbers.len() + 1;
        let number = if size[&group] > 1 { *numbers.entry(group).or_insert(next) } else { 0 };
        split.dup_group.push(number);
    }
    split
}

/// Families with rows in a table, in the order of their draws.
type Tables = BTreeMap<Table, BTreeMap<usize, usize>>;

fn tables(cases: &[Record], mut family: impl FnMut(usize) -> Option<(usize, usize)>) -> Tables {
    let mut tables = Tables::new();
    for (at, case) in cases.iter().enumerate() {
        for table in case.made.iter().flatten().filter_map(|piece| piece.table) {
            tables.entry(table).or_default().extend(family(at));
        }
    }
    tables
}

/// Of a table that would have nothing to evaluate with, the family that was drawn last is kept for that, if each table
/// still has something to train on. Only this way: what another export asks must not be trained on in this one.
fn fill(tables: &Tables, validation: &mut HashMap<usize, bool>) {
    for own in tables.values() {
        let is_kept = |family: &usize| validation.get(family).copied().unwrap_or(false);
        if own.values().any(is_kept) {
            continue;
        }
        let spared = |family: &&usize| {
            let trained = |all: &BTreeMap<usize, usize>| all.values().any(|it| it != *family && !is_kept(it));
            tables.values().all(|all| trained(all) || !all.values().any(|it| it == *family))
        };
        if let Some(family) = own.values().rev().find(spared) {
            validation.insert(*family, true);
        }
    }
}

/// A number from 0 to 1 that only the name decides.
fn draw(name: &str) -> f64 {
    f64::from(u32::from_le_bytes(short(&blake3::hash(name.as_bytes())))) / f64::from(u32::MAX)
}

/// The place of each case that says the same as another one, and which of them stays: the best and newest.
pub(crate) fn duplicates(cases: &[Record]) -> Vec<bool> {
    let mut best: HashMap<blake3::Hash, usize> = HashMap::new();
    let mut doubled = vec![false; cases.len()];
    fn rank(case: &Record) -> (bool, bool, &str) {
        (case.accepted, case.verified, &case.session)
    }
    for (at, case) in cases.iter().enumerate() {
        match best.entry(case.told) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(at);
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                let known = *entry.get();
                let worse = if rank(case) > rank(&cases[known]) { entry.insert(at) } else { at };
                doubled[worse] = true;
            }
        }
    }
    doubled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Families that are kept, of tables whose families are given in the order of their draws.
    fn kept(tables: &[(Table, &[usize])], before: &[usize]) -> Vec<usize> {
        let of = |families: &[usize]| families.iter().map(|family| (*family, *family)).collect();
        let tables: Tables = tables.iter().map(|(table, families)| (*table, of(families))).collect();
        let mut sides: HashMap<usize, bool> = before.iter().map(|family| (*family, true)).collect();
        fill(&tables, &mut sides);
        let mut kept: Vec<usize> = sides.into_iter().filter_map(|(family, kept)| kept.then_some(family)).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn no_table_is_without_a_side_that_it_can_have() {
        assert_eq!(kept(&[(Table::Sft, &[1, 2, 3])], &[]), [3]);
        assert_eq!(kept(&[(Table::Sft, &[1, 2, 3])], &[2]), [2]);
        assert_eq!(kept(&[(Table::Sft, &[1])], &[]), Vec::<usize>::new());
        // What one table gives away must not be all that another is trained on.
        assert_eq!(kept(&[(Table::Sft, &[1, 2, 3]), (Table::Kto, &[3])], &[]), [2]);
        assert_eq!(kept(&[(Table::Sft, &[1, 2, 3]), (Table::Kto, &[3, 4])], &[4]), [2, 4]);
        assert_eq!(
            kept(&[(Table::Sft, &[1, 9]), (Table::Preference, &[1]), (Table::Kto, &[9])], &[]),
            Vec::<usize>::new()
        );
    }
}
