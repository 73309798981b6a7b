//! Path quantifiers of branching time: `AG φ`, `A[φ U ψ]`, `E (F φ & G ψ)`.

use super::Parser;
use super::expression::{Machine, Step};
use super::frame::Frame;
use crate::ast::Prefix;
use crate::lexer::Tok;
use tw_ir::Temporal;

impl Parser<'_> {
    /// The quantifier that the current word is, and the operator that it names with it.
    pub(super) fn path_quantifier(&self) -> Option<(Prefix, Option<Prefix>)> {
        let (quantifier, operator) = self.word(0).split_at_checked(1)?;
        let quantifier = match quantifier {
            "A" => Prefix::AllPaths,
            "E" => Prefix::SomePath,
            _ => return None,
        };
        let operator = match operator {
            "X" => Prefix::Temporal(Temporal::Next),
            "F" => Prefix::Temporal(Temporal::Finally),
            "G" => Prefix::Temporal(Temporal::Globally),
            // A letter alone may be a state's name: it is a quantifier where a path formula can follow.
            "" => {
                let again = self.peek(1) == Tok::Word && matches!(self.word(1), "A" | "E");
                let follows =
                    matches!(self.peek(1), Tok::OpenBracket | Tok::OpenParen | Tok::Prefix(_) | Tok::Not);
                return (again || follows).then_some((quantifier, None));
            }
            _ => return None,
        };
        Some((quantifier, Some(operator)))
    }

    pub(super) fn paths(&mut self, m: &mut Machine) -> Step {
        let Some((op, operator)) = self.path_quantifier() else { return Step::Operand };
        let start = self.advance();
        match operator {
            Some(operator) => {
                let interval = self.interval();
                m.frames.push(Frame::Prefix { op, interval: None, map: None, start });
                m.frames.push(Frame::Prefix { op: operator, interval, map: None, start });
            }
            None if self.kind() == Tok::OpenBracket => {
                let open = self.advance();
                m.open(Frame::Paths { op, start, open });
            }
            None => m.frames.push(Frame::Prefix { op, interval: None, map: None, start }),
        }
        Step::Operand
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::dump::{body, dump};
    use crate::parser::parse_branching;
    use crate::{LowerOptions, lower, parse_formula};

    const FORMULAS: &[(&str, &str, &str)] = &[
        ("AG EF p", "(AllPaths (Globally (SomePath (Finally p))))", "AG EF p"),
        ("AG(p -> AX q)", "(AllPaths (Globally (p Implies (AllPaths (Next q)))))", "AG (p -> AX q)"),
        ("A[p U q] & r", "((AllPaths (p Until q)) And r)", "A[p U q] & r"),
        ("E [ p U E[q W r] ]", "(SomePath (p Until (SomePath (q WeakUntil r))))", "E[p U E[q W r]]"),
        ("EF[0,10] state = s1", "(SomePath (Finally[0,10] (state Eq s1)))", "EF[0,10] (state == s1)"),
        ("A (G F p)", "(AllPaths (Globally (Finally p)))", "AG F p"),
        ("E (G p & F q)", "(SomePath ((Globally p) And (Finally q)))", "E (G p & F q)"),
        ("!EX !p", "(! (SomePath (Next (! p))))", "!EX !p"),
        ("A[] p", "(AllPaths (Globally p))", "AG p"),
        ("E<> p", "(SomePath (Finally p))", "EF p"),
        // Letters alone are names unless a path formula follows.
        ("EF A", "(SomePath (Finally A))", "EF A"),
        ("A & E", "(A And E)", "A & E"),
    ];

    #[test]
    fn path_quantifiers_are_read_and_shown() {
        for (text, structure, shown) in FORMULAS {
            let tree = parse_branching(text, 0);
            assert!(tree.diagnostics.is_empty(), "{text}: {:?}", tree.diagnostics);
            assert_eq!(dump(&tree.value, body(&tree.value)), *structure, "{text}");
            let program = lower(&tree.value, &LowerOptions::default());
            assert!(!program.has_errors(), "{text}: {:?}", program.diagnostics);
            let root = program.value.roots[0].node;
            assert_eq!(tw_ir::display(&program.value, root), *shown, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_them_is_said() {
        for text in ["AG", "A[p U", "A[p U q", "EF[5,2] p", "A[p U q)", "AG p EF q"] {
            assert!(
                parse_branching(text, 0).has_errors() || {
                    let tree = parse_branching(text, 0);
                    lower(&tree.value, &LowerOptions::default()).has_errors()
                }
            );
        }
    }

    #[test]
    fn elsewhere_they_are_names() {
        let tree = parse_branching("EF `AG`", 0);
        assert_eq!(dump(&tree.value, body(&tree.value)), "(SomePath (Finally 'AG))");
        let tree = parse_formula("G (AG -> F A)", 0);
        assert_eq!(dump(&tree.value, body(&tree.value)), "(Globally (AG Implies (Finally A)))");
    }
}
