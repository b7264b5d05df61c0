//! Any bytes as a modulus, and a few squarings of the same bytes modulo it.

use std::ops::ControlFlow;
use tetralith_vdf::{Modulus, eval};

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(modulus) = Modulus::from_bytes(bytes) else { return };
    let (x, _) = modulus.reduce(&[bytes, bytes].concat());
    let twice = eval(&modulus, &x, 2, &mut |_| ControlFlow::Continue(())).expect("two squarings");
    let once = eval(&modulus, &x, 1, &mut |_| ControlFlow::Continue(())).expect("one squaring");
    let again = eval(&modulus, &once, 1, &mut |_| ControlFlow::Continue(())).expect("one more");
    assert_eq!(twice, again);
}
