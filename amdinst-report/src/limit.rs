//! How a limit is written: the name of a metric, an operator, a value.

/// A comparison that says which figures are beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// The longer ones first: each begins with a shorter one.
const OPERATORS: [(&str, Operator); 4] =
    [(">=", Operator::AtLeast), ("<=", Operator::AtMost), (">", Operator::Above), ("<", Operator::Below)];

/// Stands for the operator on whose side a metric is worse: `diverged:5%` is `diverged>5%`, and needs no
/// quotes in a shell.
const LIMIT: &str = ":";

impl Operator {
    /// Whether a figure is beyond the limit.
    pub(crate) fn is_beyond(self, figure: f64, limit: f64) -> bool {
        match self {
            Self::Above => figure > limit,
            Self::AtLeast => figure >= limit,
            Self::Below => figure < limit,
            Self::AtMost => figure <= limit,
        }
    }
}

/// A limit in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    pub(crate) name: &'a str,
    /// The operator; `None` for `:`.
    pub(crate) operator: Option<Operator>,
    pub(crate) value: &'a str,
}

impl<'a> Parts<'a> {
    /// The parts of a text without spaces; `None` if there is no operator in it.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let written = OPERATORS.iter().map(|&(sign, operator)| (sign, Some(operator)));
        written.chain([(LIMIT, None)]).find_map(|(sign, operator)| {
            let (name, value) = text.split_once(sign)?;
            Some(Self { name, operator, value })
        })
    }
}

/// A finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}
