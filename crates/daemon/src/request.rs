//! What clients send: bytes into a challenge, or a line into a question.
//!
//! Nothing here knows a socket: each function is one of bytes, for the fuzzer too.

use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::{self, Display};
use tetralith_vdf::eval::MAX_ITERATIONS;
use tetralith_vdf::{Error, Modulus, Prover, Residue, System, parse_hex};

/// The longest request: a modulus and an input of 8192 bits in hex are 4 KiB.
pub const MAX_REQUEST: usize = 1 << 14;

/// What is wrong with a request.
#[derive(Debug)]
pub enum Fault {
    /// Its form: a code and a message.
    Form(&'static str, String),
    /// Its numbers.
    Vdf(Error),
}

impl Fault {
    fn form<T>(code: &'static str, message: impl Display) -> Result<T, Fault> {
        Err(Fault::Form(code, message.to_string()))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Vdf(error)
    }
}

/// Reads an object, in which no key is twice, of at most [`MAX_REQUEST`] bytes.
///
/// # Errors
/// What is wrong with it.
pub fn object(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.len() > MAX_REQUEST {
        return Fault::form(
            "request.too_long",
            format!("a request is at most {MAX_REQUEST} bytes"),
        );
    }
    match serde_json::from_slice(bytes) {
        Ok(Once(value @ Value::Object(_))) => Ok(value),
        Ok(_) => Fault::form("request.json", "a request is a JSON object"),
        // It is JSON, of which only `Once` refuses anything.
        Err(error) if error.is_data() => Fault::form("request.doubled", error),
        Err(error) => Fault::form("request.json", format!("this is no JSON: {error}")),
    }
}

/// JSON in which no object has a key twice: which of the two was meant, nobody can tell.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Once, D::Error> {
        from.deserialize_any(OnceVisitor).map(Once)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Once(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if values.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is given twice")));
            }
            let Once(value) = object.next_value()?;
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

/// A line of a socket, as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    submit: Option<Value>,
    status: Option<String>,
    watch: Option<String>,
    proof: Option<String>,
    cancel: Option<String>,
    #[serde(default)]
    token: String,
}

/// A line of a socket: a question, and the token that allows it where one is needed.
#[derive(Debug)]
pub struct Line {
    /// What is asked.
    pub ask: Ask,
    /// The token; empty where none was sent.
    pub token: String,
}

/// What a line asks; the text is a challenge's identifier.
#[derive(Debug)]
pub enum Ask {
    /// To take this challenge.
    Submit(Value),
    /// Where a challenge stands.
    Status(String),
    /// To be told of each change until the challenge has ended.
    Watch(String),
    /// The proof.
    Proof(String),
    /// To forget a challenge, and to stop it where it runs.
    Cancel(String),
}

impl Ask {
    /// What kind of request it is, for the log: never the text that a client sent.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Ask::Submit(_) => "submit",
            Ask::Status(_) => "status",
            Ask::Watch(_) => "watch",
            Ask::Proof(_) => "proof",
            Ask::Cancel(_) => "cancel",
        }
    }
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// It is too long, no JSON object, or not one of the questions.
    pub fn parse(bytes: &[u8]) -> Result<Line, Fault> {
        let fields: Fields = serde_json::from_value(object(bytes)?)
            .or_else(|error| Fault::form("request.malformed", error))?;
        let Fields { submit, status, watch, proof, cancel, token } = fields;
        let ask = match (submit, status, watch, proof, cancel) {
            (Some(challenge), None, None, None, None) => Ask::Submit(challenge),
            (None, Some(id), None, None, None) => Ask::Status(id),
            (None, None, Some(id), None, None) => Ask::Watch(id),
            (None, None, None, Some(id), None) => Ask::Proof(id),
            (None, None, None, None, Some(id)) => Ask::Cancel(id),
            _ => {
                return Fault::form(
                    "request.malformed",
                    "a line holds one of submit, status, watch, proof and cancel",
                );
            }
        };
        Ok(Line { ask, token })
    }
}

/// A challenge, as it is sent.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(default = "rsa2048")]
    modulus: String,
    /// Text that is hashed to the input.
    seed: Option<String>,
    /// A raw input in hex.
    x: Option<String>,
    t: Option<u8>,
    iterations: Option<u64>,
    #[serde(default)]
    proof: Kind,
}

fn rsa2048() -> String {
    "rsa2048".into()
}

/// The proof that is asked for.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// y alone.
    None,
    /// Wesolowski's proof.
    #[default]
    Wesolowski,
    /// Wesolowski's proof in segments, made meanwhile.
    NWesolowski,
    /// Pietrzak's proof.
    Pietrzak,
}

impl Kind {
    /// The proof system; none where no proof is wanted.
    #[must_use]
    pub fn system(self) -> Option<System> {
        match self {
            Kind::None => None,
            Kind::Wesolowski => Some(System::Wesolowski),
            Kind::NWesolowski => Some(System::Segmented),
            Kind::Pietrzak => Some(System::Pietrzak),
        }
    }
}

/// What is to be computed: numbers, not text.
#[derive(Clone, Debug)]
pub struct Task {
    /// N.
    pub modulus: Modulus,
    /// The input.
    pub x: Residue,
    /// Whether x was not below N.
    pub reduced: bool,
    /// T, the number of squarings.
    pub iterations: u64,
    /// What is proved.
    pub proof: Kind,
}

impl Task {
    /// Reads a challenge of at most `most` squarings.
    ///
    /// # Errors
    /// Its form is wrong, it is longer, its modulus cannot be used, or everyone can skip its delay.
    pub fn parse(value: Value, most: u64) -> Result<Task, Fault> {
        let asked: Asked = serde_json::from_value(value)
            .or_else(|error| Fault::form("challenge.malformed", error))?;
        let iterations = match (asked.t, asked.iterations) {
            (Some(t), None) if t <= 63 => 1 << t,
            (None, Some(iterations)) => iterations,
            _ => {
                let message = "give t, at most 63, or iterations, and not both";
                return Fault::form("challenge.iterations", message);
            }
        };
        let most = most.min(MAX_ITERATIONS);
        if iterations > most {
            let message = format!("{iterations} squarings are more than this daemon's {most}");
            return Fault::form("challenge.too_long", message);
        }
        let modulus = Modulus::parse(asked.modulus.trim())?;
        let (x, reduced) = match (asked.seed, asked.x) {
            (Some(seed), None) if !seed.is_empty() => {
                (modulus.hash_to_element(iterations, seed.as_bytes()), false)
            }
            (None, Some(x)) => modulus.reduce(&parse_hex(&x, "x")?),
            _ => {
                let message = "give a seed that is not empty, or a raw x in hex, and not both";
                return Fault::form("challenge.malformed", message);
            }
        };
        match (asked.proof.system(), modulus.check_provable()) {
            // What can be evaluated and not proved is refused now, not after the last squaring.
            (Some(system), _) => {
                Prover::new(system, &modulus, &x, iterations, Default::default())?;
            }
            // A service of delays has nothing to sell where everyone can skip them.
            (None, Err(error @ Error::ModulusPublished { .. })) => return Err(error.into()),
            (None, _) => {}
        }
        Ok(Task { modulus, x, reduced, iterations, proof: asked.proof })
    }
}
