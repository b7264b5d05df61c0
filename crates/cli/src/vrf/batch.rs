//! `tetralith vrf verify-batch` and `prove-batch`.

use super::input::{open_key, suite};
use crate::batch::{self, Answer, Batch, Columns, Job};
use crate::context::Context;
use crate::failure::{Exit, Outcome};
use crate::passphrase::PassphraseArgs;
use std::path::PathBuf;
use tetralith_columns::{Block, Field, Shape};
use tetralith_vrf::{Row, SecretKey, Suite, prove_many, verify_mixed};

/// Verifies rows.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyBatch {
    /// The suite of the rows that have no column `suite`, or nothing in it
    #[arg(long, value_name = "NAME", value_parser = suite())]
    suite: Option<Suite>,
    #[command(flatten)]
    batch: Batch,
}

/// Proves rows.
#[derive(clap::Args, Debug)]
pub(crate) struct ProveBatch {
    /// The key file
    #[arg(short, long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    batch: Batch,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn verify(context: Context, command: &VerifyBatch) -> Outcome {
    batch::run(context, &command.batch, &Verify { suite: command.suite })
}

pub(super) fn prove(context: Context, command: &ProveBatch) -> Outcome {
    let key = open_key(context, &command.key, &command.passphrase)?;
    batch::run(context, &command.batch, &Prove { key })
}

struct Verify {
    suite: Option<Suite>,
}

impl Verify {
    /// The suite of a row.
    fn suite(&self, named: Option<&[u8]>) -> Result<Suite, String> {
        match named {
            Some(name) => {
                String::from_utf8_lossy(name).parse::<Suite>().map_err(|error| error.to_string())
            }
            None => self.suite.ok_or_else(|| "suite is missing, and --suite is not given".into()),
        }
    }
}

impl Job for Verify {
    const VERB: &'static str = "verify-batch";
    const FAILED: (Exit, &'static str) = (Exit::Verification, "verification.failed");
    const COLUMNS: Columns = Columns::VrfVerify;
    const FIELDS: &'static [Field] = &[
        Field::new("row", Shape::Number),
        Field::new("ok", Shape::Flag),
        Field::new("output", Shape::Bytes),
        Field::new("error", Shape::Text),
    ];

    fn answer(&self, rows: &Block) -> Vec<Answer> {
        let read = rows.rows::<4>().map(|row| {
            let [public_key, alpha, proof, suite] = row.map_err(str::to_owned)?;
            let [public_key, alpha, proof] =
                [public_key, alpha, proof].map(Option::unwrap_or_default);
            Ok((self.suite(suite)?, Row { public_key, alpha, proof }))
        });
        let read: Vec<Result<(Suite, Row<'_>), String>> = read.collect();
        let good: Vec<(Suite, Row<'_>)> = read.iter().flatten().copied().collect();
        let mut verdicts = verify_mixed(&good).into_iter();
        let mut next = || verdicts.next().expect("one verdict for every row that was read");
        let answers = read.into_iter().map(|row| {
            row.and_then(|_| match next() {
                Ok(output) => Ok(vec![output.as_bytes().to_vec()]),
                Err(error) => Err(error.to_string()),
            })
        });
        answers.collect()
    }
}

struct Prove {
    key: SecretKey,
}

impl Job for Prove {
    const VERB: &'static str = "prove-batch";
    const FAILED: (Exit, &'static str) = (Exit::Usage, "input.malformed");
    const COLUMNS: Columns = Columns::VrfProve;
    const FIELDS: &'static [Field] = &[
        Field::new("row", Shape::Number),
        Field::new("ok", Shape::Flag),
        Field::new("suite", Shape::Text),
        Field::new("public_key", Shape::Bytes),
        Field::new("alpha", Shape::Bytes),
        Field::new("proof", Shape::Bytes),
        Field::new("output", Shape::Bytes),
        Field::new("error", Shape::Text),
    ];

    fn answer(&self, rows: &Block) -> Vec<Answer> {
        let read: Vec<Result<&[u8], &str>> =
            rows.rows::<1>().map(|row| row.map(|[alpha]| alpha.unwrap_or_default())).collect();
        let good: Vec<(&SecretKey, &[u8])> =
            read.iter().flatten().map(|&alpha| (&self.key, alpha)).collect();
        let mut proofs = prove_many(&good).into_iter();
        let mut next = || proofs.next().expect("one proof for every row that was read");
        let suite = self.key.suite().name().as_bytes();
        let public_key = self.key.public_key();
        let answers = read.iter().map(|row| {
            let alpha = row.map_err(str::to_owned)?;
            let proof = next().map_err(|error| error.to_string())?;
            let output = proof.to_hash();
            let values = [suite, public_key.as_bytes(), alpha, proof.as_bytes(), output.as_bytes()];
            Ok(values.map(<[u8]>::to_vec).to_vec())
        });
        answers.collect()
    }
}
