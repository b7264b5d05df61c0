/**
 * Threshold signatures: ECDSA on secp256k1 (DKLs23) and Ed25519 (FROST, RFC 9591).
 *
 * A party's side of a run is a {@link Session}. It has no socket: carry its {@link Session.outgoing}
 * messages to the other parties, over channels that authenticate the sender and keep messages to one
 * party confidential, hand what arrives to {@link Session.receive}, and take the output at the end.
 * @module
 */

export type Scheme = 'dkls23' | 'frost-ed25519';

/** One party's side of a run, made by {@link keygen}, {@link sign} or {@link refresh}. */
export class Session {
  private constructor();
  /** The messages that are ready, each once: to one party, or to all others if `to` is undefined. */
  outgoing(): { to: number | undefined; message: Uint8Array }[];
  /**
   * Takes in a message of another party.
   * @throws {TetralithError} `message.refused`; the run goes on as if nothing had arrived
   */
  receive(from: number, message: Uint8Array): void;
  /** The round whose messages are awaited, from 1. */
  readonly round: number;
  /** The parties of which a message is missing. */
  readonly waitingFor: number[];
  /**
   * The output once: a share or a signature; `undefined` while there is none, and after it was taken.
   * @throws {TetralithError} `peers.aborted`, whose `suspects` are the parties at fault
   */
  takeOutput(): Uint8Array | undefined;
}

/**
 * Begins to make a key of which any `threshold` of `parties` can sign; the output is a share.
 *
 * `runId`: 32 bytes, the same for all parties and never used again. `me`: this party, from 1. The share
 * is secret: encrypt it before it is stored.
 */
export function keygen(
  scheme: Scheme, runId: Uint8Array, me: number, threshold: number, parties: number): Session;

/**
 * Begins to sign; the output is the signature.
 *
 * `message`: a digest of 32 bytes for `dkls23`, whose signature is `r ‖ s ‖ recovery id`; any bytes for
 * `frost-ed25519`, whose signature is that of RFC 8032. `signers`: the parties that take part, in
 * ascending order. The caller decides what may be signed.
 */
export function sign(
  scheme: Scheme, runId: Uint8Array, share: Uint8Array, signers: number[], message: Uint8Array): Session;

/** Begins to replace all shares of a DKLs23 key, whose public key stays; all parties take part. */
export function refresh(runId: Uint8Array, share: Uint8Array): Session;

/** What is public of a share: 33 bytes of SEC 1 for `dkls23`, 32 bytes of RFC 8032 for `frost-ed25519`. */
export function shareInfo(scheme: Scheme, share: Uint8Array): {
  party: number; threshold: number; parties: number; groupKey: Uint8Array;
};

/** Whether a DKLs23 signature of 65 bytes is valid for a digest. */
export function verify(groupKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean;

/**
 * Runs sessions of one thread to their end: for tests, and for parties that trust one machine.
 * @throws {TetralithError} `peers.aborted` if a session aborts
 */
export function exchange(parties: Map<number, Session>): Map<number, Uint8Array>;
