use super::{GROUPS, Groups, LISTED, pause};
use crate::verdicts::Told;
use crate::webhooks::matching::{Labels, tests::told};
use crate::webhooks::settings::{Settings, read_webhook};
use std::sync::Arc;
use toml::{Table, Value};

fn settings(more: &str) -> Settings {
    let text = format!("name = \"a\"\nurl = \"http://x/\"\n{more}");
    read_webhook(&Value::Table(text.parse::<Table>().expect("TOML"))).expect("a webhook")
}

fn add(groups: &mut Groups, number: u64, property: &str, now: u64) {
    let told = told(number, "web", property);
    let labels = Labels::of(&told);
    groups.add(Arc::new(told), &labels, now);
    groups.next = number + 1;
}

fn nobody(_: &Told) -> bool {
    false
}

#[test]
fn a_group_waits_then_keeps_its_interval() {
    let mut groups =
        Groups::new(&settings("group_wait = \"10s\"\ngroup_interval = \"60s\"\nrepeat = \"1h\""), 0);
    add(&mut groups, 0, "p", 1000);
    add(&mut groups, 1, "p", 5000);
    add(&mut groups, 2, "q", 9000);
    assert!(groups.due(10_999, &nobody).0.is_empty());
    let (due, _) = groups.due(11_000, &nobody);
    assert_eq!(due, [["web", "p"]]);
    assert_eq!(groups.sending(&due[0]).map(|batch| (batch.count, batch.last)), Some((2, 1)));
    groups.taken(&due[0], 11_500);
    assert_eq!(groups.due(19_000, &nobody).0, [["web", "q"]]);
    groups.taken(&["web".into(), "q".into()], 19_000);
    // What comes later waits for the interval, what comes much later does not wait.
    add(&mut groups, 3, "p", 12_000);
    assert!(groups.due(71_499, &nobody).0.is_empty());
    assert_eq!(groups.due(71_500, &nobody).0, [["web", "p"]]);
    groups.taken(&due[0], 71_500);
    add(&mut groups, 4, "p", 500_000);
    assert_eq!(groups.due(500_000, &nobody).0.len(), 1);
    groups.taken(&due[0], 500_000);
    // Nothing new for an hour: it is told again, under another id.
    assert!(groups.due(3_599_999, &nobody).0.is_empty());
    let again = groups.due(4_100_000, &nobody).0;
    assert_eq!(again, [["web", "p"], ["web", "q"]]);
    let batch = groups.sending(&again[0]).expect("on its way");
    assert!(batch.again && batch.count == 1 && batch.listed[0].0 == 4);
}

#[test]
fn what_fails_is_tried_later_and_later() {
    let mut groups = Groups::new(&settings("group_wait = \"0s\""), 0);
    add(&mut groups, 0, "p", 0);
    let due = groups.due(0, &nobody).0;
    let id = groups.id("a", &due[0]);
    assert_eq!(groups.failed(&due[0], 0, None, 0), 1);
    assert!(groups.due(999, &nobody).0.is_empty() && groups.due(1000, &nobody).0.len() == 1);
    // What is found meanwhile goes with the next request: this one stays what it is.
    add(&mut groups, 1, "p", 1000);
    groups.due(1000, &nobody);
    assert_eq!(groups.sending(&due[0]).map(|batch| batch.count), Some(1));
    assert_eq!(groups.id("a", &due[0]), id);
    groups.failed(&due[0], 1000, None, 0);
    assert!(groups.due(2999, &nobody).0.is_empty());
    groups.failed(&due[0], 3000, Some(50_000), 0);
    assert!(groups.due(52_999, &nobody).0.is_empty() && groups.due(53_000, &nobody).0.len() == 1);
    for failures in 0..100 {
        for dice in [0, 12_345, u64::MAX] {
            assert!((750..=300_000).contains(&pause(failures, dice)), "{failures}");
        }
    }
}

#[test]
fn what_is_kept_goes_on() {
    let folder = std::env::temp_dir().join(format!("tracewise-groups-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("a");
    let own = settings("group_wait = \"0s\"");
    let mut groups = Groups::new(&own, 0);
    (0..150).for_each(|number| add(&mut groups, number, "p", 7));
    let due = groups.due(7, &nobody).0;
    add(&mut groups, 150, "p", 8);
    groups.save(&path).expect("kept");
    let mut again = Groups::load(&own, &path).expect("kept").expect("there");
    assert_eq!((again.next, again.figures(), again.first_wanted()), (151, (1, 151), Some(0)));
    assert_eq!(again.wanted().len(), LISTED + 1);
    again.texts(|number| Some(Arc::new(told(number, "web", "p"))));
    assert!(again.wanted().is_empty());
    assert_eq!(again.id("a", &due[0]), groups.id("a", &due[0]));
    assert_eq!(again.due(1000, &nobody).0, due);
    assert_eq!(again.sending(&due[0]).map(|batch| (batch.count, batch.last)), Some((150, 149)));
    // Other groups: all that was not taken is grouped anew.
    let other = settings("group_by = [\"stream\"]");
    let other = Groups::load(&other, &path).expect("kept").expect("there");
    assert_eq!((other.next, other.figures()), (0, (0, 0)));
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn what_is_silenced_meanwhile_is_not_told() {
    let mut groups = Groups::new(&settings("group_wait = \"0s\"\ngroup_by = [\"stream\"]"), 0);
    add(&mut groups, 0, "p", 0);
    add(&mut groups, 1, "q", 0);
    let (due, left_out) = groups.due(0, &|told| &*told.property == "p");
    assert_eq!((due.len(), left_out), (1, 1));
    assert_eq!(groups.sending(&due[0]).map(|batch| (batch.count, batch.listed[0].0)), Some((1, 1)));
    groups.taken(&due[0], 0);
    add(&mut groups, 2, "p", 100_000);
    assert!(groups.due(100_000, &|_| true).0.is_empty());
    assert_eq!(groups.figures().1, 0);
}

#[test]
fn groups_are_bounded() {
    let mut groups = Groups::new(&settings("group_by = [\"bindings.user\"]\nquiet = \"1h\""), 0);
    (0..2 * GROUPS as u64).for_each(|number| add(&mut groups, number, "p", 0));
    assert_eq!(groups.figures(), (GROUPS + 1, 2 * GROUPS as u64));
    let due = groups.due(1 << 20, &nobody).0;
    due.iter().for_each(|key| groups.taken(key, 1 << 20));
    groups.due(1 << 40, &nobody);
    assert_eq!(groups.figures(), (0, 0), "those that are quiet for long are forgotten");
}
