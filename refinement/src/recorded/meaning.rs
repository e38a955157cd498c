//! The meaning of recorded operations: their names, arguments and results.
//!
//! An operation that failed did not happen. The exception is a compare-and-set: it happened and did not find the
//! value that it expected.

use crate::history::formats::{Answer, FormatError, Named, Place, Value};
use crate::specs::{counter, key_value, priority_queue, queue, register, set, stack};

/// Returns the meaning of an operation and its result; `None` if it did not happen.
pub(super) type Meaning<C, R> = fn(&Named, Option<&Answer>) -> Result<Option<(C, Option<R>)>, FormatError>;

type Meant<C, R> = Result<Option<(C, Option<R>)>, FormatError>;

fn unknown<T>(named: &Named, expected: &str) -> Result<T, FormatError> {
    Err(FormatError::new(named.called, &named.name, expected))
}

/// Returns the call with its result, if it has one.
fn answered<C, R>(
    named: &Named,
    call: C,
    answer: Option<&Answer>,
    read: impl FnOnce(&Value) -> Result<R, &'static str>,
) -> Meant<C, R> {
    match answer {
        None => Ok(Some((call, None))),
        Some(Answer::Failed) => Ok(None),
        Some(Answer::Ok(value)) => match read(value) {
            Ok(returned) => Ok(Some((call, Some(returned)))),
            Err(expected) => Err(wrong_answer(named, value, expected)),
        },
    }
}

fn wrong_answer(named: &Named, found: &Value, expected: &str) -> FormatError {
    let place: Place = named.returned.unwrap_or(named.called);
    FormatError::because(place, format!("{found} returned by {named}"), expected)
}

/// Returns the one argument of an operation.
fn argument(named: &Named) -> Result<Value, FormatError> {
    if named.value == Value::Nil {
        return Err(FormatError::because(
            named.called,
            named.to_string(),
            "an argument",
        ));
    }
    Ok(named.value.clone())
}

/// Returns the arguments of an operation that takes `N` of them.
fn arguments<const N: usize>(named: &Named) -> Result<[Value; N], FormatError> {
    let all = match (&named.key, &named.value) {
        (Some(key), value) if N == 2 => Some(vec![key.clone(), value.clone()]),
        (None, Value::List(values)) => Some(values.clone()),
        _ => None,
    };
    let all = all.and_then(|values| <[Value; N]>::try_from(values).ok());
    all.ok_or_else(|| FormatError::because(named.called, named.to_string(), format!("{N} arguments")))
}

fn found(value: &Value) -> Option<Value> {
    (*value != Value::Nil).then(|| value.clone())
}

fn boolean(value: &Value) -> Result<bool, &'static str> {
    match value {
        Value::Bool(value) => Ok(*value),
        _ => Err("true or false"),
    }
}

pub(super) fn register(
    named: &Named,
    answer: Option<&Answer>,
) -> Meant<register::Call<Value>, register::Return<Value>> {
    use register::{Call, Return};
    match named.name.as_str() {
        "read" | "get" | "load" => answered(named, Call::Read, answer, |value| {
            Ok(Return::Value(value.clone()))
        }),
        "write" | "put" | "set" | "store" => {
            answered(named, Call::Write(argument(named)?), answer, |_| Ok(Return::Done))
        }
        "cas" | "compare-and-set" | "compare_and_set" => {
            let [expected, new] = arguments(named)?;
            let was = match answer {
                None => None,
                Some(Answer::Failed | Answer::Ok(Value::Bool(false))) => Some(Return::Was(false)),
                Some(Answer::Ok(_)) => Some(Return::Was(true)),
            };
            Ok(Some((Call::CompareAndSet(expected, new), was)))
        }
        _ => unknown(named, "an operation of a register: read, write or cas"),
    }
}

pub(super) fn queue(
    named: &Named,
    answer: Option<&Answer>,
) -> Meant<queue::Call<Value>, queue::Return<Value>> {
    use queue::{Call, Return};
    let front = |value: &Value| Ok(Return::Front(found(value)));
    match named.name.as_str() {
        "enqueue" | "add" | "offer" | "put" => {
            answered(named, Call::Enqueue(argument(named)?), answer, |_| {
                Ok(Return::Done)
            })
        }
        "dequeue" | "remove" | "poll" | "take" => answered(named, Call::Dequeue, answer, front),
        "peek" | "front" => answered(named, Call::Peek, answer, front),
        _ => unknown(
            named,
            "an operation of a queue: enqueue (add), dequeue (remove) or peek",
        ),
    }
}

pub(super) fn stack(
    named: &Named,
    answer: Option<&Answer>,
) -> Meant<stack::Call<Value>, stack::Return<Value>> {
    use stack::{Call, Return};
    let top = |value: &Value| Ok(Return::Top(found(value)));
    match named.name.as_str() {
        "push" | "add" => answered(named, Call::Push(argument(named)?), answer, |_| Ok(Return::Done)),
        "pop" | "remove" => answered(named, Call::Pop, answer, top),
        "top" | "peek" => answered(named, Call::Top, answer, top),
        _ => unknown(named, "an operation of a stack: push (add), pop (remove) or top"),
    }
}

pub(super) fn priority_queue(
    named: &Named,
    answer: Option<&Answer>,
) -> Meant<priority_queue::Call<Value>, priority_queue::Return<Value>> {
    use priority_queue::{Call, Return};
    match named.name.as_str() {
        "insert" | "add" | "push" | "offer" => {
            answered(named, Call::Insert(argument(named)?), answer, |_| {
                Ok(Return::Done)
            })
        }
        "poll" | "remove" | "pop" => answered(named, Call::Poll, answer, |value| {
            Ok(Return::Greatest(found(value)))
        }),
        _ => unknown(
            named,
            "an operation of a priority queue: insert (add) or poll (remove)",
        ),
    }
}

pub(super) fn set(named: &Named, answer: Option<&Answer>) -> Meant<set::Call<Value>, bool> {
    use set::Call;
    let call = match named.name.as_str() {
        "insert" | "add" => Call::Insert(argument(named)?),
        "remove" | "delete" => Call::Remove(argument(named)?),
        "contains" | "member" => Call::Contains(argument(named)?),
        _ => return unknown(named, "an operation of a set: insert (add), remove or contains"),
    };
    answered(named, call, answer, boolean)
}

pub(super) fn counter(named: &Named, answer: Option<&Answer>) -> Meant<counter::Call, u64> {
    use counter::Call;
    let whole = |value: &Value| match value {
        Value::Int(value) => u64::try_from(*value).ok(),
        _ => None,
    };
    let before = |value: &Value| whole(value).ok_or("the number before, which is 0 or more");
    match named.name.as_str() {
        "fetch_add" | "fetch-add" | "fetchAdd" => {
            let Some(amount) = whole(&named.value) else {
                return Err(FormatError::because(
                    named.called,
                    named.to_string(),
                    "a number to add, 0 or more",
                ));
            };
            answered(named, Call::FetchAdd(amount), answer, before)
        }
        "get" | "read" | "load" => answered(named, Call::Get, answer, before),
        _ => unknown(named, "an operation of a counter: fetch_add or get"),
    }
}

pub(super) fn key_value(
    named: &Named,
    answer: Option<&Answer>,
) -> Meant<key_value::Call<Value>, key_value::Return> {
    use key_value::{Call, Return};
    let text = |value: &Value| match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Nil => Ok(String::new()),
        Value::Int(number) => Ok(number.to_string()),
        _ => Err("a text"),
    };
    let written = || -> Result<(Value, String), FormatError> {
        let [key, value] = arguments(named)?;
        match text(&value) {
            Ok(text) => Ok((key, text)),
            Err(expected) => Err(FormatError::because(named.called, named.to_string(), expected)),
        }
    };
    match named.name.as_str() {
        "get" | "read" => {
            // Some files write the key as `[key nil]`.
            let key = match (&named.key, &named.value) {
                (Some(key), _) => key.clone(),
                (None, Value::List(values)) if values.len() == 2 => values[0].clone(),
                (None, _) => argument(named)?,
            };
            answered(named, Call::Get(key), answer, |value| {
                text(value).map(Return::Text)
            })
        }
        "put" | "write" | "set" => {
            let (key, text) = written()?;
            answered(named, Call::Put(key, text), answer, |_| Ok(Return::Done))
        }
        "append" => {
            let (key, text) = written()?;
            answered(named, Call::Append(key, text), answer, |_| Ok(Return::Done))
        }
        _ => unknown(named, "an operation of a map: get, put or append"),
    }
}
