//! The calls that a wave has not returned from, so that a fault can say how its instruction was reached.
//!
//! A stack cannot be read off memory: LLVM writes no rules of unwinding for this target (a `.debug_frame` of
//! empty entries), and a return address may be in any SGPR or in a lane of a VGPR. The emulator sees each
//! call, so it notes them.
//!
//! A jump to the instruction behind a call returns from it. Other jumps (long branches, calls in tail
//! position, which reuse their caller's return address) change nothing.

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Number of the call's step.
    step: u32,
    /// [`Calls::first_site`] before it.
    first_site: u32,
}

/// The calls that a wave is in.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The outermost first.
    open: Vec<Call>,
    /// What the steps that they have led to are numbered from, where accesses are remembered
    /// (`races::Contexts`); else 0.
    first_site: u32,
}

/// Calls that are remembered of a wave, at most: of a program that never returns, the innermost ones.
const MOST: usize = 1 << 12;

impl Calls {
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.first_site = 0;
    }

    /// A step calls a function; what that one's steps are numbered from is `first_site`.
    pub(crate) fn enter(&mut self, step: u32, first_site: u32) {
        if self.open.len() == MOST {
            self.open.drain(..MOST / 2);
        }
        self.open.push(Call { step, first_site: self.first_site });
        self.first_site = first_site;
    }

    /// A jump to a step that is not part of its own instruction.
    pub(crate) fn jump(&mut self, to: u32) {
        if let Some(call) = self.open.last()
            && call.step + 1 == to
        {
            self.first_site = call.first_site;
            self.open.pop();
        } else {
            self.leave_several(to);
        }
    }

    /// A jump that is no return from the innermost call: from several at a time, or no return.
    #[cold]
    fn leave_several(&mut self, to: u32) {
        if let Some(left) = self.open.iter().rposition(|call| call.step + 1 == to) {
            self.first_site = self.open[left].first_site;
            self.open.truncate(left);
        }
    }

    pub(crate) fn first_site(&self) -> u32 {
        self.first_site
    }

    /// The steps of the calls, the innermost first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = u32> {
        self.open.iter().rev().map(|call| call.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(calls: &Calls) -> Vec<u32> {
        calls.steps().collect()
    }

    #[test]
    fn a_return_ends_its_call() {
        let mut calls = Calls::default();
        calls.enter(5, 1);
        calls.enter(20, 2);
        // A long branch, and a call in tail position.
        calls.jump(77);
        assert_eq!((steps(&calls), calls.first_site()), (vec![20, 5], 2));
        calls.jump(21);
        assert_eq!((steps(&calls), calls.first_site()), (vec![5], 1));
        calls.jump(6);
        assert_eq!((steps(&calls), calls.first_site()), (vec![], 0));
        calls.jump(6);
        assert_eq!(steps(&calls), Vec::<u32>::new());
    }

    #[test]
    fn a_return_past_calls_ends_them_too() {
        let mut calls = Calls::default();
        for step in [5, 20, 30] {
            calls.enter(step, step);
        }
        calls.jump(6);
        assert_eq!((steps(&calls), calls.first_site()), (vec![], 0));
    }

    #[test]
    fn recursion_returns_one_call_at_a_time() {
        let mut calls = Calls::default();
        for _ in 0..3 {
            calls.enter(9, 1);
        }
        calls.jump(10);
        assert_eq!(steps(&calls), [9, 9]);
    }

    #[test]
    fn without_end_the_innermost_are_kept() {
        let mut calls = Calls::default();
        for step in 0..3 * MOST as u32 {
            calls.enter(step, 0);
        }
        let kept = steps(&calls);
        assert!((MOST / 2..=MOST).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept[..2], [3 * MOST as u32 - 1, 3 * MOST as u32 - 2]);
    }
}
