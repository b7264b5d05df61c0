/**
 * A column of byte strings: a list, one value for all rows, values of one width one after the other, or
 * values one after the other with offsets, of which there is one more than values (Arrow's layout).
 */
export type Column =
  | Uint8Array
  | readonly Uint8Array[]
  | { data: Uint8Array; width: number }
  | { data: Uint8Array; offsets: ArrayLike<number> };
