//! Specifications as text, in the language of `.tw` files.

use super::{Id, Node, Specification};
use std::fmt::{self, Write as _};

/// What is still to be written.
enum Piece {
    Text(&'static str),
    Node(Id, u8),
}

impl Specification {
    /// One equation's right side as text. Shared nodes are written wherever they stand.
    pub fn equation_text(&self, output: usize) -> String {
        let mut text = String::new();
        let mut todo = vec![Piece::Node(self.equations[output], 0)];
        while let Some(piece) = todo.pop() {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Node(id, above) => self.write_node(id, above, &mut text, &mut todo),
            }
        }
        text
    }

    /// Writes a leaf, or puts the parts of an operator on the list, in parentheses where what is above binds as tight.
    fn write_node(&self, id: Id, above: u8, text: &mut String, todo: &mut Vec<Piece>) {
        let binary = |a: Id, sign: &'static str, b: Id, level: u8| {
            (level, vec![Piece::Node(a, level + 1), Piece::Text(sign), Piece::Node(b, level + 1)])
        };
        let (level, parts) = match self.nodes[id as usize] {
            Node::Constant(value) => return text.push_str(if value { "true" } else { "false" }),
            Node::Stream { stream, offset: 0, .. } => return text.push_str(self.name(stream)),
            Node::Stream { stream, offset, default } => {
                // Writing to a string cannot fail.
                let _ = write!(text, "{}[{offset:+}|{default}]", self.name(stream));
                return;
            }
            Node::Outside(-1) => return text.push_str("first"),
            Node::Outside(1) => return text.push_str("last"),
            Node::Outside(offset) => {
                let _ = write!(text, "false[{offset:+}|true]");
                return;
            }
            Node::Not(a) => (9, vec![Piece::Text("!"), Piece::Node(a, 9)]),
            Node::And(a, b) => binary(a, " & ", b, 6),
            Node::Or(a, b) => binary(a, " | ", b, 5),
            Node::Xor(a, b) => binary(a, " ^ ", b, 4),
            Node::Implies(a, b) => binary(a, " -> ", b, 3),
            Node::Iff(a, b) => binary(a, " <-> ", b, 2),
            Node::If(a, b, c) => {
                let parts = ["if ", " then ", " else "].into_iter().zip([a, b, c]);
                (1, parts.flat_map(|(word, id)| [Piece::Text(word), Piece::Node(id, 1)]).collect())
            }
        };
        // `if` ends where its last part ends, so it needs parentheses inside anything but the top.
        let enclosed = level < above || (level == 1 && above == 1);
        if enclosed {
            todo.push(Piece::Text(")"));
        }
        todo.extend(parts.into_iter().rev());
        if enclosed {
            text.push('(');
        }
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (output, name) in self.outputs.iter().enumerate() {
            writeln!(f, "stream {name}: bool = {};", self.equation_text(output))?;
        }
        if self.observed.contains(&false) {
            let names = self.outputs.iter().zip(&self.observed).filter(|(_, observed)| **observed);
            for (name, _) in names {
                writeln!(f, "observe {name};")?;
            }
        }
        Ok(())
    }
}
