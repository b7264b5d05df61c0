//! `keygen`, which can be cancelled at any time, and gone on with where it takes long.

use super::guard::Guard;
use super::key::{self, Secret, told};
use super::params::parse as params;
use super::{qrl, store};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::io::Output;
use crate::passphrase::{NewPassphrase, NewPassphraseArgs};
use rand_core::Rng;
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, KeyFile, Protection};
use tetralith_keyring::{Files, KIND};
use tetralith_xmss::qrl::ExtendedSeed;
use tetralith_xmss::{Derivation, Error, Params, Partial, Progress, SecretKey, Seeds};
use zeroize::Zeroizing;

/// Arguments of `keygen`.
#[derive(clap::Args, Debug)]
#[command(mut_arg("output", |output| output.help(key::OUTPUT_HELP)))]
pub(crate) struct Keygen {
    #[command(flatten)]
    output: Output,
    /// The parameter set, such as XMSS-SHAKE256_16_192, XMSSMT-SHA2_20/4_256 or QRL-SHAKE_10_256
    #[arg(long, value_parser = params, default_value = "XMSS-SHA2_10_256", value_name = "NAME")]
    params: Params,
    /// Take the seeds from this file, in hex: SK_SEED, SK_PRF and SEED, or a QRL seed of 48 bytes.
    /// The same seeds must never make a second key
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    /// How the secret chains follow from the seeds. QRL's keys always have the older way
    #[arg(long, value_enum, default_value = "prf-keygen")]
    derivation: Way,
    #[command(flatten)]
    store: store::StoreArgs,
    #[command(flatten)]
    passphrase: NewPassphraseArgs,
}

/// How the secret chains follow from the seeds.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// SP 800-208
    PrfKeygen,
    /// xmss-reference before 2020, and AidosKuneen/xmss: for keys that are to be exported there
    PrfCounter,
}

/// What a key is made by.
#[derive(Clone, Copy, Debug)]
struct Kind {
    params: Params,
    way: Way,
}

/// Makes a key.
pub(crate) fn keygen(context: Context, arguments: Keygen) -> Outcome {
    let Keygen { output, params, seed_file, derivation, store, passphrase } = arguments;
    let kind = Kind { params, way: derivation };
    key::check_name(&output)?;
    let guard = Guard::default().input(seed_file.as_deref()).input(passphrase.file());
    guard.replaces(KIND).state(&output.output, &store).check(&output.output)?;
    output.check()?;
    if params.tree_height() > MAX_HEIGHT {
        return Err(Error::TooTall(params).into());
    }
    let passphrase = passphrase.for_new(context)?;
    let read = |path| qrl::read_hex(context, path);
    let given = seed_file.as_deref().map(read).transpose()?;
    let start = Start::of(context, &output, kind, given, &passphrase)?;
    let key = compute(context, start.seeds, start.partial.as_ref())?;
    let secret = Secret { key, qrl: start.qrl };
    let (output, partial) = (&output, start.partial);
    let (store, passphrase) = (&store, &passphrase);
    key::New { output, store, passphrase, resume_at: 0, partial }.write(&secret)?;
    told(context, "made", &output.output, &secret.key.public_key(), 0)
}

/// What a key is computed from, and where that is kept meanwhile.
struct Start {
    seeds: Seeds,
    qrl: Option<ExtendedSeed>,
    partial: Option<Partial>,
}

impl Start {
    /// Begins a key, or finds one that was begun under this name.
    fn of(
        context: Context,
        output: &Output,
        kind: Kind,
        given: Option<Zeroizing<Vec<u8>>>,
        passphrase: &NewPassphrase,
    ) -> Outcome<Self> {
        let (path, params) = (partial_path(&output.output), kind.params);
        if let Some(found) = Found::at(&path, params)? {
            let start = found.go_on(&path, kind, given.clone(), passphrase)?;
            if !start.is_made_already(output)? {
                start.tell(context);
                return Ok(start);
            }
            // What is left of a key that was made, and is being replaced.
            start.partial.map_or(Ok(()), Partial::remove)?;
        }
        let seed_file = given.is_some();
        let material = given.unwrap_or_else(|| draw(params));
        let (seeds, qrl) = expand(kind, &material)?;
        let secret = (!seed_file).then_some(&material[..]);
        let partial = match note(params, secret, passphrase)? {
            Some(note) => Some(Partial::begin(&path, &seeds, &note)?),
            None => None,
        };
        Ok(Start { seeds, qrl, partial })
    }

    /// Says whether the key that is to be replaced is the one that was begun.
    fn is_made_already(&self, output: &Output) -> Outcome<bool> {
        if !output.output.exists() {
            return Ok(false);
        }
        let file = key::read(&output.output);
        let public = file.and_then(|file| key::public_of(&file, &output.output));
        Ok(public.is_ok_and(|public| public.seed() == self.seeds.public_seed()))
    }

    fn tell(&self, context: Context) {
        let Some(partial) = &self.partial else { return };
        let (leaves, damaged) = (partial.leaves(), partial.damaged());
        let text = format!("going on after {leaves} leaves");
        context.event("keygen.resumed", text, json!({ "leaves": leaves }));
        if damaged > 0 {
            let text = format!("{damaged} kept parts are damaged; they are computed again");
            context.event("keygen.damaged", text, json!({ "parts": damaged }));
        }
    }
}

/// The head of a file of leaves.
struct Found(KeyFile);

impl Found {
    fn at(path: &Path, params: Params) -> Outcome<Option<Self>> {
        let Some(note) = Partial::note(path).map_err(|error| refused(path, error))? else {
            return Ok(None);
        };
        let file = core::str::from_utf8(&note).ok().and_then(|text| KeyFile::from_text(text).ok());
        let Some(file) = file.filter(|file| file.kind == PARTIAL) else {
            let why = "it is damaged in its head";
            return Err(refused(path, Error::Malformed { what: "partial key", why }));
        };
        if file.params != params.to_string() {
            let message = format!("{} is of a {} key, not {params}", path.display(), file.params);
            return Err(Failure::usage("key.partial", message).hint(hint(path)));
        }
        Ok(Some(Found(file)))
    }

    fn go_on(
        &self,
        path: &Path,
        kind: Kind,
        given: Option<Zeroizing<Vec<u8>>>,
        passphrase: &NewPassphrase,
    ) -> Outcome<Start> {
        let material = match given {
            Some(given) => given,
            None => match self.0.open(passphrase.bytes()) {
                Err(tetralith_keyfile::Error::NoSecret) => {
                    let message = format!("{} was begun with a --seed-file", path.display());
                    return Err(Failure::usage("key.partial", message).hint(hint(path)));
                }
                opened => opened.map_err(|error| key::named(path, error).hint(hint(path)))?,
            },
        };
        let (seeds, qrl) = expand(kind, &material)?;
        let partial = Partial::resume(path, &seeds).map_err(|error| refused(path, error))?;
        Ok(Start { seeds, qrl, partial: Some(partial) })
    }
}

fn refused(path: &Path, error: Error) -> Failure {
    let (exit, why) = match error {
        Error::Malformed { why, .. } => (Exit::Usage, why.to_owned()),
        error => (Exit::Environment, error.to_string()),
    };
    let message = format!("cannot resume {}: {why}", path.display());
    Failure::new(exit, "key.partial", message).hint(hint(path))
}

fn hint(path: &Path) -> String {
    format!("rerun the command that began this key, or delete {} to start over", path.display())
}

/// What a file of leaves says of its seeds: sealed under the passphrase, nothing where they come from
/// a file, and `None` where it must not be made: too little work, or no passphrase.
fn note(
    params: Params,
    secret: Option<&[u8]>,
    passphrase: &NewPassphrase,
) -> Outcome<Option<Vec<u8>>> {
    let file = KeyFile::public(PARTIAL, &params.to_string(), &[]);
    let file = match (secret, passphrase.protection()) {
        _ if params.tree_height() < RESUMABLE => return Ok(None),
        (Some(_), Protection::None) => return Ok(None),
        (None, _) => file,
        (Some(secret), protection) => {
            file.seal(secret, protection, Cost::STANDARD, &mut crate::random::system())?
        }
    };
    Ok(Some(file.to_text().as_bytes().to_vec()))
}

fn draw(params: Params) -> Zeroizing<Vec<u8>> {
    let len = if params.oid().is_none() { QRL_SEED } else { 3 * params.n() };
    let mut material = Zeroizing::new(vec![0; len]);
    crate::random::system().fill_bytes(&mut material);
    material
}

fn expand(kind: Kind, material: &[u8]) -> Outcome<(Seeds, Option<ExtendedSeed>)> {
    let Kind { params, way } = kind;
    if params.oid().is_some() {
        let derivation = match way {
            Way::PrfKeygen => Derivation::PrfKeygen,
            Way::PrfCounter => Derivation::PrfCounter,
        };
        return Ok((Seeds::from_bytes(params, derivation, material)?, None));
    }
    let seed = qrl::seed(params, material)?;
    Ok((seed.seeds(), Some(seed)))
}

/// Computes a key with a progress report, until it is done or a signal comes.
pub(super) fn compute(
    context: Context,
    seeds: Seeds,
    partial: Option<&Partial>,
) -> Outcome<SecretKey> {
    let interrupt = Interrupt::catch()?;
    let leaves = 1 << seeds.params().tree_height();
    let report = context.progress("making the key", leaves, "leaves");
    let step = |done, _| {
        report.set(done);
        !interrupt.came()
    };
    let progress = Progress::new(&step);
    let key = match partial {
        Some(partial) => seeds.build_with(partial, &progress),
        None => seeds.build(&progress),
    };
    report.finish();
    key.map_err(|error| match error {
        Error::Cancelled => Failure::new(Exit::Environment, "interrupted", "stopped by a signal")
            .hint(match partial {
                Some(_) => "rerun the same command to resume",
                None => "nothing was written",
            }),
        error => error.into(),
    })
}

/// Where the leaves of a key are kept until it is made.
fn partial_path(key: &Path) -> PathBuf {
    Files::of(key).partial()
}

const PARTIAL: &str = "xmss-partial";
/// The height from which on a key is worth keeping while it is computed: 2^14 leaves take a second.
const RESUMABLE: u32 = 14;
/// The height of the tallest tree that is computed.
const MAX_HEIGHT: u32 = 20;
/// Bytes of a QRL seed.
const QRL_SEED: usize = 48;
