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
    result: &'t str,
    /// Under which name a pointer that is the result is written.
    result_name: &'t str,
    names: Vec<&'t str>,
    arguments: Vec<(Kind, &'t str)>,
}

/// What stands for something in memory: a child of `vfork` shares it with its parent.
const IN_MEMORY: &[&str] =
    &["block", "old", "stream", "directory", "lock", "condition", "semaphore", "handle"];

impl Line<'_> {
    /// Whether it is about something in memory, not about a descriptor or a process.
    fn in_memory(&self) -> bool {
        let mut names = self.arguments.iter().map(|(_, name)| *name).chain([self.result_name]);
        names.any(|name| IN_MEMORY.contains(&name))
    }
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
            let (kind, name) = word.split_once(':').unwrap_or((word, ""));
            let kind = match kind {
                "int" => Kind::Int,
                "long" => Kind::Long,
                "command" => Kind::Command,
                "family" => Kind::Family,
                "kind" => Kind::Type,
                "num" => Kind::Num,
                "ptr" => Kind::Ptr,
                "str" => Kind::Str,
                "flags" => Kind::Flags,
                "mode" => Kind::Mode,
                "addr" => Kind::Addr,
                "ref" => Kind::Ref,
                "ref2" => {
                    arguments.extend([(Kind::Int, "fd"), (Kind::Int, "fd2")]);
                    continue;
                }
                "skip" => Kind::Skip,
                other => panic!("`{text}`: unknown kind of argument `{other}`"),
            };
            assert!(kind == Kind::Skip || !name.is_empty(), "`{text}`: `{word}` has no name");
            arguments.push((kind, name));
        }
        let (result, result_name) = result.split_once(':').unwrap_or((result, "result"));
        assert!(matches!(order, "after" | "before"), "`{text}`: unknown order");
        assert!(
            matches!(result, "int" | "long" | "ptr" | "map" | "code" | "num" | "void"),
            "`{text}`: unknown result"
        );
        let before = order == "before";
        lines.push(Line { hand, before, result, result_name, names, arguments });
    }
    lines
}
