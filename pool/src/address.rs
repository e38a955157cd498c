//! The address of a pool: `nats://host:4222/stream`, and the credentials, which are those of the `nats` command.

use crate::PoolError;
use async_nats::{ConnectOptions, ServerAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::{env, fmt, fs, str};

/// The longest name of a stream. Names of buckets contain it.
const NAME_MAX: usize = 48;

/// The address of a pool: the servers, and the name of the stream.
///
/// ```
/// use intermezzo_pool::Address;
///
/// let address: Address = "nats://me:secret@host:4222/queue".parse().unwrap();
/// assert_eq!((address.stream(), address.to_string()), ("queue", "nats://host:4222/queue".to_owned()));
/// assert!("nats://host:4222".parse::<Address>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    servers: Vec<ServerAddr>,
    stream: String,
}

impl Address {
    /// Returns the name of the stream.
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Returns the user and the password in the address; a user without one is a token, as NATS has it.
    fn credentials(&self) -> Option<(String, Option<String>)> {
        let server = self.servers.iter().find(|server| server.has_user_pass())?;
        let user = decoded(server.username()?);
        Some((user, server.password().map(decoded)))
    }

    pub(crate) fn servers(&self) -> &[ServerAddr] {
        &self.servers
    }
}

/// Without user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, server) in self.servers.iter().enumerate() {
            match at {
                0 => write!(f, "{}://", server.scheme())?,
                _ => f.write_str(",")?,
            }
            let is_v6 = server.host().contains(':');
            let (open, close) = if is_v6 { ("[", "]") } else { ("", "") };
            write!(f, "{open}{}{close}:{}", server.host(), server.port())?;
        }
        write!(f, "/{}", self.stream)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let how = "give it as nats://host:4222/stream, or tls://host:4222/stream";
        let (scheme, rest) = text
            .split_once("://")
            .filter(|(scheme, _)| ["nats", "tls"].contains(scheme))
            .ok_or_else(|| format!("this is not the address of a pool: {how}"))?;
        let (servers, stream) = rest
            .rsplit_once('/')
            .ok_or_else(|| format!("the address names no stream: {how}"))?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if stream.is_empty() || stream.len() > NAME_MAX || !stream.chars().all(is_plain) {
            return Err(format!(
                "{stream:?} is not the name of a stream: give at most {NAME_MAX} letters, digits, `-` and `_`"
            ));
        }
        let server = |server: &str| {
            let parsed: Result<ServerAddr, _> = format!("{scheme}://{server}").parse();
            match parsed {
                Ok(server) if !server.host().is_empty() => Ok(server),
                _ => Err(format!("the address of a server is malformed: {how}")),
            }
        };
        Ok(Address {
            servers: servers.split(',').map(server).collect::<Result<_, _>>()?,
            stream: stream.to_owned(),
        })
    }
}

/// Returns the text in a part of an address, where `%40` is an `@`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the options of a connection, with the credentials in the address and those that the environment names:
/// `NATS_USER` and `NATS_PASSWORD`, `NATS_TOKEN`, `NATS_NKEY` and `NATS_CREDS` (files), `NATS_CA`, `NATS_CERT` and
/// `NATS_KEY` (files).
///
/// # Errors
/// If a file that is named cannot be read.
pub(crate) fn options(address: &Address) -> Result<ConnectOptions, PoolError> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let read = |name: &str, path: String| {
        fs::read_to_string(&path).map_err(|error| {
            PoolError::new(format!(
                "cannot read {path} ({error}): set {name} to another file"
            ))
        })
    };
    let mut options = ConnectOptions::new().name("intermezzo");
    match address.credentials() {
        Some((user, Some(password))) => options = options.user_and_password(user, password),
        Some((token, None)) => options = options.token(token),
        None => {}
    }
    if let Some(user) = variable("NATS_USER") {
        options = options.user_and_password(user, variable("NATS_PASSWORD").unwrap_or_default());
    }
    if let Some(token) = variable("NATS_TOKEN") {
        options = options.token(token);
    }
    if let Some(path) = variable("NATS_NKEY") {
        options = options.nkey(read("NATS_NKEY", path)?.trim().to_owned());
    }
    if let Some(path) = variable("NATS_CREDS") {
        let text = read("NATS_CREDS", path)?;
        options = options.credentials(&text).map_err(|error| {
            PoolError::new(format!(
                "the file that NATS_CREDS names has no credentials ({error})"
            ))
        })?;
    }
    if let Some(path) = variable("NATS_CA") {
        options = options.add_root_certificates(PathBuf::from(path));
    }
    if let (Some(certificate), Some(key)) = (variable("NATS_CERT"), variable("NATS_KEY")) {
        options = options.add_client_certificate(certificate.into(), key.into());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_in_the_address() {
        let of = |text: &str| text.parse::<Address>().unwrap().credentials();
        assert_eq!(of("nats://host/a"), None);
        assert_eq!(of("nats://tok%2fen@host/a"), Some(("tok/en".into(), None)));
        assert_eq!(
            of("nats://me:a%40b%@host/a"),
            Some(("me".into(), Some("a@b%".into())))
        );
    }

    #[test]
    fn addresses_name_servers_and_a_stream() {
        for (text, shown) in [
            ("nats://host/a", "nats://host:4222/a"),
            ("tls://u:p@host:4443/a-b", "tls://host:4443/a-b"),
            ("nats://a:1,b:2/x_1", "nats://a:1,b:2/x_1"),
            ("nats://[::1]:5/x", "nats://[::1]:5/x"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
        }
        for (text, says) in [
            ("", "not the address"),
            ("http://host/a", "not the address"),
            ("nats://host", "names no stream"),
            ("nats://host/", "not the name of a stream"),
            ("nats://host/a.b", "not the name of a stream"),
            ("nats:///a", "malformed"),
            ("nats://h:x/a", "malformed"),
        ] {
            let problem = text.parse::<Address>().unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }
}
