//! Limits on resources: `--fail-on spills`, `occupancy:8`, `vgprs:+8`, `code:+5%`, `worse`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Figure, KernelChange, KernelResources, Metric, ResourceDiff, ResourceTable, SpillSource};
use crate::diff::Verdict;
use crate::limit::{self, Operator, Parts};

/// A limit that each kernel must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceLimit {
    text: String,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// A figure on that side of the number is beyond the limit.
    Figure { metric: Metric, operator: Operator, number: f64 },
    /// The figure must be worse than the baseline's by so much at most, or so many per cent of it.
    Growth { metric: Metric, most: f64, percent: bool },
    /// No figure may be worse than the baseline's.
    Worse,
}

/// Not a limit on resources.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0}; a limit is `worse`, `spills`, or one of {list}, with `:` and a number, as in `occupancy:8` or `vgprs:128` (or with <, <=, > or >=), or `:` and how much worse than the baseline's it may be, as in `vgprs:+8`, `occupancy:-1` or `code:+5%`", list = Metric::ALL.map(Metric::name).join(", ")
)]
pub struct ResourceLimitError(String);

impl FromStr for ResourceLimit {
    type Err = ResourceLimitError;

    fn from_str(text: &str) -> Result<Self, ResourceLimitError> {
        let compact: String = text.split_whitespace().collect();
        let rule = match &*compact {
            "worse" => Rule::Worse,
            "spills" => Rule::Figure { metric: Metric::Spills, operator: Operator::Above, number: 0.0 },
            _ => Self::rule(&compact)?,
        };
        Ok(Self { text: compact, rule })
    }
}

impl ResourceLimit {
    fn rule(text: &str) -> Result<Rule, ResourceLimitError> {
        let error = |what: String| Err(ResourceLimitError(what));
        let known = |name: &str| Metric::ALL.into_iter().find(|metric| metric.name() == name);
        let Some(Parts { name, operator, value }) = Parts::of(text) else {
            return match known(text) {
                Some(_) => error(format!("`{text}` has no number")),
                None => error(format!("unknown limit `{text}`")),
            };
        };
        let Some(metric) = known(name) else { return error(format!("unknown limit `{name}`")) };
        let (sign, digits) = match value.split_at_checked(1) {
            Some((sign @ ("+" | "-"), digits)) => (Some(sign), digits),
            _ => (None, value),
        };
        let (digits, percent) = digits.strip_suffix('%').map_or((digits, false), |digits| (digits, true));
        let number = limit::number(digits).filter(|number| *number >= 0.0);
        let Some(number) = number else { return error(format!("`{value}` is not a number")) };
        let worse = if metric.is_better_high() { "-" } else { "+" };
        match (sign, operator) {
            (None, _) if percent => {
                error(format!("`{text}` is a share of nothing: write `{name}:{worse}{digits}%`"))
            }
            (None, _) => {
                let beyond = if metric.is_better_high() { Operator::Below } else { Operator::Above };
                Ok(Rule::Figure { metric, operator: operator.unwrap_or(beyond), number })
            }
            (Some(sign), None) if sign == worse => Ok(Rule::Growth { metric, most: number, percent }),
            (Some(_), None) => {
                error(format!("`{text}` is no limit on what is worse: write `{name}:{worse}{digits}`"))
            }
            (Some(_), Some(_)) => {
                error(format!("`{text}` compares with a change: write `{name}:{worse}{digits}`"))
            }
        }
    }

    /// Whether it can only be told with a baseline.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.rule, Rule::Growth { .. } | Rule::Worse)
    }

    /// Every kernel that does not keep the limit. A figure that is not known does not keep it either; a
    /// kernel that the baseline does not have was never better.
    pub fn check(&self, table: &ResourceTable, diff: Option<&ResourceDiff>) -> Vec<ResourceViolation> {
        let changes = || diff.into_iter().flat_map(|diff| &diff.changes);
        match self.rule {
            Rule::Figure { metric, operator, number } => {
                let told = |kernel: &KernelResources| match metric.of(kernel) {
                    Some(figure) if operator.is_beyond(figure as f64, number) => {
                        Some(metric.counted(figure) + in_code(metric, kernel))
                    }
                    Some(_) => None,
                    None => Some(format!("its {} are not known", metric.unit())),
                };
                let all = table.kernels.iter();
                all.filter_map(|kernel| Some(self.violation(kernel, told(kernel)?))).collect()
            }
            Rule::Growth { metric, most, percent } => {
                let is_beyond = |figure: &Figure| {
                    let Some(by) = figure.worse_by() else { return figure.after.is_none() };
                    let by = by as f64;
                    if percent { 100.0 * by > most * figure.before.unwrap_or(0) as f64 } else { by > most }
                };
                let grown = |change: &KernelChange| {
                    let figure = change.figures.iter().find(|figure| figure.metric == metric)?;
                    is_beyond(figure).then(|| self.violation(&change.kernel, figure.to_string()))
                };
                changes().filter_map(grown).collect()
            }
            Rule::Worse => {
                let worse = changes().filter(|change| change.verdict == Verdict::Worse);
                worse.map(|change| self.violation(&change.kernel, change.figures_told())).collect()
            }
        }
    }

    fn violation(&self, kernel: &KernelResources, what: String) -> ResourceViolation {
        ResourceViolation { limit: self.text.clone(), kernel: kernel.clone(), what }
    }
}

/// What a figure of spills is worth that the compiler did not tell.
fn in_code(metric: Metric, kernel: &KernelResources) -> &'static str {
    let by_code = kernel.spills.is_some_and(|spills| spills.by == SpillSource::Code);
    if metric == Metric::Spills && by_code { " at most, as its code shows" } else { "" }
}

impl fmt::Display for ResourceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A kernel that does not keep a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceViolation {
    /// The limit, as given.
    pub limit: String,
    /// The kernel.
    pub kernel: KernelResources,
    /// Its figure.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Spills;

    fn table(of: &[(&str, u32, u32, Option<u32>)]) -> ResourceTable {
        let kernel = |&(name, vgprs, occupancy, spills): &(&str, u32, u32, Option<u32>)| KernelResources {
            name: name.to_owned(),
            target: "gfx90a".to_owned(),
            vgprs,
            occupancy,
            spills: spills.map(|vgprs| Spills { vgprs, ..Spills::default() }),
            ..KernelResources::default()
        };
        let kernels = of.iter().map(kernel).collect();
        ResourceTable { schema: 1, file: "f".to_owned(), kernels, skipped: Vec::new() }
    }

    /// The messages of a limit, by what the kernels took before and take now.
    fn told(limit: &str, before: &ResourceTable, after: &ResourceTable) -> Vec<String> {
        let diff = ResourceDiff::new(before, after);
        let violations = limit.parse::<ResourceLimit>().expect(limit).check(after, Some(&diff));
        violations.iter().map(ResourceViolation::to_string).collect()
    }

    #[test]
    fn limits_are_kept_or_not() {
        let before = table(&[("a", 40, 8, Some(0)), ("b", 100, 4, Some(3)), ("gone", 1, 8, Some(0))]);
        let after = table(&[("a", 48, 8, Some(0)), ("b", 90, 3, None), ("new", 200, 2, Some(9))]);
        let none: [&str; 0] = [];
        for (limit, messages) in [
            ("vgprs:90", &["new for gfx90a: 200 VGPRs"][..]),
            ("vgprs >= 90", &["b for gfx90a: 90 VGPRs", "new for gfx90a: 200 VGPRs"]),
            ("occupancy:3", &["new for gfx90a: 2 waves a SIMD"]),
            (
                "spills",
                &["b for gfx90a: its spilled registers are not known", "new for gfx90a: 9 spilled registers"],
            ),
            ("vgprs:+8", &none),
            ("vgprs:+7", &["a for gfx90a: 40 -> 48 VGPRs"]),
            ("vgprs:+20%", &none),
            ("vgprs:+19%", &["a for gfx90a: 40 -> 48 VGPRs"]),
            ("occupancy:-1", &none),
            ("occupancy:-0", &["b for gfx90a: 4 -> 3 waves a SIMD"]),
            ("spills:+100", &["b for gfx90a: 3 -> ? spilled registers"]),
            (
                "worse",
                &[
                    "a for gfx90a: 40 -> 48 VGPRs",
                    "b for gfx90a: 3 -> ? spilled registers, 4 -> 3 waves a SIMD, 100 -> 90 VGPRs",
                ],
            ),
        ] {
            assert_eq!(told(limit, &before, &after), messages, "{limit}");
        }
    }

    #[test]
    fn what_is_no_limit_says_how_it_is_written() {
        for (limit, why) in [
            ("speed:3", "unknown limit `speed`"),
            ("vgprs", "`vgprs` has no number"),
            ("vgprs:many", "`many` is not a number"),
            ("vgprs:-3", "write `vgprs:+3`"),
            ("occupancy:+1", "write `occupancy:-1`"),
            ("code:5%", "write `code:+5%`"),
            ("vgprs>+8", "write `vgprs:+8`"),
            ("vgprs:--8", "`--8` is not a number"),
            ("vgprs:", "`` is not a number"),
        ] {
            let error = limit.parse::<ResourceLimit>().expect_err(limit).to_string();
            assert!(error.contains(why), "{limit}: {error}");
        }
    }
}
