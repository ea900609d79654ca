//! What became of code objects, added up.

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{
    Counters, InstrumentError, Options as Instrument, Probe, Reason, apply, plan,
};
use amdinst_core::report::cover;

use super::check::Checker;

/// What became of the code objects of a collection and processor with counters in one home.
#[derive(Debug, Default)]
pub(super) struct Tally {
    objects: usize,
    /// Bytes of their `.text`.
    text: usize,
    kernels: usize,
    /// Kernels with counters, by home.
    homes: BTreeMap<&'static str, usize>,
    without_sites: usize,
    refused_kernels: usize,
    sites: usize,
    counted: usize,
    /// Writes of EXEC that may be branches.
    unclassified: usize,
    /// Kernels and branches that were refused, by reason.
    refusals: BTreeMap<(bool, Reason), usize>,
    /// Branches that are not counted because whole kernels were refused, by reason.
    lost: BTreeMap<Reason, usize>,
    /// Writes of EXEC that are no branch, by what they are.
    others: BTreeMap<String, usize>,
    examples: BTreeMap<Reason, Vec<String>>,
    /// Code objects that were refused as a whole, or came out wrong.
    failures: Vec<String>,
    /// Kernels of which each instruction is in exactly one block.
    covered: usize,
    /// Instrumented code objects that LLVM's tools were shown, and found nothing wrong with.
    checked: usize,
}

impl Tally {
    /// Instruments a code object with counters in a home, keeps at most `show` examples of a refusal, and has
    /// the result checked.
    pub(super) fn add(
        &mut self,
        object: &CodeObject,
        name: &str,
        counters: Counters,
        show: usize,
        checker: Option<&Checker>,
    ) {
        self.objects += 1;
        self.text += object.text.range.len();
        let plan = match plan(object, &Instrument { counters, ..Instrument::default() }) {
            Ok(plan) => plan,
            Err(error) => return self.failures.push(format!("{name}: {error}")),
        };
        let (mut sites, mut counted, mut others, mut refused) =
            (BTreeSet::new(), BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut lost = BTreeMap::new();
        for kernel in plan.kernels() {
            self.kernels += 1;
            let pcs = kernel.sites.iter().map(|site| site.pc);
            sites.extend(pcs.clone());
            match kernel.home {
                Some(home) => {
                    *self.homes.entry(home.name()).or_default() += 1;
                    counted.extend(pcs);
                }
                None if kernel.refusals.iter().any(|refusal| refusal.pc.is_none()) => {
                    self.refused_kernels += 1
                }
                None => self.without_sites += 1,
            }
            others.extend(kernel.exec_writes.iter().map(|write| (write.pc, write.class)));
            for refusal in &kernel.refusals {
                match refusal.pc {
                    Some(pc) => _ = refused.insert(pc, refusal.reason),
                    None => {
                        *self.refusals.entry((true, refusal.reason)).or_default() += 1;
                        lost.extend(kernel.sites.iter().map(|site| (site.pc, refusal.reason)));
                    }
                }
                let examples = self.examples.entry(refusal.reason).or_default();
                if examples.len() < show {
                    let at = refusal.pc.map(|pc| format!(" at {pc:#x}")).unwrap_or_default();
                    examples.push(format!("{name}: {}{at}: {}", kernel.name, refusal.detail));
                }
            }
        }
        for (pc, reason) in refused {
            *self.refusals.entry((false, reason)).or_default() += 1;
            let is_known = reason != Reason::UnclassifiedNarrowing;
            self.unclassified += usize::from(!is_known);
            if is_known {
                sites.insert(pc);
            }
        }
        for (_, reason) in lost.into_iter().filter(|(pc, _)| !counted.contains(pc)) {
            *self.lost.entry(reason).or_default() += 1;
        }
        for class in others.into_values() {
            *self.others.entry(format!("{class:?}")).or_default() += 1;
        }
        self.sites += sites.len();
        self.counted += counted.len();
        if checker.is_some() {
            self.cover(object, name);
        }
        match apply(object, plan) {
            Ok(instrumented) => match checker.map(|checker| checker.check(instrumented.bytes.to_vec())) {
                None => {}
                Some(Ok(())) => self.checked += 1,
                Some(Err(error)) => {
                    self.failures.push(format!("{name}: the instrumented code object: {error:#}"));
                }
            },
            Err(InstrumentError::NothingInstrumented(_)) => {}
            Err(error) => self.failures.push(format!("{name}: {error}")),
        }
    }

    /// Looks whether each instruction is in exactly one of the blocks that could be counted.
    fn cover(&mut self, object: &CodeObject, name: &str) {
        let options =
            Instrument { probe: Probe::Blocks, counters: Counters::Global, ..Instrument::default() };
        match plan(object, &options) {
            Ok(plan) => {
                for kernel in plan.kernels().iter().filter(|kernel| kernel.is_instrumented()) {
                    let faults = cover::faults(object, kernel);
                    self.failures.extend(
                        faults.first().map(|fault| format!("{name}: blocks of {}: {fault}", kernel.name)),
                    );
                    self.covered += usize::from(faults.is_empty() && kernel.refusals.is_empty());
                }
            }
            Err(error) => self.failures.push(format!("{name}: blocks: {error}")),
        }
    }

    /// Notes a code object that cannot be read.
    pub(super) fn refuse(&mut self, problem: String) {
        self.failures.push(problem);
    }

    /// Adds what became of other code objects.
    pub(super) fn merge(&mut self, other: Self) {
        self.objects += other.objects;
        self.text += other.text;
        self.kernels += other.kernels;
        self.without_sites += other.without_sites;
        self.refused_kernels += other.refused_kernels;
        self.sites += other.sites;
        self.counted += other.counted;
        self.unclassified += other.unclassified;
        add(&mut self.homes, other.homes);
        add(&mut self.refusals, other.refusals);
        add(&mut self.others, other.others);
        add(&mut self.lost, other.lost);
        for (reason, examples) in other.examples {
            self.examples.entry(reason).or_default().extend(examples);
        }
        self.failures.extend(other.failures);
        self.covered += other.covered;
        self.checked += other.checked;
    }

    /// Whether every code object could be instrumented, and came out right.
    pub(super) fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }

    /// Brings what threads found in any order into one.
    pub(super) fn sort(&mut self) {
        self.failures.sort();
        self.examples.values_mut().for_each(|examples| examples.sort());
    }

    /// The columns of [`Tally::row`].
    pub(super) const COLUMNS: &str = "objects  MB text  kernels  instrumented  no branch  refused  \
        narrowings  counted   share %  checked  in one block";

    /// What was refused as a whole, or came out wrong.
    pub(super) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Kernels, those of them that have a branch, and the branches.
    pub(super) fn sizes(&self) -> [usize; 3] {
        [self.kernels, self.kernels - self.without_sites, self.sites + self.unclassified]
    }

    /// Branches that are counted, in per cent.
    pub(super) fn share(&self) -> f64 {
        100.0 * self.counted as f64 / (self.sites + self.unclassified).max(1) as f64
    }

    /// By reason: kernels that were refused, branches that are not counted for it, and an example.
    pub(super) fn losses(&self) -> BTreeMap<Reason, (usize, usize, &str)> {
        let mut losses: BTreeMap<Reason, (usize, usize, &str)> = BTreeMap::new();
        for (&(is_kernel, reason), &count) in &self.refusals {
            let loss = losses.entry(reason).or_default();
            *(if is_kernel { &mut loss.0 } else { &mut loss.1 }) += count;
        }
        for (&reason, &count) in &self.lost {
            losses.entry(reason).or_default().1 += count;
        }
        for (reason, loss) in &mut losses {
            loss.2 =
                self.examples.get(reason).and_then(|examples| examples.first()).map_or("", String::as_str);
        }
        losses
    }

    /// One line of the table.
    pub(super) fn row(&self) -> String {
        let (all, share) = (self.sites + self.unclassified, self.share());
        format!(
            "{:>7} {:>8.1} {:>8} {:>13} {:>10} {:>8} {all:>11} {:>8} {share:>9.3} {:>8} {:>13}",
            self.objects,
            self.text as f64 / 1e6,
            self.kernels,
            self.homes.values().sum::<usize>(),
            self.without_sites,
            self.refused_kernels,
            self.counted,
            self.checked,
            self.covered
        )
    }

    /// What the table has no room for: the homes taken, other writes of EXEC, every refusal by reason, and
    /// examples.
    pub(super) fn print_details(&self, title: &str, show: usize) {
        println!("{title}: homes {:?}; other writes of EXEC: {:?}", self.homes, self.others);
        for ((is_kernel, reason), count) in &self.refusals {
            let what = if *is_kernel { "kernels" } else { "branches" };
            println!("{title}: refused: {count} {what}: {reason:?}");
        }
        for (reason, examples) in &self.examples {
            for example in examples.iter().take(show) {
                println!("    {reason:?}: {example}");
            }
        }
        for failure in &self.failures {
            println!("{title}: NOT INSTRUMENTED, OR WRONG: {failure}");
        }
    }
}

fn add<K: Ord>(to: &mut BTreeMap<K, usize>, from: BTreeMap<K, usize>) {
    for (key, count) in from {
        *to.entry(key).or_default() += count;
    }
}
