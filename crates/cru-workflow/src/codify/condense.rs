//! Too many neighbours joined to fewer, the lightest first.

/// Something that may be joined with the one behind it.
pub(super) trait Neighbour: Sized {
    /// How much was done in it.
    fn weight(&self) -> usize;

    /// Whether it belongs to the one before it whatever it weighs; such ones are joined first.
    fn is_below(&self) -> bool {
        false
    }

    /// Whether it may be joined at all; what may not is not counted among too many.
    fn may_join(&self) -> bool {
        true
    }

    /// Takes in the next one; `is_heavier` says that more was done in that one.
    fn join(&mut self, next: Self, is_heavier: bool);
}

/// Neighbours joined until `most` are left. The bound of what is light doubles, so the passes are few.
pub(super) fn condense<T: Neighbour>(mut all: Vec<T>, most: usize) -> Vec<T> {
    let mut bound = 0;
    loop {
        let mut left = all.iter().filter(|it| it.may_join()).count();
        if left <= most {
            return all;
        }
        let before = all.len();
        let mut joined: Vec<(usize, T)> = Vec::with_capacity(before);
        for next in all {
            let own = next.weight();
            let fits = |(sum, last): &&mut (usize, T)| {
                let is_light = if bound == 0 { next.is_below() } else { *sum + own <= bound };
                left > most && is_light && last.may_join() && next.may_join()
            };
            match joined.last_mut().filter(fits) {
                Some((sum, last)) => {
                    last.join(next, own > *sum);
                    *sum += own;
                    left -= 1;
                }
                None => joined.push((own, next)),
            }
        }
        all = joined.into_iter().map(|(_, it)| it).collect();
        let total: usize = all.iter().map(T::weight).sum();
        if all.len() == before && bound > total.saturating_mul(2) {
            // What may not be joined stands between the rest.
            return all;
        }
        bound = if bound == 0 { 2 } else { bound.saturating_mul(2) };
    }
}
