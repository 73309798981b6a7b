//! Events that are templates of texts: read, printed, explained where they are wrong.

use tw_ir::{Take, What};
use tw_spec::{LowerOptions, lower, parse, print};

fn codes(text: &str) -> Vec<&'static str> {
    let parsed = parse(text, 0);
    let mut found = parsed.diagnostics.clone();
    if !parsed.has_errors() {
        found.extend(lower(&parsed.value, &LowerOptions::default()).diagnostics);
    }
    found.iter().map(|own| own.code).collect()
}

#[test]
fn templates_are_read_and_printed_again() {
    let texts = [
        "event failed(user, ip, port: int) = text \"Failed password for {user} from {ip} port {port:int} ssh2\";\n",
        "event said(what) = message.`the text` \"\\\"{what:words}\\\" {{}} {_:rest}\";\n",
        "event up = `log line` \"up\";\n",
    ];
    for text in texts {
        let parsed = parse(text, 0);
        assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
        assert_eq!(print(&parsed.value), text);
    }
    // What a parameter says of its placeholder is written at both.
    let printed = print(&parse("event a(x: int, y: string) = text \"{x} {y}\";", 0).value);
    assert_eq!(printed, "event a(x: int, y: string) = text \"{x:int} {y}\";\n");
    let printed = print(&parse("event a = text \"{x} {_} {y:real}\";", 0).value);
    assert_eq!(printed, "event a(x, y) = text \"{x} {_} {y:real}\";\n");
}

#[test]
fn what_is_lowered() {
    let text = "event failed(user, port: int) = text \"for {user} port {port}\"; event up = line \"up\";
        property p : G forall u. failed(u, 22) -> up & port == 22;";
    let lowered = lower(&parse(text, 0).value, &LowerOptions::default());
    assert!(lowered.diagnostics.is_empty(), "{:?}", lowered.diagnostics);
    let program = lowered.value;
    assert_eq!(program.templates.len(), 2);
    assert_eq!(program.templates[0].template.named("port"), Some((3, Take::Int)));
    assert_eq!(program.templates[1].source.to_string(), "line");
    assert!(program.slots.iter().all(|slot| program.templates.iter().any(|own| own.serves(&slot.what))));
    assert!(
        program.slots.iter().any(|slot| matches!(&slot.what, What::Tuples { name, .. } if name == "failed"))
    );
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        ("event a(x) = text \"{x} {y}\";", "unknown-placeholder"),
        ("event a(x, y) = text \"{x}\";", "missing-placeholder"),
        ("event a(x: int) = text \"{x:real}\";", "contradictory-types"),
        ("event a(x: string) = text \"{x:int}\";", "contradictory-types"),
        ("event a(x: bool) = text \"{x}\";", "contradictory-types"),
        ("var x: int; event a(x) = text \"{x}\"; property p : a;", "contradictory-types"),
        ("event a(x, y) = text \"{x}{y}\";", "bad-template"),
        ("event a(x) = text \"{x:integer}\";", "bad-template"),
        ("event a(x) = text \"{x:rest} more\";", "bad-template"),
        ("event a = text \"\";", "bad-template"),
        ("event a = text;", "bad-template"),
        ("event a = \"up\";", "bad-template"),
        ("event a(x) = text \"{x\";", "bad-template"),
        ("event a(x) = text \"{x}\"; property p : G (x > 3);", "type-mismatch"),
        ("event a(n: int) = text \"{n}\"; property p : G !a(\"1\");", "type-mismatch"),
        (
            "event a(x) = text \"a {x}\"; event b(x: int) = text \"b {x}\"; property p : a | b;",
            "templates-disagree",
        ),
    ];
    for (text, code) in cases {
        assert_eq!(codes(text), [code], "{text}");
    }
}
