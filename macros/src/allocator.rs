//! `#[global_allocator]` of a program that is tested unmodified.

use super::{group, is_punct, tokens};
use proc_macro::{Delimiter, TokenStream, TokenTree};

/// The attribute of std.
const OF_STD: &str = "#[::core::__std::prelude::v1::global_allocator]";

/// Returns the static without the attribute, and a global allocator that calls it. If it is no static with a type, returns
/// it with std's attribute, so that the compiler explains the error.
pub(super) fn called_by_ours(item: TokenStream) -> TokenStream {
    match ours(&item) {
        Some(ours) => [item, ours].into_iter().collect(),
        None => [tokens(OF_STD), item].into_iter().collect(),
    }
}

fn ours(item: &TokenStream) -> Option<TokenStream> {
    let mut left = item.clone().into_iter();
    left.find(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "static"))?;
    let name = match left.next()? {
        TokenTree::Ident(name) => name,
        _ => return None,
    };
    left.next().filter(|token| is_punct(token, ':'))?;
    let mut depth = 0;
    let of_type = left.take_while(|token| {
        if is_punct(token, '<') {
            depth += 1;
        } else if is_punct(token, '>') {
            depth -= 1;
        }
        depth > 0 || !is_punct(token, '=')
    });
    let ours = "::core::__intermezzo::unmodified::OfProgram";
    let parts = [
        tokens(&format!("{OF_STD} static __INTERMEZZO_CALLS_IT: {ours}<")),
        of_type.collect(),
        tokens(&format!("> = {ours}")),
        group(
            Delimiter::Parenthesis,
            [tokens("&"), TokenTree::from(name).into()].into_iter().collect(),
        ),
        tokens(";"),
    ];
    Some(parts.into_iter().collect())
}
