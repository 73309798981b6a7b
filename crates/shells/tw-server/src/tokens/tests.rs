use super::{Right, Rights, Role, Tokens, new_token};
use crate::names;
use std::path::PathBuf;
use std::time::Duration;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tracewise-tokens-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|text| text.to_string()).collect()
}

#[test]
fn rights_are_roles_on_streams() {
    for good in ["read", "write:web", "administer:web-*", "read:*-eu", "write:*"] {
        assert!(Right::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "reads", "read:", "read:a b", "read:*a*", "read:../x", "admin"] {
        assert!(Right::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_pattern_covers_what_it_takes() {
    for (pattern, text, expected) in [
        ("web", "web", true),
        ("web", "web-2", false),
        ("web-*", "web-2", true),
        ("web-*", "web-*", true),
        ("web-*", "web-eu-*", true),
        ("web-*", "web*", false),
        ("web-1", "web-*", false),
        ("a*a", "a", false),
        ("*", "*", true),
    ] {
        assert_eq!(names::matches(pattern, text), expected, "{pattern} {text}");
    }
}

#[test]
fn a_token_is_made_and_its_hash_kept() {
    let folder = folder("made");
    let path = folder.join("tokens.toml");
    let token = new_token(&path, "one", &texts(&["write:web-*, read"])).unwrap();
    let other = new_token(&path, "two", &texts(&["administer:web"])).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(&token) && !text.contains(&token[3..]) && token.len() == 67, "{text}");
    assert!(new_token(&path, "one", &texts(&["read"])).unwrap_err().contains("already"));
    assert!(new_token(&path, "three", &texts(&["reed"])).unwrap_err().contains("reed"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let tokens = Tokens::open(&path).unwrap();
    let of = |token: &str| tokens.holder(token).map(Rights::Of);
    let one = of(&token).unwrap();
    assert!(one.may(Role::Write, "web-2") && !one.may(Role::Write, "web") && one.may(Role::Read, "x"));
    assert!(one.covers(Role::Read, None) && !one.covers(Role::Write, None) && !one.some(Role::Administer));
    let two = of(&other).unwrap();
    assert!(two.covers(Role::Administer, Some(&texts(&["web"]))));
    assert!(!two.covers(Role::Administer, Some(&texts(&["web", "other"]))));
    for wrong in ["", "tw_", &token[..66], &format!("{token}0"), &token.to_uppercase()] {
        assert!(of(wrong).is_none(), "{wrong}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_taken_out_is_over() {
    let folder = folder("over");
    let path = folder.join("tokens.toml");
    let stays = new_token(&path, "stays", &texts(&["read"])).unwrap();
    let goes = new_token(&path, "goes", &texts(&["read"])).unwrap();
    let tokens = Tokens::open(&path).unwrap();
    let (stays, goes) = (tokens.holder(&stays).unwrap(), Rights::Of(tokens.holder(&goes).unwrap()));
    let stays = Rights::Of(stays);
    assert!(tokens.reload().is_none() && !goes.over());
    let text = std::fs::read_to_string(&path).unwrap();
    // What cannot be read changes nothing, and is said once.
    std::fs::write(&path, "[[token]]\nname = 1\n").unwrap();
    assert!(tokens.reload().unwrap().unwrap_err().contains("rights"));
    assert!(tokens.reload().is_none() && !goes.over());
    let cut = text.find("\n[[token]]\nname = \"goes\"").unwrap();
    std::thread::sleep(Duration::from_millis(5));
    std::fs::write(&path, &text[..cut]).unwrap();
    assert_eq!(tokens.reload().unwrap(), Ok(1));
    assert!(goes.over() && !goes.may(Role::Read, "web"));
    assert!(!stays.over() && stays.may(Role::Read, "web"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_none_says_why_and_repeats_no_token() {
    let folder = folder("bad");
    let path = folder.join("tokens.toml");
    for (text, expected) in [
        ("tokens = 1\n", "expected [[token]]"),
        ("[token]\nname = \"a\"\n", "two brackets"),
        ("[[token]]\nname = \"a\"\nrights = [\"read\"]\nhash = \"tw_secret\"\n", "64 hexadecimal digits"),
        ("[[token]]\nname = \"a\"\nrights = \"read\"\nhash = \"00\"\n", "rights: expected a list"),
        ("[[token]]\nname = \"a\"\ntoken = \"tw_secret\"\n", "found the setting `token`"),
        ("[[token]\n", "tokens.toml"),
    ] {
        std::fs::write(&path, text).unwrap();
        let why = Tokens::open(&path).unwrap_err();
        assert!(why.contains(expected) && !why.contains("tw_secret"), "{text}: {why}");
    }
    assert!(Tokens::open(&folder.join("none")).unwrap_err().contains("none"));
    std::fs::remove_dir_all(folder).unwrap();
}
