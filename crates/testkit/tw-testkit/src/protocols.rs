//! The two protocols that published experiments with queries run on, as simulators: the same trace for the same seed.

use std::collections::VecDeque;

/// The generator of the simulators: `x := x·6364136223846793005 + 1442695040888963407`.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// MUX-SEM, mutual exclusion with a semaphore: at each position the locations of the two processes, and the semaphore.
pub fn semaphore(len: usize, seed: u64) -> Vec<(u8, u8, i64)> {
    let (mut draw, mut at, mut r) = (Draw(seed), [0u8, 0], 1);
    let mut states = Vec::with_capacity(len);
    for _ in 0..len {
        states.push((at[0], at[1], r));
        let mut process = draw.next(2) as usize;
        if at[process] == 2 && r == 0 {
            process = 1 - process;
        }
        match at[process] {
            2 => r -= 1,
            4 => r += 1,
            _ => {}
        }
        at[process] = if at[process] == 4 { 1 } else { at[process] + 1 };
    }
    states
}

/// ABP, the alternating bit protocol over channels that lose so many messages in a hundred: at each position the
/// locations of sender and receiver.
pub fn alternating_bit(len: usize, loss: u64, seed: u64) -> Vec<(u8, u8)> {
    let mut draw = Draw(seed);
    let (mut l, mut m, mut wait) = (0u8, 0u8, 0);
    let (mut data, mut acks) = (VecDeque::new(), VecDeque::new());
    let (mut seq, mut ack, mut timeout) = (true, false, false);
    let (mut received, mut expected) = (false, true);
    let mut states = Vec::with_capacity(len);
    for _ in 0..len {
        states.push((l, m));
        let sender = !(l == 2 && acks.is_empty() && wait < 5);
        let receiver = !(m == 1 && data.is_empty());
        let choice = draw.next(2);
        if l == 2 {
            wait += 1;
        }
        let sends = match (choice, sender, receiver) {
            (_, false, false) => continue,
            (0, true, _) | (1, true, false) => true,
            _ => false,
        };
        if sends {
            l = match l {
                1 => {
                    if draw.next(100) >= loss {
                        data.push_back(seq);
                    }
                    wait = 0;
                    2
                }
                2 => {
                    match acks.pop_front() {
                        Some(found) => ack = found,
                        None => timeout = true,
                    }
                    5
                }
                5 if !timeout && ack == seq => 6,
                5 => 7,
                6 => {
                    seq = !seq;
                    7
                }
                7 => {
                    timeout = false;
                    1
                }
                other => other + 1,
            };
        } else {
            m = match m {
                1 => {
                    received = data.pop_front().unwrap_or(received);
                    2
                }
                2 if received == expected => 3,
                2 => 4,
                3 => {
                    expected = !expected;
                    4
                }
                4 => {
                    if draw.next(100) >= loss {
                        acks.push_back(received);
                    }
                    1
                }
                other => other + 1,
            };
        }
    }
    states
}
