//! The grammar of Tracewise specifications, for the tree-sitter library.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_tracewise() -> *const ();
}

/// The language.
// SAFETY: the function is the one that the generated parser defines, and it returns a language.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_tracewise) };

/// What is coloured, and how.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
