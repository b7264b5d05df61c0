//! Where the traversal of a tree stands at a leaf: which nodes each of its stacks holds.
//!
//! The logarithmic traversal in space and time: a stack for each level computes, an addition at a
//! time, the node that the path of a coming leaf will have there. Here only the nodes' places are
//! followed; their values are in the tree. M. Szydlo, Merkle Tree Traversal in Log Space and Time,
//! 2004, §4, in the variant of AidosKuneen/xmss.

/// The stacks of all levels.
pub(super) struct Traversal {
    pub(super) stacks: Vec<Stack>,
    lows: Vec<u32>,
}

/// The stack of one level.
pub(super) struct Stack {
    height: u32,
    /// The next leaf that it will take.
    pub(super) leaf: u32,
    /// Height and index of each node, the last one on top.
    pub(super) nodes: Vec<(u32, u32)>,
}

impl Stack {
    /// Its node is there.
    fn is_done(&self) -> bool {
        self.nodes.last().is_some_and(|top| top.0 == self.height)
    }

    /// How urgent it is: the height of its lowest node.
    fn low(&self) -> u32 {
        if self.is_done() {
            return u32::MAX;
        }
        self.nodes.iter().map(|node| node.0).min().unwrap_or(self.height)
    }

    /// Joins the two nodes on top, or takes a leaf.
    fn step(&mut self) {
        if self.is_done() {
            return;
        }
        if let [.., left, right] = self.nodes[..]
            && left.0 == right.0
        {
            self.nodes.truncate(self.nodes.len() - 2);
            self.nodes.push((right.0 + 1, right.1 >> 1));
            return;
        }
        self.nodes.push((0, self.leaf));
        self.leaf += 1;
    }
}

impl Traversal {
    /// The stacks of a tree of height 1 to 30 before its leaf `leaf` signs.
    pub(super) fn at(height: u32, leaf: u32) -> Self {
        let stacks: Vec<_> = (0..height)
            .map(|height| Stack { height, leaf: 1 << height, nodes: vec![(height, 0)] })
            .collect();
        let mut traversal = Self { lows: vec![u32::MAX; stacks.len()], stacks };
        (0..leaf).for_each(|leaf| traversal.advance(leaf));
        traversal
    }

    /// Goes on from one leaf to the next.
    fn advance(&mut self, leaf: u32) {
        let next = leaf + 1;
        for stack in &mut self.stacks {
            let pow = 1 << stack.height;
            if next & (pow - 1) == 0 {
                // Its node is in the path now; it begins with the one after.
                stack.leaf = next.wrapping_add(pow) ^ pow;
                stack.nodes.clear();
                self.lows[stack.height as usize] = stack.low();
            }
        }
        for _ in 1..2 * self.stacks.len() {
            let mut urgent = 0;
            for (level, low) in self.lows.iter().enumerate() {
                if *low < self.lows[urgent] {
                    urgent = level;
                }
            }
            if self.lows[urgent] == u32::MAX {
                break;
            }
            self.stacks[urgent].step();
            self.lows[urgent] = self.stacks[urgent].low();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At every leaf each stack has the node that the path needs when its turn comes.
    #[test]
    fn every_path_is_ready_in_time() {
        for height in [1, 2, 5, 10] {
            let mut traversal = Traversal::at(height, 0);
            let mut path: Vec<(u32, u32)> = (0..height).map(|level| (level, 1)).collect();
            for leaf in 0..(1u32 << height) - 1 {
                for level in 0..height {
                    if (leaf + 1) & ((1 << level) - 1) == 0 {
                        path[level as usize] =
                            *traversal.stacks[level as usize].nodes.last().unwrap();
                    }
                }
                traversal.advance(leaf);
                for level in 0..height {
                    let needed = (level, (leaf + 1) >> level ^ 1);
                    assert_eq!(path[level as usize], needed, "leaf {}", leaf + 1);
                }
            }
        }
    }
}
