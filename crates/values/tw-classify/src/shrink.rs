//! A smallest part of a trace that still is what it was.

/// Positions of a trace of that length, ascending, of which `same` holds and of which none can be left out (delta debugging:
/// halves first, then ever smaller pieces, at last each position alone). At most `most` attempts; what was found until then.
pub fn shrink(len: usize, most: usize, same: &mut dyn FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut kept: Vec<u32> = (0..len as u32).collect();
    let (mut pieces, mut tried) = (2, 0);
    while kept.len() > 1 {
        let size = kept.len().div_ceil(pieces);
        let mut smaller = None;
        let mut start = 0;
        while start < kept.len() && tried < most {
            let end = (start + size).min(kept.len());
            let without: Vec<u32> = kept[..start].iter().chain(&kept[end..]).copied().collect();
            tried += 1;
            if !without.is_empty() && same(&without) {
                smaller = Some(without);
                break;
            }
            start = end;
        }
        match smaller {
            // As large pieces as before are tried on what is left.
            Some(smaller) => {
                kept = smaller;
                pieces = (pieces - 1).max(2);
            }
            None if size == 1 || tried >= most => break,
            None => pieces = (pieces * 2).min(kept.len()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_left_out_of_what_is_left() {
        let mut needs = |kept: &[u32]| [3, 17, 18, 900].iter().all(|at| kept.contains(at));
        assert_eq!(shrink(1000, usize::MAX, &mut needs), [3, 17, 18, 900]);
        assert_eq!(shrink(5, usize::MAX, &mut |_| true).len(), 1);
        assert_eq!(shrink(5, usize::MAX, &mut |_| false), [0, 1, 2, 3, 4]);
        assert_eq!(shrink(1, usize::MAX, &mut |_| true), [0]);
        assert_eq!(shrink(1000, 0, &mut |_| true).len(), 1000);
    }
}
