//! Variables: names, types, and what depends on what.

use super::{Reader, Wrong};
use crate::formats::json;
use crate::{Cells, Domain, Variable};
use rustc_hash::FxHashSet;

impl Reader<'_> {
    pub(super) fn variables(&mut self) -> Result<(), Wrong> {
        self.pull.sign(b'[')?;
        let mut first = true;
        // Name of the other variable and codes, with places, of those that depend on one.
        let mut dependent: Vec<(usize, String, Vec<u32>, usize)> = Vec::new();
        let mut names = FxHashSet::default();
        while self.pull.more(&mut first, b']')? {
            let start = self.pull.at;
            self.pull.sign(b'{')?;
            let (mut name, mut domain, mut of, mut codes) = (None, None, None, None);
            let mut first = true;
            while self.pull.more(&mut first, b'}')? {
                let at = self.pull.at;
                let key = self.pull.key()?;
                if matches!(&*key, "boolean" | "range" | "values") && domain.is_some() {
                    return Err((at, format!("found `{key}` for a variable with a type, expected one type")));
                }
                match &*key {
                    "name" => name = Some(self.pull.string()?.into_owned()),
                    "boolean" => {
                        if !self.pull.boolean()? {
                            return Err((
                                at,
                                "found `false`, expected `true`, or `range` or `values` instead".to_owned(),
                            ));
                        }
                        domain = Some(Domain::Boolean);
                    }
                    "range" => domain = Some(self.range()?),
                    "values" => domain = Some(self.values()?),
                    "of" => of = Some(self.pull.string()?.into_owned()),
                    "codes" => {
                        self.pull.sign(b'[')?;
                        let (mut list, mut first) = (Vec::new(), true);
                        while self.pull.more(&mut first, b']')? {
                            list.push(
                                self.pull.count(u64::from(u32::MAX), "the place of a value, from 0")? as u32
                            );
                        }
                        codes = Some(list);
                    }
                    key => {
                        return Err((
                            at,
                            format!(
                                "found the key `{key}`, expected name, boolean, range, values, of or codes"
                            ),
                        ));
                    }
                }
            }
            let (Some(name), Some(domain)) = (name, domain) else {
                return Err((start, "found a variable without name or type, expected both".to_owned()));
            };
            if !names.insert(name.clone()) {
                return Err((start, format!("found the variable `{name}` again, expected it once")));
            }
            match (of, codes) {
                (None, None) => {}
                (Some(of), Some(codes)) => {
                    if codes.iter().any(|&code| u64::from(code) >= domain.size()) {
                        return Err((
                            start,
                            format!("found a code of `{name}` beyond its {} values", domain.size()),
                        ));
                    }
                    dependent.push((self.model.variables.len(), of, codes, start));
                }
                _ => return Err((start, "found `of` or `codes` alone, expected both".to_owned())),
            }
            self.model.variables.push(Variable { name, domain, cells: Cells::Own(Vec::new()) });
        }
        for (variable, of, codes, at) in dependent {
            let Some(other) = self.model.variable(&of) else {
                return Err((at, format!("found `of` the variable `{of}`, expected one of this model")));
            };
            let size = self.model.variables[other].domain.size();
            if codes.len() as u64 != size {
                return Err((
                    at,
                    format!(
                        "found {} codes, expected one for each of the {size} values of `{of}`",
                        codes.len()
                    ),
                ));
            }
            self.model.variables[variable].cells = Cells::Of(other, codes);
            // Following a chain comes to an end unless it comes back.
            let (mut end, mut steps) = (other, 0);
            while let Cells::Of(next, _) = self.model.variables[end].cells {
                (end, steps) = (next, steps + 1);
                if steps > self.model.variables.len() {
                    return Err((
                        at,
                        format!("found `{of}` to depend on itself, expected a variable of states"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn range(&mut self) -> Result<Domain, Wrong> {
        let start = self.pull.at;
        self.pull.sign(b'[')?;
        let low = self.pull.int()?;
        self.pull.sign(b',')?;
        let high = self.pull.int()?;
        self.pull.sign(b']')?;
        let domain = Domain::Range(low, high);
        if domain.size() > u64::from(u32::MAX) {
            return Err((
                start,
                format!("found a range of more than {} values, expected at most that many", u32::MAX),
            ));
        }
        Ok(domain)
    }

    fn values(&mut self) -> Result<Domain, Wrong> {
        self.pull.sign(b'[')?;
        let (mut values, mut met, mut first) = (Vec::new(), FxHashSet::default(), true);
        while self.pull.more(&mut first, b']')? {
            let at = self.pull.at;
            let value = self.pull.value()?;
            if !met.insert(json::text(&value)) {
                return Err((at, format!("found the value {} again, expected it once", json::text(&value))));
            }
            values.push(value);
        }
        Ok(Domain::Values(values))
    }
}
