//! By which calls a wave has come to an access: an access that is remembered is told with its callers, when
//! another one races with it long after they have returned.
//!
//! Each way to get somewhere by calls is a context, a number. A context and a step are one number again, a
//! site, so that a mark has room for both: the sites of a context are as many as the program has steps, and
//! begin at `first`.

use std::collections::HashMap;

use super::words::Mark;

/// A call from a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Call {
    first: u32,
    step: u32,
}

/// The contexts of a launch. The one whose sites begin at 0 is the kernel itself, and stands for those that
/// there is no number for.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    /// How each came to be, but the kernel itself.
    calls: Vec<Call>,
    numbers: HashMap<Call, u32>,
}

impl Contexts {
    /// The first site of the context behind a call, in a program of so many steps.
    pub(crate) fn enter(&mut self, first: u32, step: u32, steps: usize) -> u32 {
        let call = Call { first, step };
        if let Some(&known) = self.numbers.get(&call) {
            return known;
        }
        let new = (self.calls.len() + 1).saturating_mul(steps);
        if new.saturating_add(steps) > Mark::MAX_SITE as usize {
            return 0;
        }
        self.calls.push(call);
        self.numbers.insert(call, new as u32);
        new as u32
    }

    /// The step of a site, and those of the calls that led to it, the innermost first.
    pub(crate) fn told(&self, site: u32, steps: usize) -> (u32, Vec<u32>) {
        let steps = steps.max(1) as u32;
        let mut context = site / steps;
        let mut calls = Vec::new();
        while let Some(call) = context.checked_sub(1).and_then(|index| self.calls.get(index as usize)) {
            calls.push(call.step);
            context = call.first / steps;
        }
        (site % steps, calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_tells_its_calls() {
        let mut contexts = Contexts::default();
        let outer = contexts.enter(0, 7, 100);
        let inner = contexts.enter(outer, 9, 100);
        assert_eq!(contexts.enter(outer, 9, 100), inner);
        assert_ne!(contexts.enter(0, 9, 100), inner);
        assert_eq!(contexts.told(inner + 42, 100), (42, vec![9, 7]));
        assert_eq!(contexts.told(outer + 99, 100), (99, vec![7]));
        assert_eq!(contexts.told(42, 100), (42, vec![]));
    }

    #[test]
    fn what_a_mark_has_no_room_for_is_told_without_calls() {
        let steps = Mark::MAX_SITE as usize / 3;
        let mut contexts = Contexts::default();
        let first = contexts.enter(0, 1, steps);
        let second = contexts.enter(first, 1, steps);
        assert_eq!([first, second], [steps, 2 * steps].map(|site| site as u32));
        assert_eq!(contexts.enter(second, 1, steps), 0);
    }
}
