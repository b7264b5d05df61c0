/**
 * What kind of failure it is, as the command's exit codes tell them apart:
 * - `verification`: well formed, and not valid;
 * - `malformed`: malformed input, or a wrong argument;
 * - `environment`: the machine failed, or the caller interrupted the work;
 * - `state`: the durable state refuses;
 * - `peer`: another party failed.
 */
export type Kind = 'verification' | 'malformed' | 'environment' | 'state' | 'peer';

/** Every failure of this package. */
export class TetralithError extends Error {
  constructor(kind: Kind, code: string, message: string, hint?: string, suspects?: number[]);
  readonly kind: Kind;
  /** A stable dotted code, the same as that of the `tetralith` command: `verification.failed`. */
  readonly code: string;
  /** The next step, if there is one. */
  readonly hint?: string;
  /** For `peers.aborted`: the parties among which the fault lies. */
  readonly suspects: readonly number[];
}
