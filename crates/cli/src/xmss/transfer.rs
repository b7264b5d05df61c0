//! `import` and `export`: keys of other software, and what becomes of the state here.
//!
//! An exported key moves: its indices are spent here before the secret is written, so that two signers
//! never have one key. Only `--copy`, which says so, leaves it able to sign here. An export that was
//! killed is finished by the next one.

use super::guard::Guard;
use super::key::{self, Secret};
use super::keygen::compute;
use super::store::{self, StoreArgs};
use super::{aidos, pkcs8, qrl};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::{NewPassphrase, NewPassphraseArgs, PassphraseArgs};
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyring::Keyring;
use tetralith_xmss::Params;
use tetralith_xmss::qrl::ExtendedSeed;
use tetralith_xmss::state::StateError;
use zeroize::Zeroizing;

/// Arguments of `import`.
#[derive(clap::Args, Debug)]
#[group(skip)]
#[command(mut_arg("output", |output| output.help(key::OUTPUT_HELP)))]
pub(crate) struct Import {
    #[command(flatten)]
    from: From,
    /// The first index to use: above every index that the key has ever used; 0 for one never used. A
    /// key of AidosKuneen/xmss or PKCS#8 says itself, and can only be resumed later
    #[arg(long, value_name = "INDEX", required_unless_present_any = ["aidos", "pkcs8"])]
    resume_at: Option<u64>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    passphrase: NewPassphraseArgs,
}

/// Where an imported key comes from.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct From {
    /// A file with QRL's 34 words
    #[arg(long, value_name = "FILE")]
    qrl_mnemonic: Option<PathBuf>,
    /// A file with QRL's extended seed, 51 bytes in hex
    #[arg(long, value_name = "FILE")]
    qrl_seed: Option<PathBuf>,
    /// A key of AidosKuneen/xmss, as JSON or as `export` encrypts it
    #[arg(long, value_name = "FILE")]
    aidos: Option<PathBuf>,
    /// A PKCS#8 key, in PEM or DER or as `export` encrypts it; see docs/xmss.md for its content
    #[arg(long, value_name = "FILE")]
    pkcs8: Option<PathBuf>,
}

/// What `export` writes.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// QRL's 34 words
    QrlMnemonic,
    /// QRL's extended seed, 51 bytes in hex
    QrlSeed,
    /// The JSON of AidosKuneen/xmss, encrypted unless --plain says otherwise
    #[value(alias = "json")]
    Aidos,
    /// PKCS#8 in PEM, encrypted unless --plain says otherwise
    Pkcs8,
}

impl Form {
    /// Whether it says which index comes next, and is sealed unless --plain says otherwise.
    fn has_index(self) -> bool {
        match self {
            Form::QrlMnemonic | Form::QrlSeed => false,
            Form::Aidos | Form::Pkcs8 => true,
        }
    }
}

/// Arguments of `export`.
#[derive(clap::Args, Debug)]
pub(crate) struct Export {
    /// The key file
    key: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value = "qrl-mnemonic")]
    format: Form,
    /// Write JSON or PKCS#8 so that other software, and everybody else, can read it
    #[arg(long)]
    plain: bool,
    /// Let the key sign here as well: two signers of one key let anybody forge, unless you keep them
    /// from ever using the same index
    #[arg(long)]
    copy: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Makes a key file.
pub(crate) fn import(context: Context, arguments: Import) -> Outcome {
    key::check_name(&arguments.output)?;
    arguments.guard()?;
    arguments.output.check()?;
    let From { qrl_mnemonic, qrl_seed, aidos, pkcs8 } = &arguments.from;
    if let Some(path) = pkcs8 {
        return import_pkcs8(context, &arguments, path);
    }
    let seed = match (qrl_mnemonic, qrl_seed, aidos) {
        (Some(path), ..) => {
            io::check_private(context, path)?;
            ExtendedSeed::from_mnemonic(&Zeroizing::new(io::read_text(path, 1 << 16)?))?
        }
        (_, Some(path), _) => ExtendedSeed::from_bytes(&qrl::read_hex(context, path)?)?,
        (.., Some(path)) => return import_aidos(context, &arguments, path),
        (None, None, None) => return Err(Failure::usage("input.missing", "nothing to import")),
    };
    let resume_at = arguments.resume_at.unwrap_or(0);
    some_left(resume_at, seed.descriptor().params())?;
    let passphrase = arguments.passphrase.for_new(context)?;
    let key = compute(context, seed.seeds(), None)?;
    arguments.finish(context, Secret { key, qrl: Some(seed) }, &passphrase, resume_at)
}

fn import_aidos(context: Context, arguments: &Import, path: &Path) -> Outcome {
    let (found, passphrase) = aidos::read(context, path, &arguments.passphrase)?;
    let resume_at = arguments.resume_past(found.leaf())?;
    some_left(resume_at, found.seeds().params())?;
    let mut key = compute(context, found.seeds(), None)?;
    found.check(&mut key)?;
    arguments.finish(context, Secret { key, qrl: None }, &passphrase, resume_at)
}

fn import_pkcs8(context: Context, arguments: &Import, path: &Path) -> Outcome {
    let (found, passphrase) = pkcs8::read(context, path, &arguments.passphrase)?;
    let (resume_at, public) = (arguments.resume_past(found.next())?, found.public_key().clone());
    some_left(resume_at, public.params())?;
    let key = compute(context, found.into_seeds(), None)?;
    if key.public_key() != public {
        let message = format!("{}: the root is not that of the seeds", path.display());
        return Err(Failure::usage("key.malformed", message)
            .hint("only keys of SP 800-208's derivation have this form; others have other roots"));
    }
    arguments.finish(context, Secret { key, qrl: None }, &passphrase, resume_at)
}

/// Refuses to import a key that could sign nothing.
fn some_left(resume_at: u64, params: Params) -> Outcome {
    let limit = params.signatures();
    if resume_at < limit {
        return Ok(());
    }
    let message = format!("resumed at {resume_at}, a key of {limit} signatures has none left");
    Err(Failure::usage("input.index", message)
        .hint("an exhausted key is of no use: make a new one"))
}

impl Import {
    fn guard(&self) -> Outcome {
        let From { qrl_mnemonic, qrl_seed, aidos, pkcs8 } = &self.from;
        let inputs = [qrl_mnemonic, qrl_seed, aidos, pkcs8].map(Option::as_deref);
        let guard = inputs.into_iter().fold(Guard::default(), Guard::input);
        let guard = guard.input(self.passphrase.file());
        let guard = guard.replaces(tetralith_keyring::KIND);
        guard.state(&self.output.output, &self.store).check(&self.output.output)
    }

    /// The first index to use, of a key that says itself which it is.
    fn resume_past(&self, next: u64) -> Outcome<u64> {
        match self.resume_at {
            Some(index) if index < next => {
                let message =
                    format!("cannot resume at {index}: the key has used those below {next}");
                Err(Failure::new(Exit::State, "state.backward", message)
                    .hint(format!("choose an index of at least {next}")))
            }
            index => Ok(index.unwrap_or(next)),
        }
    }

    fn finish(
        &self,
        context: Context,
        secret: Secret,
        passphrase: &NewPassphrase,
        resume_at: u64,
    ) -> Outcome {
        let (output, store) = (&self.output, &self.store);
        key::New { output, store, passphrase, resume_at, partial: None }.write(&secret)?;
        key::told(context, "imported", &self.output.output, &secret.key.public_key(), resume_at)
    }
}

/// Writes a secret out, where it was asked to.
pub(crate) fn export(context: Context, arguments: Export) -> Outcome {
    let guard = Guard::default().input(arguments.passphrase.file());
    let guard = guard.replaces(aidos::KIND).key(&arguments.key, &arguments.store);
    guard.check(&arguments.output.output)?;
    arguments.output.check()?;
    let keyring = arguments.store.keyring(&arguments.key)?;
    io::check_private(context, &arguments.key)?;
    let passphrase = arguments.passphrase.existing(context, keyring.is_encrypted())?;
    let passphrase = NewPassphrase::from(passphrase);
    let secret = keyring.secret(passphrase.bytes())?;
    let Output { output, force } = &arguments.output;
    let file = (!arguments.output.is_stream()).then_some(output.as_path());
    let mut export = keyring.export(file, arguments.form(), arguments.copy)?;
    let (next, left) = (export.next(), export.left());
    if !export.is_waiting() {
        let content = arguments.content(context, &keyring, secret, next, &passphrase)?;
        export.write(content, store::now(), &mut crate::random::system())?;
    }
    tell(context, &arguments, &export);
    let moved = export.moves();
    if file.is_none() {
        let content = export.content()?;
        arguments.output.write(&content, Access::Owner)?;
        return Ok(export.finish(*force)?);
    }
    export.finish(*force)?;
    let name = output.display().to_string();
    context.answer(
        format!("secret in {name}"),
        json!({
            "file": name, "next": next, "left": left, "moved": moved,
            "plain": !arguments.is_encrypted(),
        }),
    )
}

/// Says what becomes of the key here.
fn tell(context: Context, arguments: &Export, export: &tetralith_keyring::Export) {
    let (next, left) = (export.next(), export.left());
    if left == 0 {
        let text = "nothing of the key is left here: its indices were spent, or exported before";
        context.event("key.exhausted", text, json!({ "next": next }));
    } else if arguments.copy {
        let text = format!(
            "warning: the key still signs here, from index {next} on; two signers of one index let \
             anybody forge"
        );
        context.event("key.copied", text, json!({ "next": next, "left": left }));
    } else {
        let text = format!("the key no longer signs here; elsewhere, resume at index {next}");
        context.event("key.moved", text, json!({ "next": next }));
    }
}

impl Export {
    fn is_encrypted(&self) -> bool {
        self.format.has_index() && !self.plain
    }

    /// What is written, in one word.
    fn form(&self) -> &'static str {
        match (self.format, self.plain) {
            (Form::QrlMnemonic, _) => "qrl-mnemonic",
            (Form::QrlSeed, _) => "qrl-seed",
            (Form::Aidos, false) => "aidos",
            (Form::Aidos, true) => "aidos --plain",
            (Form::Pkcs8, false) => "pkcs8",
            (Form::Pkcs8, true) => "pkcs8 --plain",
        }
    }

    /// The secret in the form that was asked for, to go on at the index `next`.
    fn content(
        &self,
        context: Context,
        keyring: &Keyring,
        mut secret: key::Secret,
        next: u64,
        passphrase: &NewPassphrase,
    ) -> Outcome<Zeroizing<Vec<u8>>> {
        let limit = keyring.public_key().params().signatures();
        let line = |text: &str| Zeroizing::new(format!("{text}\n").into_bytes());
        match (self.format, &secret.qrl) {
            (Form::QrlMnemonic, Some(seed)) => Ok(line(&seed.to_mnemonic())),
            (Form::QrlSeed, Some(seed)) => Ok(line(&Zeroizing::new(hex::encode(seed.to_bytes())))),
            (form, _) if form.has_index() && next >= limit => {
                Err(store::failure(&StateError::Exhausted { limit }))
            }
            (Form::Aidos, _) => {
                let base = keyring.files().nodes();
                let text =
                    aidos::write(context, &mut secret.key, &base, next, passphrase, self.plain)?;
                Ok(Zeroizing::new(text.as_bytes().to_vec()))
            }
            (Form::Pkcs8, _) => {
                let text = pkcs8::write(&secret.key, next, passphrase, self.plain)?;
                Ok(Zeroizing::new(text.as_bytes().to_vec()))
            }
            _ => {
                let failure = Failure::usage("key.not_qrl", "the key was not made from a QRL seed");
                Err(failure.hint("give --format pkcs8, or aidos for AidosKuneen/xmss"))
            }
        }
    }
}
