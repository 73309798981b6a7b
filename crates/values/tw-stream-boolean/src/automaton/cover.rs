//! Sets of letters as few cubes (Minato and Morreale's irredundant sums of products).

/// The letters whose bits under the mask are those of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The inputs that matter.
    pub mask: u64,
    /// Their values.
    pub value: u64,
}

impl Cube {
    /// All letters.
    pub const ALL: Cube = Cube { mask: 0, value: 0 };

    /// Whether a letter is in it.
    pub fn holds(self, letter: u64) -> bool {
        letter & self.mask == self.value
    }

    /// As a conjunction, with names from `name`.
    pub fn text(self, name: &dyn Fn(usize) -> String, inputs: usize) -> String {
        let literals: Vec<String> = (0..inputs)
            .filter(|input| self.mask >> input & 1 == 1)
            .map(|input| format!("{}{}", if self.value >> input & 1 == 1 { "" } else { "!" }, name(input)))
            .collect();
        if literals.is_empty() { "t".to_string() } else { literals.join(" & ") }
    }
}

/// Cubes whose letters are those of the set; its length is a power of two.
pub(super) fn cover(letters: &[bool]) -> Vec<Cube> {
    let mut cubes = Vec::new();
    between(letters, letters, Cube::ALL, &mut cubes);
    cubes
}

/// Cubes that cover `all` and stay within `may`; what they cover. The highest variable is split.
fn between(all: &[bool], may: &[bool], cube: Cube, cubes: &mut Vec<Cube>) -> Vec<bool> {
    if !all.contains(&true) {
        return vec![false; all.len()];
    }
    if !may.contains(&false) {
        cubes.push(cube);
        return vec![true; all.len()];
    }
    let half = all.len() / 2;
    let bit = half as u64;
    let ([all_0, all_1], [may_0, may_1]) = ([&all[..half], &all[half..]], [&may[..half], &may[half..]]);
    let without = |a: &[bool], b: &[bool]| -> Vec<bool> { a.iter().zip(b).map(|(a, b)| *a && !*b).collect() };
    let with = |value: u64| Cube { mask: cube.mask | bit, value: cube.value | value };
    let low = between(&without(all_0, may_1), may_0, with(0), cubes);
    let high = between(&without(all_1, may_0), may_1, with(bit), cubes);
    let (rest_0, rest_1) = (without(all_0, &low), without(all_1, &high));
    let rest: Vec<bool> = rest_0.iter().zip(&rest_1).map(|(a, b)| *a || *b).collect();
    let both: Vec<bool> = may_0.iter().zip(may_1).map(|(a, b)| *a && *b).collect();
    let middle = between(&rest, &both, cube, cubes);
    let join = |half: Vec<bool>| half.into_iter().zip(&middle).map(|(a, b)| a || *b).collect::<Vec<bool>>();
    [join(low), join(high)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_cover_just_the_letters() {
        let mut rng = tw_testkit::Rng::new(3);
        for _ in 0..2000 {
            let letters: Vec<bool> = (0..1 << rng.below(6)).map(|_| rng.one_in(2)).collect();
            let cubes = cover(&letters);
            for (letter, expected) in letters.iter().enumerate() {
                assert_eq!(cubes.iter().any(|cube| cube.holds(letter as u64)), *expected);
            }
            for left in 0..cubes.len() {
                let others = |letter: u64| {
                    cubes.iter().enumerate().any(|(nth, cube)| nth != left && cube.holds(letter))
                };
                let needed =
                    (0..letters.len() as u64).any(|letter| cubes[left].holds(letter) && !others(letter));
                assert!(needed, "{cubes:?}");
            }
        }
    }
}
