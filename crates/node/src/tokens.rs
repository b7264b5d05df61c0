//! The tokens of the API: who a client is, and what it may do.
//!
//! `api.token` may do everything and `read.token` may read. Further ones are in `tokens.json`, each with
//! a name and its roles; the file has their SHA-256 and not the tokens. It is read again when it changes.

use crate::error::Error;
use crate::folder::Folder;
use crate::identity::new_seed;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::SystemTime;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// What a client may do. Every token may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read keys, ceremonies, blame and metrics.
    Read,
    /// Ask for keys, signatures and resharings. What needs an approval must have one already.
    Request,
    /// Approve digests and resharings.
    Approve,
    /// Everything, and delete shares.
    Admin,
}

impl Role {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Read => "read",
            Role::Request => "request",
            Role::Approve => "approve",
            Role::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Role::Read, Role::Request, Role::Approve, Role::Admin];
        let unknown =
            || format!("unknown role {text:?} (expected read, request, approve or admin)");
        all.into_iter().find(|role| role.as_str() == text).ok_or_else(unknown)
    }
}

/// A token as `tokens.json` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// What people call whoever has it.
    pub name: String,
    /// What it allows.
    pub roles: Vec<Role>,
    /// SHA-256 of the token, in hex.
    pub sha256: String,
}

/// A client that showed a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) roles: Vec<Role>,
}

impl Caller {
    pub(crate) fn may(&self, role: Role) -> bool {
        role == Role::Read || self.roles.contains(&role) || self.roles.contains(&Role::Admin)
    }
}

/// All tokens of a node.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    /// Of the files `api.token` and `read.token`.
    own: [(Caller, [u8; 32]); 2],
    listed: Mutex<Listed>,
}

#[derive(Debug, Default)]
struct Listed {
    /// The file's time and length when it was read.
    stamp: Option<(SystemTime, u64)>,
    tokens: Vec<(Caller, [u8; 32])>,
}

impl Tokens {
    pub(crate) fn open(folder: &Folder, rng: &mut impl CryptoRng) -> Result<Self, Error> {
        let (full, read) = (folder.token()?, folder.read_token(rng)?);
        let own = |name: &str, role, token: &str| {
            let caller = Caller { name: name.into(), roles: vec![role] };
            (caller, Sha256::digest(token.as_bytes()).into())
        };
        let own = [own("api", Role::Admin, &full), own("read", Role::Read, &read)];
        let tokens = Tokens { path: folder.tokens_path(), own, listed: Mutex::default() };
        // A file that cannot be read is an error at the start, and later a line in the log.
        folder.tokens()?;
        Ok(tokens)
    }

    /// Whose token this is; every comparison is in constant time.
    pub(crate) fn find(&self, token: &[u8]) -> Option<Caller> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let mut listed = crate::ceremony::lock(&self.listed);
        self.refresh(&mut listed);
        let mut found = None;
        for (caller, known) in self.own.iter().chain(&listed.tokens) {
            if hash.ct_eq(known).into() {
                found = Some(caller.clone());
            }
        }
        found
    }

    fn refresh(&self, listed: &mut Listed) {
        let stamp =
            std::fs::metadata(&self.path).and_then(|file| Ok((file.modified()?, file.len())));
        let stamp = stamp.ok();
        if stamp == listed.stamp {
            return;
        }
        listed.stamp = stamp;
        match read(&self.path) {
            Ok(tokens) => {
                let known = tokens.into_iter().filter_map(|token| {
                    let hash = hex::decode(&token.sha256).ok()?.try_into().ok()?;
                    Some((Caller { name: token.name, roles: token.roles }, hash))
                });
                listed.tokens = known.collect();
            }
            Err(error) => {
                tracing::error!(event = "tokens_unreadable", %error);
                listed.tokens.clear();
            }
        }
    }
}

fn read(path: &std::path::Path) -> Result<Vec<Token>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = crate::folder::read_bounded(path, 1 << 20)?;
    let malformed = |reason: String| Error::Malformed { path: path.to_owned(), reason };
    let tokens: Vec<Token> =
        serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    for (index, token) in tokens.iter().enumerate() {
        if !hex::decode(&token.sha256).is_ok_and(|hash| hash.len() == 32) {
            return Err(malformed(format!("the sha256 of {:?} is not 64 hex digits", token.name)));
        }
        if tokens[..index].iter().any(|other| other.name == token.name) {
            return Err(malformed(format!("two tokens have the name {:?}", token.name)));
        }
    }
    Ok(tokens)
}

impl Folder {
    pub(crate) fn tokens_path(&self) -> PathBuf {
        self.root().join("tokens.json")
    }

    /// The tokens beside `api.token` and `read.token`.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed.
    pub fn tokens(&self) -> Result<Vec<Token>, Error> {
        read(&self.tokens_path())
    }

    /// Makes a token with these roles, replacing one of the same name, and returns it. A running node
    /// accepts it at once.
    ///
    /// # Errors
    /// The name is not one of 1 to 64 letters, digits, `-`, `_` and `.`, no role is given, or the file
    /// cannot be read or written.
    pub fn add_token(
        &self,
        name: &str,
        roles: &[Role],
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<String>, Error> {
        crate::config::check_name("name", name)?;
        if roles.is_empty() || matches!(name, "api" | "read") {
            let reason = match roles.is_empty() {
                true => "a token needs at least one role",
                false => "is the name of the node's own token",
            };
            return Err(Error::config("name", reason));
        }
        let token = Zeroizing::new(hex::encode(new_seed(rng).as_slice()));
        let mut tokens = self.tokens()?;
        tokens.retain(|other| other.name != name);
        let sha256 = hex::encode(Sha256::digest(token.as_bytes()));
        tokens.push(Token { name: name.to_owned(), roles: roles.to_vec(), sha256 });
        self.write_tokens(&tokens)?;
        Ok(token)
    }

    /// Removes a token; `false` if there is none of that name.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remove_token(&self, name: &str) -> Result<bool, Error> {
        let mut tokens = self.tokens()?;
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        self.write_tokens(&tokens)?;
        Ok(tokens.len() < before)
    }

    fn write_tokens(&self, tokens: &[Token]) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(tokens).unwrap_or_default();
        crate::folder::replace(&self.tokens_path(), text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;
    use tetralith_keyfile::{Cost, Protection};

    #[test]
    fn tokens_come_and_go_while_the_node_runs() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(&root.path().join("a"));
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        folder.create(Protection::None, Cost::LEAST, &mut rng).unwrap();
        let tokens = Tokens::open(&folder, &mut rng).unwrap();
        let full = tokens.find(folder.token().unwrap().as_bytes()).unwrap();
        assert!(full.may(Role::Admin) && full.may(Role::Approve));
        let made = folder.add_token("bot", &[Role::Request], &mut rng).unwrap();
        let bot = tokens.find(made.as_bytes()).unwrap();
        assert_eq!(bot.name, "bot");
        assert!(bot.may(Role::Read) && bot.may(Role::Request));
        assert!(!bot.may(Role::Approve) && !bot.may(Role::Admin));
        assert!(!std::fs::read_to_string(folder.tokens_path()).unwrap().contains(made.as_str()));
        let again = folder.add_token("bot", &[Role::Approve, Role::Read], &mut rng).unwrap();
        assert_eq!(tokens.find(made.as_bytes()), None, "it was replaced");
        assert!(tokens.find(again.as_bytes()).unwrap().may(Role::Approve));
        assert!(folder.remove_token("bot").unwrap() && !folder.remove_token("bot").unwrap());
        assert_eq!(tokens.find(again.as_bytes()), None);
        for (name, roles) in [("api", &[Role::Read][..]), ("", &[Role::Read]), ("x", &[])] {
            assert!(folder.add_token(name, roles, &mut rng).is_err(), "{name:?}");
        }
        std::fs::write(folder.tokens_path(), "{").unwrap();
        assert!(Tokens::open(&folder, &mut rng).is_err());
    }
}
