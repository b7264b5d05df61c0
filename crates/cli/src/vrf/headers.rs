//! `tetralith vrf verify-headers`: headers from lines or from a node's chunk files, in order, in bounded
//! memory.
//!
//! While one block of headers is verified on all cores the next is read. A faulty header is named and
//! does not stop those after it; where a chunk's bytes are no CBOR the next block cannot be found, and
//! the run ends there.

mod source;

use super::cardano::{CHECKED, LEFT, NOT_CHECKED};
use super::network::{ByronArgs, NetworkArgs, NonceArgs, Nonces};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use rayon::prelude::*;
use serde_json::json;
use source::{Block, Source};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tetralith_vrf::cardano::{CardanoError, Header, verify_headers};

/// How many headers one thread verifies at a time.
const THREAD_HEADERS: usize = 256;

/// Verifies many headers.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// Lines of {"header": HEX, "nonce": HEX}, an ImmutableDB chunk file, or a folder of them; `-` is
    /// standard input, lines only
    #[arg(value_name = "FILE|FOLDER")]
    source: PathBuf,
    #[command(flatten)]
    nonces: NonceArgs,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    byron: ByronArgs,
    /// Stop naming failed headers on standard error after this many
    #[arg(long, default_value_t = 10, value_name = "N")]
    name_failures: u64,
}

/// A header as it was found, and where.
pub(super) struct Found {
    pub(super) file: Arc<str>,
    /// The line's number, from 1, where the file has lines.
    pub(super) row: Option<u64>,
    pub(super) offset: u64,
    pub(super) header: Result<Header, CardanoError>,
    /// What is wrong with the line around it.
    pub(super) fault: Option<String>,
    /// The nonce that the line brings.
    pub(super) nonce: Option<[u8; 32]>,
}

/// What became of a header.
enum Verdict {
    Valid,
    Failed(String),
    /// Byron's headers have no proof.
    Skipped,
    /// There is no nonce to verify it with.
    NoNonce(String),
}

pub(super) fn run(context: Context, command: &Command) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let nonces = command.nonces.read(command.network.read(command.byron)?)?;
    let mut source = Source::open(&command.source, context.threads)?;
    if matches!((&source, &nonces), (Source::Chunks { .. }, Nonces::None)) {
        let failure = Failure::usage("usage.arguments", "blocks bring no nonces");
        return Err(failure.hint("give --nonce, or --nonces with --network or --genesis"));
    }
    let progress = context.progress("verify-headers", source.total(), "bytes");
    let mut tally = Tally { headers: 0, failed: 0, skipped: 0, start: Instant::now() };
    let mut block = source.next_block()?;
    while !block.is_empty() {
        let bytes = block.end();
        let (next, (verdicts, fault)) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| source.next_block());
            let verified = pool.install(|| verify(block, &nonces));
            (reader.join().expect("reading does not panic"), verified)
        });
        for (found, verdict) in &verdicts {
            tally.count(context, command, found, verdict)?;
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        progress.set(bytes);
        block = next?;
    }
    progress.finish();
    tally.finish(context, command)
}

/// Finds, decodes and verifies a block's headers.
fn verify(block: Block, nonces: &Nonces) -> (Vec<(Found, Verdict)>, Option<Failure>) {
    let (found, fault) = block.headers();
    let parts: Vec<Vec<Verdict>> =
        found.par_chunks(THREAD_HEADERS).map(|found| verify_part(found, nonces)).collect();
    (found.into_iter().zip(parts.into_iter().flatten()).collect(), fault)
}

fn verify_part(found: &[Found], nonces: &Nonces) -> Vec<Verdict> {
    let nonce = |found: &Found, header: &Header| match found.nonce {
        Some(nonce) => Ok(nonce),
        None => nonces.of_slot(header.slot),
    };
    let with_nonces: Vec<(&Header, [u8; 32])> = found
        .iter()
        .filter(|found| found.fault.is_none())
        .filter_map(|found| {
            let header = found.header.as_ref().ok()?;
            Some((header, nonce(found, header).ok()?))
        })
        .collect();
    let mut verdicts = verify_headers(&with_nonces).into_iter();
    found
        .iter()
        .map(|found| match (&found.fault, &found.header) {
            (Some(fault), _) => Verdict::Failed(fault.clone()),
            (None, Err(CardanoError::Byron)) => Verdict::Skipped,
            (None, Err(error)) => Verdict::Failed(error.to_string()),
            (None, Ok(header)) => match nonce(found, header) {
                Err(missing) => Verdict::NoNonce(missing),
                Ok(_) => {
                    match verdicts.next().expect("one verdict for every header with a nonce") {
                        Ok(()) => Verdict::Valid,
                        Err(error) => Verdict::Failed(error.to_string()),
                    }
                }
            },
        })
        .collect()
}

impl Found {
    /// File, row and offset, and the slot where it is known.
    fn place(&self) -> String {
        let mut text = self.file.to_string();
        if let Some(row) = self.row {
            text += &format!(", row {row}");
        }
        text += &format!(", byte {}", self.offset);
        if let Ok(header) = &self.header {
            text += &format!(", slot {}", header.slot);
        }
        text
    }
}

struct Tally {
    /// Headers with proofs, whether valid or not.
    headers: u64,
    failed: u64,
    skipped: u64,
    start: Instant,
}

impl Tally {
    fn count(
        &mut self,
        context: Context,
        command: &Command,
        found: &Found,
        verdict: &Verdict,
    ) -> Outcome {
        match verdict {
            Verdict::Skipped => self.skipped += 1,
            Verdict::Valid => self.headers += 1,
            Verdict::Failed(reason) => {
                self.headers += 1;
                self.failed += 1;
                if self.failed <= command.name_failures {
                    let fields = json!({
                        "file": &*found.file, "row": found.row, "offset": found.offset,
                        "slot": found.header.as_ref().ok().map(|header| header.slot),
                        "reason": reason,
                    });
                    let text = format!("{}: {reason}", found.place());
                    context.event("verify-headers.failed", text, fields);
                }
            }
            Verdict::NoNonce(missing) => {
                let message = format!("{}: {missing}", found.place());
                return Err(Failure::usage("input.nonce", message).hint(
                    "give the nonce of its epoch: in the row, by --nonce, or in the file of --nonces",
                ));
            }
        }
        Ok(())
    }

    fn finish(&self, context: Context, command: &Command) -> Outcome {
        let Tally { headers, failed, skipped, start } = self;
        if *headers == 0 && *skipped == 0 {
            let message = format!("{} holds no header", command.source.display());
            return Err(Failure::usage("input.empty", message));
        }
        let seconds = start.elapsed().as_secs_f64();
        let rate = (*headers as f64 / seconds.max(1e-9)).round();
        let byron = if *skipped == 0 {
            String::new()
        } else {
            format!("; {skipped} Byron blocks without VRF proofs skipped")
        };
        if *failed > 0 {
            let failure =
                Failure::verification(format!("{failed} of {headers} headers failed{byron}"));
            let fields = [("headers", *headers), ("failed", *failed), ("byron_skipped", *skipped)];
            return Err(fields.iter().fold(failure, |all, (name, n)| all.with(name, (*n).into())));
        }
        let text = format!(
            "{headers} headers: VRF proofs valid; {LEFT}{byron} ({seconds:.1} s, {rate:.0} headers/s)"
        );
        let fields = json!({
            "headers": headers, "failed": failed, "byron_skipped": skipped,
            "checked": CHECKED, "not_checked": NOT_CHECKED,
            "seconds": seconds, "per_second": rate,
        });
        context.answer(text, fields)
    }
}
