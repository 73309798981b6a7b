//! Spin reads what is written, and agrees with what the figure says.

use super::super::testing;
use super::*;
use std::process::Command;

fn written(model: &Model) -> String {
    let mut out = Vec::new();
    write(model, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_figure_is_a_process() {
    let mut figure = testing::figure();
    figure.variables.push(crate::Variable {
        name: "end".to_owned(),
        domain: Domain::Boolean,
        cells: Cells::Of(0, vec![0, 1].into()),
    });
    let expected = "/* The first step chooses an initial state: a formula f is !begun U (begun && (f)). */
#define begun (at >= 0)
int at = -1;
int state = 0;
int time = 0;
#define state_s1 (state == 0) /* state = \"s1\" */
#define state_s2 (state == 1) /* state = \"s2\" */
#define end_ (state == 1) /* end = true */

active proctype traces()
{
end:
  do
  :: d_step { at == -1 -> at = 0; state = 0; time = 1 }
  :: d_step { at == -1 -> at = 1; state = 1; time = 1 }
  :: d_step { at == 0 -> at = 2; state = 0; time = 2 }
";
    let text = written(&figure);
    assert!(text.starts_with(expected), "{text}");
    figure.initial = vec![4];
    let text = written(&figure);
    assert!(text.starts_with("int at = 4;\nint state = 0;\nint time = 3;\n"), "{text}");
    figure.initial.clear();
    assert!(write(&figure, &mut Vec::new()).is_err());
}

#[test]
fn a_wide_range_has_macros_for_what_occurs() {
    let mut figure = testing::figure();
    // Beyond the integers of Promela, so that values go by their places.
    figure.variables[1].domain = Domain::Range(1, i64::from(u32::MAX) + 1);
    let cells = Cells::Of(0, vec![7, u32::MAX].into());
    figure.variables.push(crate::Variable {
        name: "far".to_owned(),
        domain: Domain::Range(0, i64::from(u32::MAX)),
        cells,
    });
    let text = written(&figure);
    let macros: Vec<&str> = text.lines().filter(|line| line.starts_with("#define ")).skip(3).collect();
    let expected = [
        "#define time__1 (time == 0) /* time = 1 */",
        "#define time__2 (time == 1) /* time = 2 */",
        "#define time__3 (time == 2) /* time = 3 */",
        "#define far__7 (state == 0) /* far = 7 */",
        "#define far__4294967295 (state == 1) /* far = 4294967295 */",
    ];
    assert_eq!(macros, expected);
}

/// What Spin says of formulas on a model; `None` if it is not installed.
fn spin(name: &str, text: &str) -> Option<bool> {
    let folder = std::env::temp_dir().join(format!("tracewise-promela-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(&folder).output().ok()?;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Some((output.status.success(), said))
    };
    std::fs::write(folder.join("m.pml"), text).ok()?;
    let verdict = run("spin", &["-a", "m.pml"]).and_then(|(done, said)| {
        assert!(done, "{said}\n{text}");
        let (done, said) = run("gcc", &["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"])?;
        assert!(done, "{said}\n{text}");
        let program = folder.join("pan");
        let (_, said) = run(program.to_str()?, &["-a"])?;
        assert!(said.contains("errors:"), "{said}");
        Some(said.contains("errors: 0"))
    });
    let _ = std::fs::remove_dir_all(&folder);
    verdict
}

#[test]
fn spin_agrees_on_the_figure() {
    let text = written(&testing::figure());
    // From the paper's table: with instants kept, every path comes to s1, and not every one to s2.
    for (name, formula, holds) in [
        ("af-s1", "!begun U (begun && <> state_s1)", true),
        ("af-s2", "!begun U (begun && <> state_s2)", false),
        ("stays", "!begun U (begun && <> [] (state_s1 && time == 3))", true),
    ] {
        match spin(name, &format!("{text}ltl p {{ {formula} }}\n")) {
            Some(verdict) => assert_eq!(verdict, holds, "{formula}"),
            None => {
                return eprintln!("Spin or a C compiler is not installed; the test that asks it is left out");
            }
        }
    }
    // Awkward names make legal programs.
    let mut figure = testing::figure();
    let values = testing::awkward();
    figure.graph =
        crate::Graph::from_edges(values.len(), (0..values.len() as State).map(|state| (state, state)));
    figure.initial = vec![0];
    figure.variables[0].cells = Cells::Own((0..values.len() as u32).collect());
    figure.variables[0].domain = Domain::Values(values);
    figure.variables[0].name = "do \"x\"".to_owned();
    figure.variables.truncate(1);
    let text = written(&figure);
    assert!(text.contains("int do__x_"), "{text}");
    assert_eq!(spin("names", &format!("{text}ltl p {{ [] do__x__a_b }}\n")), Some(true));
}
