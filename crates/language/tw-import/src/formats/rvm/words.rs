//! What a file says in words: the comment before a monitor, and what handlers print.

use super::Reading;
use super::document::Spec;
use super::tokens::{Kind, Token, Tokens};
use tw_diag::{Diagnostic, Span};
use tw_ir::monitor::Severity;
use tw_spec::ast::monitor::Text;

/// White space as one blank, and at most so many characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(&plain.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// At most so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The first sentence of the comment before a monitor, and the `@severity` in it.
pub(super) fn about(
    reading: &mut Reading<'_>,
    tokens: &Tokens<'_>,
    spec: &Spec,
) -> (Option<String>, Option<Severity>) {
    let Some(doc) = spec.doc else { return (None, None) };
    let text = tokens.slice(doc);
    let lines = text[3..text.len() - 2].lines().map(|line| line.trim().trim_start_matches('*').trim());
    let (mut sentence, mut open, mut severity) = (String::new(), true, None);
    for line in lines {
        if let Some(word) = line.strip_prefix("@severity") {
            let word = word.trim();
            let known = Severity::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
            if known.is_none() {
                let message = format!("found the severity `{}`", one_line(word, 40));
                let found = Diagnostic::warning("import-left-out", message).at(doc, "in this comment");
                reading
                    .report(found.help("expected `error`, `warning` or `suggestion`; it is an error here"));
            }
            severity = known.map(|(_, severity)| *severity);
        }
        open &= !(line.starts_with('@') || line.is_empty() && !sentence.is_empty());
        if open {
            sentence.push_str(line);
            sentence.push(' ');
        }
    }
    let end = sentence.find(". ").unwrap_or(sentence.len());
    let sentence = one_line(&sentence[..end], 200);
    let sentence = sentence.trim_end_matches('.');
    ((!sentence.is_empty()).then(|| sentence.to_owned()), severity)
}

/// What a body prints: its texts, with the parameters of the monitor that are put between them.
pub(super) fn text(tokens: &Tokens<'_>, body: Span, spec: &Spec, span: Span) -> Option<Text> {
    let inside: Vec<&Token> = tokens.within(body).iter().filter(|token| token.kind != Kind::Doc).collect();
    let is = |at: usize, c: char| inside.get(at).is_some_and(|token| token.kind == Kind::Char(c));
    let mut sentences: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(token) = inside.get(at) {
        let summand =
            at > 0 && is(at - 1, '+') && !(at > 1 && is(at - 2, '+')) || is(at + 1, '+') && !is(at + 2, '+');
        let word = tokens.slice(token.span);
        let other = |text: &mut String| {
            // What the program computes.
            if !text.ends_with('…') {
                text.push('…');
            }
        };
        match token.kind {
            Kind::Char(';') => sentences.push(std::mem::take(&mut text)),
            Kind::Text if word.starts_with('"') => text.push_str(&literal(word)),
            Kind::Word
                if summand && spec.parameters.iter().any(|own| own.name == word) && !is(at + 1, '.') =>
            {
                text.push_str(&format!("{{{word}}}"));
            }
            Kind::Word if summand && at > 0 && is(at - 1, '+') => {
                other(&mut text);
                // `a.b(c)` is one.
                while is(at + 1, '.') || is(at + 1, '(') {
                    at = if is(at + 1, '.') { at + 2 } else { closing(&inside, at + 1) };
                }
            }
            Kind::Char('(') if summand && at > 0 && is(at - 1, '+') => {
                other(&mut text);
                while is(at, '(') || is(at + 1, '(') {
                    at = closing(&inside, if is(at, '(') { at } else { at + 1 });
                }
            }
            _ => {}
        }
        at += 1;
    }
    sentences.push(text);
    let sentences = sentences.iter().filter(|text| text.contains(|c: char| c.is_alphanumeric()));
    let joined = sentences.map(|text| text.trim()).collect::<Vec<_>>().join(" ");
    // Where a text is cut, no parameter may be.
    let whole = one_line(&joined, usize::MAX);
    let text =
        if whole.chars().count() > 300 { one_line(&joined.replace(['{', '}'], ""), 300) } else { whole };
    (!text.is_empty()).then_some(Text { text, span })
}

/// The place of the `)` of a `(`.
fn closing(tokens: &[&Token], open: usize) -> usize {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Char('(') => depth += 1,
            Kind::Char(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// The text of a literal, braces doubled: alone they are for parameters.
fn literal(quoted: &str) -> String {
    let mut text = String::new();
    let mut escaped = false;
    for c in quoted[1..quoted.len() - 1].chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            'n' | 't' | 'r' if escaped => text.push(' '),
            '{' | '}' => text.extend([c, c]),
            c => text.push(c),
        }
        escaped = false;
    }
    text
}
