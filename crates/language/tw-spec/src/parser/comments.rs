//! Which declaration a comment belongs to.

use super::Parser;
use crate::ast::Comment;

impl Parser<'_> {
    /// Takes the comments that stand before the token with this index, as far as nobody has them yet.
    pub(super) fn comments_before(&mut self, token: usize) -> Vec<Comment> {
        self.comments_until(token, usize::MAX)
    }

    /// As [`Self::comments_before`]; from the token `inside` on, they stand inside a declaration, where blank
    /// lines mean nothing.
    fn comments_until(&mut self, token: usize, inside: usize) -> Vec<Comment> {
        let mut comments = Vec::new();
        while let Some(comment) =
            self.comments.get(self.comments_used).filter(|comment| comment.before <= token)
        {
            let (start, end, before) = (comment.start, comment.end, comment.before);
            let blank_before = before <= inside && self.newlines(self.end_before(before), start) > 1;
            comments.push(Comment { text: self.comment_text(start, end), same_line: false, blank_before });
            self.comments_used += 1;
        }
        comments
    }

    /// The comments before a declaration, or a line of a block, whose first token is the current one, and whether a blank
    /// line stands before that.
    pub(super) fn comments_ahead(&mut self) -> (Vec<Comment>, bool) {
        let first = self.at;
        let comments = self.comments_until(first, first);
        (comments, self.newlines(self.end_before(first), self.tokens[first].start) > 1)
    }

    /// The comments inside what began at token `first` and ends before the current one, and the one on the line of its
    /// end.
    pub(super) fn comments_inside(&mut self, first: usize) -> (Vec<Comment>, Option<Comment>) {
        let last = self.at.saturating_sub(1).max(first);
        let comments = self.comments_until(last, first);
        let end = self.tokens[last].end;
        let trailing = self
            .comments
            .get(self.comments_used)
            .filter(|comment| comment.before == last + 1)
            .copied()
            .filter(|comment| self.newlines(end, comment.start) == 0);
        let trailing = trailing.map(|comment| {
            self.comments_used += 1;
            let text = self.comment_text(comment.start, comment.end);
            Comment { text, same_line: true, blank_before: false }
        });
        (comments, trailing)
    }

    /// Where the token or comment ends that precedes token `index`; comments taken already count.
    fn end_before(&self, index: usize) -> u32 {
        let token = index.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let comment = self.comments_used.checked_sub(1).map_or(0, |before| self.comments[before].end);
        token.max(comment)
    }

    fn newlines(&self, start: u32, end: u32) -> usize {
        self.text.get(start as usize..end as usize).unwrap_or("").matches('\n').count()
    }

    fn comment_text(&self, start: u32, end: u32) -> String {
        // Line ends become plain ones, and none keeps white space before it: printing is then stable.
        let text = self.text.get(start as usize..end as usize).unwrap_or("");
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}
