//! Rules, weights, stores and formulas that `classify` cannot use.

use super::{Case, bad};

pub fn cases() -> Vec<Case> {
    let letters =
        |name, command: &str| bad(name, format!("classify {command} t.props")).file("t.props", "a\nb\n");
    vec![
        letters("classify-unknown-rule", "-e 'G a' --rules fail-fast,polarty"),
        letters("classify-truncate-zero", "-e 'G a' --rules truncate=0"),
        letters("classify-truncate-no-number", "-e 'G a' --rules truncate=many"),
        letters("classify-no-rules", "-e 'G a' --rules ''"),
        letters("classify-none-and-more", "-e 'G a' --rules none,polarity"),
        letters("classify-weight-of-nothing", "-e 'G a' --weight b=2"),
        letters("classify-weight-no-number", "-e 'G a' --weight a=heavy"),
        letters("classify-weight-negative", "-e 'G a' --weight a=-1"),
        letters("classify-picture-of-no-kind", "-e 'G a' --draw classes.txt"),
        letters("classify-unparsable", "-e 'G (a ->'"),
        letters("classify-quantifier-without-path", "-e 'G forall x. a(x) -> F b(x)'"),
        letters("classify-dense", "-e 'G a' --clock dense"),
        letters("classify-store-in-no-folder", "-e 'G a' --store nowhere/classes.db"),
        letters("classify-store-is-a-text", "-e 'G a' --store classes.db").file(
            "classes.db",
            "This is a text and no database, however long one reads it, to the very end.\n",
        ),
        letters("classify-store-is-a-folder", "-e 'G a' --store ."),
        bad("classify-query", "classify q.tw t.props")
            .file("q.tw", "query q : count[a];\n")
            .file("t.props", "a\n"),
        bad("classify-no-positions", "classify -e 'a & F a' t.props").file("t.props", ""),
        bad("classify-by-nothing", "classify -e 'G a' --by id t.csv").file("t.csv", "a,id\n1,\n"),
    ]
}
