//! Variables: names, types, and what depends on what.

use super::{Reader, Wrong};
use crate::formats::json;
use crate::{Cells, Codes, Domain, Variable};
use rustc_hash::FxHashSet;

/// Codes as written, before it is known how many there must be.
enum Listed {
    All(Vec<u32>),
    Few(u32, Vec<(u32, u32)>),
}

impl Listed {
    fn any(&self, is: impl Fn(u32) -> bool) -> bool {
        match self {
            Listed::All(codes) => codes.iter().any(|&code| is(code)),
            Listed::Few(common, others) => is(*common) || others.iter().any(|&(_, code)| is(code)),
        }
    }

    /// One for each of the values of another variable, or what is wrong.
    fn of(self, size: u64, of: &str) -> Result<Codes, String> {
        match self {
            Listed::All(codes) if codes.len() as u64 != size => {
                let found = codes.len();
                Err(format!("found {found} codes, expected one for each of the {size} values of `{of}`"))
            }
            Listed::All(codes) => Ok(codes.into()),
            Listed::Few(common, others) => match others.last() {
                Some(&(place, _)) if u64::from(place) >= size => {
                    Err(format!("found the place {place}, expected one of the {size} values of `{of}`"))
                }
                _ => Ok(Codes::few(size as usize, common, others)),
            },
        }
    }
}

impl Reader<'_> {
    pub(super) fn variables(&mut self) -> Result<(), Wrong> {
        self.pull.sign(b'[')?;
        let mut first = true;
        // Name of the other variable and codes, with places, of those that depend on one.
        let mut dependent: Vec<(usize, String, Listed, usize)> = Vec::new();
        let mut names = FxHashSet::default();
        while self.pull.more(&mut first, b']')? {
            let start = self.pull.at;
            self.pull.sign(b'{')?;
            let (mut name, mut domain, mut of) = (None, None, None);
            let (mut codes, mut common, mut others) = (None, None, None);
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
                            list.push(self.place()?);
                        }
                        codes = Some(list);
                    }
                    "common" => common = Some(self.place()?),
                    "others" => others = Some(self.others()?),
                    key => {
                        return Err((
                            at,
                            format!(
                                "found the key `{key}`, expected name, boolean, range, values, of, codes, common or others"
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
            let listed = match (codes, common, others) {
                (None, None, None) => None,
                (Some(codes), None, None) => Some(Listed::All(codes)),
                (None, Some(common), Some(others)) => Some(Listed::Few(common, others)),
                _ => {
                    let message = "found `common` or `others` alone, expected both, or `codes` instead";
                    return Err((start, message.to_owned()));
                }
            };
            match (of, listed) {
                (None, None) => {}
                (Some(of), Some(codes)) => {
                    if codes.any(|code| u64::from(code) >= domain.size()) {
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
            let codes = codes.of(size, &of).map_err(|message| (at, message))?;
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

    fn place(&mut self) -> Result<u32, Wrong> {
        Ok(self.pull.count(u64::from(u32::MAX), "the place of a value, from 0")? as u32)
    }

    /// `[[place, code], …]`.
    fn others(&mut self) -> Result<Vec<(u32, u32)>, Wrong> {
        self.pull.sign(b'[')?;
        let (mut others, mut first): (Vec<(u32, u32)>, bool) = (Vec::new(), true);
        while self.pull.more(&mut first, b']')? {
            let start = self.pull.at;
            self.pull.sign(b'[')?;
            let place = self.place()?;
            self.pull.sign(b',')?;
            others.push((place, self.place()?));
            self.pull.sign(b']')?;
            if let [.., (before, _), (place, _)] = others[..]
                && before >= place
            {
                return Err((
                    start,
                    format!("found the place {place} after {before}, expected them ascending"),
                ));
            }
        }
        Ok(others)
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
