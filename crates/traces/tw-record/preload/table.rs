// Read by the build script and by the crate's tests alike.

/// What an argument is, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of 32 bits, with a sign.
    Int,
    /// A number of 64 bits, with a sign.
    Long,
    /// A number of 64 bits, without one.
    Num,
    /// A pointer.
    Ptr,
    /// A text.
    Str,
    /// The flags of `open`.
    Flags,
    /// Permissions.
    Mode,
    /// The command of `fcntl`.
    Command,
    /// The family of a socket.
    Family,
    /// The kind of a socket, with flags.
    Type,
    /// A socket address.
    Addr,
    /// What a pointer points to after the call.
    Ref,
    /// Not recorded.
    Skip,
}

/// A line of the table.
struct Line<'t> {
    hand: bool,
    before: bool,
    allocates: bool,
    result: &'t str,
    names: Vec<&'t str>,
    arguments: Vec<Kind>,
}

fn lines(table: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for text in table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = text.split_whitespace().peekable();
        let hand = words.next_if_eq(&"hand").is_some();
        let order = words.next().unwrap_or_default();
        let result = words.next().unwrap_or_default();
        let names = words.next().unwrap_or_else(|| panic!("`{text}` names no call")).split(',').collect();
        let mut arguments = Vec::new();
        for word in words {
            match word {
                "int" => arguments.push(Kind::Int),
                "long" => arguments.push(Kind::Long),
                "command" => arguments.push(Kind::Command),
                "family" => arguments.push(Kind::Family),
                "kind" => arguments.push(Kind::Type),
                "num" => arguments.push(Kind::Num),
                "ptr" => arguments.push(Kind::Ptr),
                "str" => arguments.push(Kind::Str),
                "flags" => arguments.push(Kind::Flags),
                "mode" => arguments.push(Kind::Mode),
                "addr" => arguments.push(Kind::Addr),
                "ref" => arguments.push(Kind::Ref),
                "ref2" => arguments.extend([Kind::Int; 2]),
                "skip" => arguments.push(Kind::Skip),
                other => panic!("`{text}`: unknown kind of argument `{other}`"),
            }
        }
        assert!(matches!(order.trim_end_matches('+'), "after" | "before"), "`{text}`: unknown order");
        assert!(
            matches!(result, "int" | "long" | "ptr" | "map" | "code" | "num" | "void"),
            "`{text}`: unknown result"
        );
        let (before, allocates) = (order.starts_with("before"), order.ends_with('+'));
        lines.push(Line { hand, before, allocates, result, names, arguments });
    }
    lines
}
