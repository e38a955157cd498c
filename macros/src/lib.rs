//! The `#[intermezzo::test]` attribute.

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ItemFn, Lit, MetaNameValue, Token, parse_macro_input};

/// See `intermezzo::test`.
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    match expand(attribute, function) {
        Ok(expanded) => expanded.into(),
        Err(error) => error.into_compile_error().into(),
    }
}

fn expand(attribute: TokenStream, function: ItemFn) -> syn::Result<proc_macro2::TokenStream> {
    let settings = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse(attribute)?;
    let settings = settings.iter().map(setting).collect::<syn::Result<Vec<_>>>()?;
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    if !sig.inputs.is_empty() {
        return Err(syn::Error::new_spanned(&sig.inputs, "a test takes no arguments"));
    }
    if let Some(asyncness) = &sig.asyncness {
        let message = "an async test: call `intermezzo::future::block_on(async { .. })` inside a plain one";
        return Err(syn::Error::new_spanned(asyncness, message));
    }
    let (name, output) = (&sig.ident, &sig.output);
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            fn body() #output #block
            ::intermezzo::run_test(
                concat!(module_path!(), "::", stringify!(#name)),
                &[#(#settings),*],
                ::intermezzo::Source {
                    package: ::core::option_env!("CARGO_MANIFEST_DIR"),
                    file: ::core::file!(),
                },
                || ::intermezzo::Outcome::check(body()),
            );
        }
    })
}

/// A setting as a pair of strings.
fn setting(given: &MetaNameValue) -> syn::Result<proc_macro2::TokenStream> {
    let name = given.path.require_ident()?.to_string();
    let value = match &given.value {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Float(number) => Some(number.base10_digits().to_owned()),
            Lit::Bool(truth) => Some(truth.value.to_string()),
            _ => None,
        },
        _ => None,
    };
    let Some(value) = value else {
        return Err(syn::Error::new_spanned(
            &given.value,
            "a setting is a number, a text, `true` or `false`",
        ));
    };
    Ok(quote! { (#name, #value) })
}
