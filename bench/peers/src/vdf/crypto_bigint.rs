//! crypto-bigint: squarings in Montgomery form at a width that the compiler knows.

use super::{Chain, SQUARINGS};
use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Encoding, Odd, Uint};

struct Fixed<const LIMBS: usize>(FixedMontyForm<LIMBS>);

/// FixedMontyForm.
pub fn fixed(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    match modulus.len() * 8 {
        1024 => prepare::<16>(modulus, x),
        2048 => prepare::<32>(modulus, x),
        3072 => prepare::<48>(modulus, x),
        4096 => prepare::<64>(modulus, x),
        bits => unreachable!("{bits} bits are not measured"),
    }
}

fn prepare<const LIMBS: usize>(modulus: &[u8], x: &[u8]) -> Box<dyn Chain>
where
    Uint<LIMBS>: Encoding,
{
    let modulus = Odd::new(Uint::<LIMBS>::from_be_slice(modulus)).expect("the modulus is odd");
    let params = FixedMontyParams::new_vartime(modulus);
    Box::new(Fixed(FixedMontyForm::new(&Uint::from_be_slice(x), &params)))
}

impl<const LIMBS: usize> Chain for Fixed<LIMBS>
where
    Uint<LIMBS>: Encoding,
{
    fn run(&mut self) {
        self.0 = self.0.square_repeat_vartime(SQUARINGS as u32);
    }

    fn value(&self) -> Vec<u8> {
        self.0.retrieve().to_be_bytes().as_ref().to_vec()
    }
}
