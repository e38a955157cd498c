//! The operations of an object under test, with their types taken away.

use crate::arguments::{Arguments, Source};
use crate::literal::literal;
use crate::{result, said};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value that an operation is called with.
#[derive(Clone)]
pub struct Argument {
    value: Arc<dyn Any + Send + Sync>,
    text: Arc<str>,
    type_name: &'static str,
}

impl Argument {
    pub(crate) fn new<V: Any + fmt::Debug + Send + Sync>(value: V) -> Argument {
        let text = match (&value as &dyn Any).is::<()>() {
            true => "".into(),
            false => format!("{value:?}").into(),
        };
        Argument {
            value: Arc::new(value),
            text,
            type_name: std::any::type_name::<V>(),
        }
    }

    /// Returns the value as text; nothing for no argument.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value as source code, as far as that can be determined.
    pub(crate) fn literal(&self) -> String {
        literal(&self.text, self.type_name)
    }

    pub(crate) fn value<V: Any>(&self) -> &V {
        self.value
            .downcast_ref()
            .expect("an operation's arguments are of its own type")
    }
}

impl fmt::Debug for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Argument {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Argument {}

/// Performs an operation on an object, and writes its result down.
type Run<T> = Box<dyn Fn(&T, &Argument, &mut String) + Send + Sync>;

/// Returns arguments that are simpler.
type Simpler = Box<dyn Fn(&Argument) -> Vec<Argument> + Send + Sync>;

/// An operation of objects of type `T`.
pub(crate) struct Operation<T> {
    pub(crate) name: String,
    /// The type of its arguments.
    takes: std::any::TypeId,
    draw: Box<dyn Fn(&mut Source) -> Argument + Send + Sync>,
    simpler: Simpler,
    run: Run<T>,
    /// The name of its group, if one task alone performs that group's operations.
    pub(crate) exclusive: Option<String>,
    /// `true` if it may take effect after it has returned.
    pub(crate) late: bool,
}

impl<T> Operation<T> {
    pub(crate) fn new<A: Arguments, R: fmt::Debug>(
        name: &str,
        arguments: A,
        run: impl Fn(&T, A::Value) -> R + Send + Sync + 'static,
    ) -> Operation<T> {
        let arguments = Arc::new(arguments);
        let shrinking = Arc::clone(&arguments);
        Operation {
            name: name.to_owned(),
            takes: std::any::TypeId::of::<A::Value>(),
            draw: Box::new(move |source| Argument::new(arguments.draw(source))),
            simpler: Box::new(move |argument| {
                let simpler = shrinking.simpler(argument.value::<A::Value>());
                simpler.into_iter().map(Argument::new).collect()
            }),
            run: Box::new(move |object, argument, text| {
                said::listening(
                    || run(object, argument.value::<A::Value>().clone()),
                    |returned, said| {
                        result::append(text, &returned);
                        text.push_str(said);
                    },
                );
            }),
            exclusive: None,
            late: false,
        }
    }

    /// `true` if its arguments are of this type.
    pub(crate) fn takes<V: 'static>(&self) -> bool {
        self.takes == std::any::TypeId::of::<V>()
    }

    pub(crate) fn draw(&self, source: &mut Source) -> Argument {
        (self.draw)(source)
    }

    pub(crate) fn simpler(&self, argument: &Argument) -> Vec<Argument> {
        (self.simpler)(argument)
    }

    /// Performs it, and appends its result to `text`.
    pub(crate) fn run(&self, object: &T, argument: &Argument, text: &mut String) {
        (self.run)(object, argument, text);
    }
}
