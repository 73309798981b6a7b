//! Formulas as text, for reports of failed cases.

use tw_ir::{ArithmeticOp, CompareOp, Node, NodeId, Program, What};

/// The formula at `root` in the notation of the specification language, parentheses everywhere.
pub fn show(program: &Program, root: NodeId) -> String {
    enum Piece {
        Node(NodeId),
        Text(String),
    }
    let mut out = String::new();
    let mut todo = vec![Piece::Node(root)];
    while let Some(piece) = todo.pop() {
        let id = match piece {
            Piece::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Piece::Node(id) => id,
        };
        let node = program.dag.node(id);
        let name = |slot: u32| match &program.slots[slot as usize].what {
            What::Proposition(path) | What::Variable(path, _) => path.to_string(),
            What::Event { name, .. } => name.clone(),
        };
        let interval = node.interval().map_or(String::new(), |interval| interval.to_string());
        let operator = match node {
            Node::Constant(constant) => format!("{:?}", program.dag.constants[constant as usize]),
            Node::Slot(slot) | Node::Truth(slot) => name(slot),
            Node::Compare(op, ..) => match op {
                CompareOp::Eq => "==",
                CompareOp::Ne => "!=",
                CompareOp::Lt => "<",
                CompareOp::Le => "<=",
                CompareOp::Gt => ">",
                CompareOp::Ge => ">=",
            }
            .into(),
            Node::Arithmetic(op, ..) => match op {
                ArithmeticOp::Add => "+",
                ArithmeticOp::Sub => "-",
                ArithmeticOp::Mul => "*",
                ArithmeticOp::Div => "/",
                ArithmeticOp::Rem => "%",
                ArithmeticOp::Min => "min",
                ArithmeticOp::Max => "max",
            }
            .into(),
            Node::Tuple(..) => ",".into(),
            _ => format!("{}{interval}", node.operator()),
        };
        let children: Vec<NodeId> = node.children().collect();
        let mut pieces = match children.as_slice() {
            [] => vec![Piece::Text(operator)],
            [a] => vec![Piece::Text(format!("{operator} ")), Piece::Node(*a)],
            [a, b] => vec![
                Piece::Text("(".into()),
                Piece::Node(*a),
                Piece::Text(format!(" {operator} ")),
                Piece::Node(*b),
                Piece::Text(")".into()),
            ],
            [first, rest @ ..] => {
                let mut pieces = vec![Piece::Text(format!("({operator} ")), Piece::Node(*first)];
                pieces.extend(rest.iter().flat_map(|&id| [Piece::Text(" : ".into()), Piece::Node(id)]));
                pieces.push(Piece::Text(")".into()));
                pieces
            }
        };
        match node {
            Node::In(_, set) => pieces.push(Piece::Text(format!(" {:?}", program.dag.sets[set as usize]))),
            Node::Matches(_, regex) => {
                pieces.push(Piece::Text(format!(" {}", program.dag.regexes[regex as usize])))
            }
            _ => {}
        }
        todo.extend(pieces.into_iter().rev());
    }
    out
}
