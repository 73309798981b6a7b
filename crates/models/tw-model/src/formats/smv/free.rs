//! Variables that nothing depends on.
//!
//! A variable that no section names may be anything at any time, whatever the others do: the states with it and without it
//! satisfy the same formulas that do not name it, in branching and in linear time, as each path of the one is a path of the
//! other with some values beside it. Each free Boolean doubles the states and makes four transitions of one, so that a few of
//! them are more than can be listed; where they are many they are left out instead.

use super::syntax::{Constraint, Module, Op, Type};

/// Free variables are kept as long as they multiply the states by no more than this: who reads a path sees them.
const KEPT: u64 = 1 << 10;

/// Leaves out the free variables that no formula mentions, if they are many, and says which.
pub(super) fn leave_out(module: &mut Module<'_>, mentioned: &dyn Fn(&str) -> bool) -> Vec<String> {
    let rows = |constraints: &[Constraint]| constraints.iter().any(|one| matches!(one, Constraint::Rows(_)));
    if rows(&module.init) || rows(&module.trans) {
        return Vec::new();
    }
    let mut used = vec![false; module.names.len()];
    module.nodes.iter().filter(|node| node.op == Op::Name).for_each(|node| used[node.a as usize] = true);
    module.assigns.iter().for_each(|assign| used[assign.name as usize] = true);
    let own = || module.specs.iter().chain(&module.fairness).map(|spec| spec.text.as_str());
    let given = |name: &str| module.changed.iter().any(|(changed, _)| *changed == name);
    let size = |kind: &Type| match kind {
        Type::Boolean => Some(2),
        Type::Range(low, high) => u64::try_from(high.saturating_sub(*low).saturating_add(1)).ok(),
        // Its values are names, which others may use.
        Type::Values(_) => None,
    };
    let free: Vec<bool> = module
        .variables
        .iter()
        .map(|variable| {
            let name = module.names[variable.name as usize];
            let named = mentioned(name) || given(name) || own().any(|text| text.contains(name));
            !used[variable.name as usize] && !named && size(&variable.kind).is_some()
        })
        .collect();
    let sizes = module.variables.iter().zip(&free).filter(|(_, free)| **free);
    let times = sizes.fold(1u64, |all, (variable, _)| all.saturating_mul(size(&variable.kind).unwrap_or(1)));
    if times <= KEPT {
        return Vec::new();
    }
    let mut left_out = Vec::new();
    let mut free = free.into_iter();
    let names = &module.names;
    module.variables.retain(|variable| {
        let goes = free.next().unwrap_or(false);
        if goes {
            left_out.push(names[variable.name as usize].to_owned());
        }
        !goes
    });
    left_out
}
