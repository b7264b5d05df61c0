//! The portable twin: one lane, in constant time.

pub(super) mod field;

super::points::secp256k1_points!();

/// The multiples 1 to 8 of 16^i P for i from 0 to 64, row after row; none is the identity.
pub(super) fn multiples(point: &Affine) -> Vec<Affine> {
    let [x, y] = broadcast(point);
    let mut first = Points { x, y, z: Fe::small(1) };
    let mut all = Vec::with_capacity(ROWS * ROW);
    for _ in 0..ROWS {
        let mut multiple = first;
        for _ in 0..ROW {
            all.push(multiple);
            multiple.add(&first);
        }
        // 16 times the first, from its eightfold, which was pushed last.
        first = all[all.len() - 1];
        first.double();
    }
    let bytes = |of: &Fe| unpack(&of.packed());
    normalized(&all).iter().map(|(x, y, _)| [bytes(x), bytes(y)]).collect()
}
