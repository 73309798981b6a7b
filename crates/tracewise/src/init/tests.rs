use super::*;

fn draft(format: &str, trace: &str) -> String {
    let read = Reading { format: Some(format.into()), ..Reading::default() };
    let session = Session::new().reading(read).text("log", trace.as_bytes().to_vec());
    let draft = session.init(&["log".into()]).unwrap();
    // What is written is read again, and holds.
    let spec = Specification::from_text("draft.tw", &draft.text)
        .unwrap_or_else(|error| panic!("{}{error}", draft.text));
    assert!(spec.warnings.is_empty(), "{}", draft.text);
    if draft.properties > 0 {
        let read = Reading { time: spec.settings.time.clone(), ..session.read.clone() };
        let options = CheckOptions { by: spec.settings.by.clone(), ..CheckOptions::default() };
        let report = session.clone().reading(read).check(&spec, &["log".into()], &options).unwrap();
        assert!(report.warnings.is_empty(), "{:?}\n{}", report.warnings, draft.text);
        assert!(
            report.properties.iter().all(|property| property.verdict == Verdict::Satisfied),
            "{}",
            draft.text
        );
        assert_eq!(report.properties.len(), draft.properties);
    }
    draft.text
}

#[test]
fn events_with_a_key() {
    let mut trace = String::new();
    for order in 0..6 {
        for (step, event) in ["placed", "paid", "sent"].iter().enumerate() {
            let time = order * 10 + step as i64;
            trace.push_str(&format!("{{\"@timestamp\": {time}, \"event\": \"{event}\", \"order_id\": \"o{order}\", \"total\": {}}}\n", order * 5 + 7));
        }
    }
    let text = draft("jsonl", &trace);
    assert!(text.contains("time: \"@timestamp\"") && text.contains("by: \"order_id\""), "{text}");
    assert!(text.contains("_then_") && text.contains("_before_"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("property")).count(), 3, "{text}");
    assert!(text.contains("var total: int;"), "{text}");
}

#[test]
fn signals_states_and_odd_names() {
    let text = draft("csv", "time,speed,Mode X,G\n0,1.5,on,1\n1,2.5,off,2\n2,0.5,on,3\n");
    assert!(
        text.contains("G (speed >= 0.5 & speed <= 2.5)") && text.contains("`Mode X` in {\"on\", \"off\"}"),
        "{text}"
    );
    let text = draft("props", "a\nb\na b\n");
    assert!(text.contains("property"), "{text}");
    draft("csv", "x\n1\n");
    draft("csv", "\"a\"\"b\",c\n\"x\"\"y\",\\n\n\"x\",z\n");
}
