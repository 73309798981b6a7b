//! What is true of a specification on all inputs, each finding with a shortest witness.

use crate::decide;
use crate::graph::{Graph, Kept, ZeroCycle, kept};
use crate::nfa::{GaveUp, Nfa};
use crate::program::{Model, Passes, Program, Unsolved};
use crate::split::{Part, groups, split};
use crate::system::{Reading, System, TooLarge, symbolic};
use crate::two_pass::Limits;
use crate::{Specification, Word};

/// How much an analysis may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// States, pairs or sets of states of one search.
    pub states: usize,
    /// Moves of an automaton.
    pub moves: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { states: 1 << 20, moves: 1 << 23 }
    }
}

/// What a witness shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An input with two models that differ in an observed output.
    TwoModels,
    /// An input without a model.
    NoModel,
}

/// An input, shortest of its kind, and its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What it shows.
    pub kind: Kind,
    /// The input.
    pub input: Word,
    /// Two models, or none.
    pub models: Vec<Model>,
}

/// What is known of a specification. What is not known because the budget ran out is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// No closed walk of weight 0.
    pub well_formed: bool,
    /// Why it is not well-formed.
    pub zero_cycle: Option<ZeroCycle>,
    /// Most changes of direction on a path; nothing if not well-formed.
    pub alternation: Option<usize>,
    /// Passes over a stored trace: one more than the alternation, or two.
    pub passes: usize,
    /// No cycle looks ahead; nothing if not well-formed.
    pub online: Option<bool>,
    /// How many positions later a live run knows its outputs; nothing if it cannot run live.
    pub look_ahead: Option<u64>,
    /// How many values of each stream a live run keeps.
    pub kept: Option<Vec<Kept>>,
    /// The bytes that a live run keeps.
    pub state_bytes: Option<u64>,
    /// Every input has exactly one model, as far as the observed outputs go.
    pub well_defined: Option<bool>,
    /// Some input has two models that differ in an observed output.
    pub under_defined: Option<bool>,
    /// Some input has no model.
    pub over_defined: Option<bool>,
    /// A shortest input for each of the two.
    pub witnesses: Vec<Witness>,
    /// Where the budget ran out.
    pub gave_up: Option<GaveUp>,
}

/// Analyses a specification.
pub fn analyse(spec: &Specification, budget: &Budget) -> Analysis {
    let graph = Graph::new(spec);
    let kept = kept(spec, &graph);
    let delays = graph.delays(spec, false);
    let alternation = graph.alternation();
    let mut analysis = Analysis {
        well_formed: graph.is_well_formed(),
        zero_cycle: graph.zero_cycle(),
        alternation,
        passes: alternation.map_or(2, |alternation| alternation + 1),
        online: alternation.map(|_| delays.is_some()),
        look_ahead: delays.map(|delays| delays.into_iter().max().unwrap_or(0) as u64),
        state_bytes: kept.as_ref().map(|kept| crate::live::state_bytes(kept)),
        kept,
        well_defined: Some(true),
        under_defined: Some(false),
        over_defined: Some(false),
        witnesses: Vec::new(),
        gave_up: None,
    };
    if analysis.well_formed {
        return analysis;
    }
    let automata = Automata::new(spec, &graph, budget);
    let over = automata.over_defined();
    let under = automata.under_defined(&over);
    let answers = [
        (Kind::TwoModels, under, &mut analysis.under_defined),
        (Kind::NoModel, over, &mut analysis.over_defined),
    ];
    for (kind, found, answer) in answers {
        let shown = found.and_then(|word| match word {
            Some(letters) => witness(spec, kind, &letters).map(Some),
            None => Ok(None),
        });
        *answer = shown.as_ref().ok().map(Option::is_some);
        match shown {
            Ok(shown) => analysis.witnesses.extend(shown),
            Err(gave_up) => analysis.gave_up = Some(gave_up),
        }
    }
    analysis.well_defined = match (analysis.under_defined, analysis.over_defined) {
        (Some(true), _) | (_, Some(true)) => Some(false),
        (Some(false), Some(false)) => Some(true),
        _ => None,
    };
    analysis
}

/// The input of these letters, with its models.
fn witness(spec: &Specification, kind: Kind, letters: &[u64]) -> Result<Witness, GaveUp> {
    let input = Word::from_letters(spec.inputs.len(), letters);
    let models = models(spec, &input)?;
    debug_assert_eq!(models.len(), if kind == Kind::TwoModels { 2 } else { 0 });
    Ok(Witness { kind, input, models })
}

/// A model of an input, and a second one that differs in an observed output.
fn models(spec: &Specification, input: &Word) -> Result<Vec<Model>, GaveUp> {
    let gave_up = |unsolved: Unsolved| match unsolved {
        Unsolved::TooLarge { states } => GaveUp { states },
        _ => GaveUp { states: 0 },
    };
    let program = Program::new(spec, Passes::Auto).map_err(gave_up)?;
    program.models(input, &Limits::default()).map_err(gave_up)
}

type Found = Result<Option<Vec<u64>>, GaveUp>;

/// A question about a system's sets of states.
type Ask = fn(&System, usize) -> Found;

/// Asks it of the system of some outputs.
fn by_sets(
    spec: &Specification,
    members: &[usize],
    (labels, inputs): (&[usize], &[u32]),
    budget: &Budget,
    ask: Ask,
) -> Found {
    // Sets of states follow letters one by one.
    if inputs.len() > 16 {
        return Err(GaveUp { states: 0 });
    }
    let system = System::new(spec, members, labels, inputs, Reading::Letters);
    ask(&system.map_err(|TooLarge| GaveUp { states: 0 })?, budget.states)
}

/// The outputs that decide whether an input has a model, and all that they need.
fn deciding(spec: &Specification) -> Vec<usize> {
    let graph = Graph::new(spec);
    let core: Vec<bool> = split(&graph).iter().map(|part| *part == Part::Core).collect();
    let needed = graph.needed(&core);
    (0..needed.len()).filter(|&output| needed[output]).collect()
}

/// The automata of the groups of a specification's core.
struct Automata<'a> {
    spec: &'a Specification,
    graph: &'a Graph,
    budget: &'a Budget,
    inputs: Vec<u32>,
    parts: Vec<Part>,
    /// Each group's outputs, and its automaton with them as labels.
    groups: Vec<(Vec<usize>, Result<Nfa, GaveUp>)>,
}

impl<'a> Automata<'a> {
    fn new(spec: &'a Specification, graph: &'a Graph, budget: &'a Budget) -> Self {
        let parts = split(graph);
        let inputs: Vec<u32> = (0..spec.inputs.len() as u32).collect();
        let mut automata = Automata { spec, graph, budget, inputs, parts, groups: Vec::new() };
        let groups = groups(graph, &automata.parts);
        let of = |group: Vec<usize>| {
            let nfa = Nfa::new(spec, &automata.needed(&group), &group, &automata.inputs, budget);
            (group, nfa)
        };
        automata.groups = groups.into_iter().map(of).collect();
        automata
    }

    /// Some outputs, and all that they need.
    fn needed(&self, outputs: &[usize]) -> Vec<usize> {
        let mut wanted = vec![false; self.parts.len()];
        outputs.iter().for_each(|&output| wanted[output] = true);
        let needed = self.graph.needed(&wanted);
        (0..needed.len()).filter(|&output| needed[output]).collect()
    }

    /// What was asked of a list of states that grew too long, asked of sets.
    fn otherwise(&self, found: Found, labels: &[usize], members: &[usize], ask: Ask) -> Found {
        found.or_else(|gave_up| {
            by_sets(self.spec, members, (labels, &self.inputs), self.budget, ask).map_err(|_| gave_up)
        })
    }

    fn over_defined(&self) -> Found {
        shortest(self.groups.iter().map(|(outputs, nfa)| {
            let listed = nfa.as_ref().map_err(|gave_up| *gave_up);
            let found = listed.and_then(|nfa| decide::not_within(None, nfa, self.budget.states));
            self.otherwise(found, outputs, &self.needed(outputs), symbolic::rejected)
        }))
    }

    fn under_defined(&self, over: &Found) -> Found {
        let all = self.spec.observed.iter().all(|&observed| observed);
        if all && (*over == Ok(None) || self.groups.len() == 1) {
            // Every group has a model for every input: one with two of them is enough.
            return shortest(self.groups.iter().map(|(outputs, nfa)| {
                let listed = nfa.as_ref().map_err(|gave_up| *gave_up);
                let found = listed.and_then(|nfa| decide::ambiguous(nfa, self.budget.states));
                self.otherwise(found, outputs, &self.needed(outputs), symbolic::ambiguous)
            }));
        }
        let core = (0..self.parts.len()).filter(|&output| self.parts[output] == Part::Core);
        let labels: Vec<usize> = if all { core.clone().collect() } else { self.spec.observed() };
        let members = self.needed(&core.chain(labels.iter().copied()).collect::<Vec<_>>());
        let joint = Nfa::new(self.spec, &members, &labels, &self.inputs, self.budget);
        let found = joint.and_then(|joint| decide::ambiguous(&joint, self.budget.states));
        self.otherwise(found, &labels, &members, symbolic::ambiguous)
    }
}

/// The shortest of the words found; that there is none is only known if every search ended.
fn shortest(found: impl Iterator<Item = Found>) -> Found {
    let mut best: Option<Vec<u64>> = None;
    let mut gave_up = None;
    for one in found {
        match one {
            Ok(Some(word)) if best.as_ref().is_none_or(|best| word.len() < best.len()) => best = Some(word),
            Ok(_) => {}
            Err(error) => gave_up = Some(error),
        }
    }
    // A word found beside a search that gave up might not be the shortest, and is no answer then.
    match gave_up {
        Some(error) => Err(error),
        None => Ok(best),
    }
}

/// An answer, and an input that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Yes or no.
    pub answer: bool,
    /// A shortest input that shows it, if one can.
    pub input: Option<Word>,
    /// A model of that input, if the question is about one that has one.
    pub model: Option<Model>,
}

impl Answer {
    fn plain(answer: bool) -> Self {
        Answer { answer, input: None, model: None }
    }
}

/// The automaton of all inputs that have a model; letters are the inputs of these names.
pub(crate) fn language(spec: &Specification, names: &[String], budget: &Budget) -> Result<Nfa, GaveUp> {
    labelled(spec, names, &[], budget)
}

pub(crate) fn labelled(
    spec: &Specification,
    names: &[String],
    labels: &[usize],
    budget: &Budget,
) -> Result<Nfa, GaveUp> {
    let graph = Graph::new(spec);
    let parts = split(&graph);
    let mut wanted: Vec<bool> = parts.iter().map(|part| *part == Part::Core).collect();
    labels.iter().for_each(|&output| wanted[output] = true);
    let needed = graph.needed(&wanted);
    let members: Vec<usize> = (0..needed.len()).filter(|&output| needed[output]).collect();
    // A name that is no input of this one is a bit that nobody reads.
    let unread = (spec.inputs.len() + spec.outputs.len()) as u32;
    let place = |name: &String| spec.inputs.iter().position(|input| input == name);
    let inputs = (0..).zip(names).map(|(nth, name)| place(name).map_or(unread + nth, |at| at as u32));
    Nfa::new(spec, &members, labels, &inputs.collect::<Vec<_>>(), budget)
}

/// The inputs of both, by name.
fn both(a: &Specification, b: &Specification) -> Vec<String> {
    let more = b.inputs.iter().filter(|name| !a.inputs.contains(name));
    a.inputs.iter().chain(more).cloned().collect()
}

/// The word of these letters over the inputs of a specification, as a witness for it.
fn shown(spec: &Specification, names: &[String], letters: &[u64]) -> Word {
    let all = Word::from_letters(names.len(), letters);
    let column = |input: &String| {
        let place = names.iter().position(|name| name == input);
        place.map_or_else(|| tw_core::Bits::repeat(false, letters.len()), |at| all.columns[at].clone())
    };
    Word { len: letters.len(), columns: spec.inputs.iter().map(column).collect() }
}

/// Does no input have a model? If some does, a shortest one is shown with a model.
pub fn is_empty(spec: &Specification, budget: &Budget) -> Result<Answer, GaveUp> {
    let inputs: Vec<u32> = (0..spec.inputs.len() as u32).collect();
    let found = language(spec, &spec.inputs, budget).map(|nfa| decide::accepted(&nfa));
    let found = found.or_else(|_| by_sets(spec, &deciding(spec), (&[], &inputs), budget, symbolic::accepted));
    let Some(letters) = found? else { return Ok(Answer::plain(true)) };
    let input = Word::from_letters(spec.inputs.len(), &letters);
    let model = models(spec, &input)?.into_iter().next();
    Ok(Answer { answer: false, input: Some(input), model })
}

/// Does every input have a model? If not, a shortest one that has none is shown.
pub fn is_universal(spec: &Specification, budget: &Budget) -> Result<Answer, GaveUp> {
    let inputs: Vec<u32> = (0..spec.inputs.len() as u32).collect();
    let listed = language(spec, &spec.inputs, budget);
    let found = listed.and_then(|nfa| decide::not_within(None, &nfa, budget.states));
    let found = found.or_else(|_| by_sets(spec, &deciding(spec), (&[], &inputs), budget, symbolic::rejected));
    let Some(letters) = found? else { return Ok(Answer::plain(true)) };
    let input = Word::from_letters(spec.inputs.len(), &letters);
    Ok(Answer { answer: false, input: Some(input), model: None })
}

/// Does `a` accept every input that `b` accepts? If not, a shortest one is shown that only `b` accepts, over the inputs of
/// both, with `b`'s model.
pub fn includes(a: &Specification, b: &Specification, budget: &Budget) -> Result<Answer, GaveUp> {
    let names = both(a, b);
    let (large, small) = (language(a, &names, budget)?, language(b, &names, budget)?);
    let Some(letters) = decide::not_within(Some(&small), &large, budget.states)? else {
        return Ok(Answer::plain(true));
    };
    let model = models(b, &shown(b, &names, &letters))?.into_iter().next();
    Ok(Answer { answer: false, input: Some(Word::from_letters(names.len(), &letters)), model })
}

/// Does this input have a model?
pub fn accepts(spec: &Specification, input: &Word, limits: &Limits) -> Result<bool, Unsolved> {
    match Program::new(spec, Passes::Auto)?.run(input, limits) {
        Ok(_) | Err(Unsolved::Several { .. }) => Ok(true),
        Err(Unsolved::NoModel { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Why two specifications cannot be compared on outputs: one of them has no output of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchOutput(pub String);

/// A difference of two specifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// A shortest input, over the inputs of both.
    pub input: Word,
    /// Values of the outputs that are compared, which only one of them allows.
    pub values: Vec<tw_core::Bits>,
    /// Whether it is the first one that allows them.
    pub first: bool,
}

/// Do two specifications allow the same values of these outputs on every input? Nothing if so, else a shortest
/// difference. With no outputs it is asked whether they accept the same inputs.
pub fn equal(
    a: &Specification,
    b: &Specification,
    on: &[String],
    budget: &Budget,
) -> Result<Result<Option<Difference>, GaveUp>, NoSuchOutput> {
    let names = both(a, b);
    let find = |spec: &Specification| {
        let place = |name: &String| spec.outputs.iter().position(|output| output == name);
        on.iter().map(|name| place(name).ok_or(NoSuchOutput(name.clone()))).collect::<Result<Vec<_>, _>>()
    };
    let (first, second) = (find(a)?, find(b)?);
    let compare = || {
        let wide = |spec: &Specification, labels: &[usize]| {
            let nfa = labelled(spec, &names, labels, budget)?;
            nfa.with_labels(labels.len()).ok_or(GaveUp { states: nfa.states() })
        };
        let found = decide::different(&wide(a, &first)?, &wide(b, &second)?, budget.states)?;
        Ok(found.map(|(letters, first)| {
            let all = Word::from_letters(names.len() + on.len(), &letters);
            let (input, values) = all.columns.split_at(names.len());
            let input = Word { len: letters.len(), columns: input.to_vec() };
            Difference { input, values: values.to_vec(), first }
        }))
    };
    Ok(compare())
}
