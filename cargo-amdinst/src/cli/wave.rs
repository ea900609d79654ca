//! `--trace-wave`: a wave of a launch.

use std::str::FromStr;

use amdinst_emu::trace::WaveId;

/// A value of `--trace-wave`: `N`, or `X[,Y[,Z]]:N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveChoice(pub WaveId);

impl FromStr for WaveChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| format!("`{text}` is not a whole number");
        let Some((workgroup, wave)) = text.split_once(':') else {
            return Ok(Self(WaveId::Index(text.parse().map_err(|_| number(text))?)));
        };
        let parts: Vec<&str> = workgroup.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} numbers for a workgroup, at most three are possible", parts.len()));
        }
        let mut at = [0; 3];
        for (place, part) in at.iter_mut().zip(parts) {
            *place = part.parse().map_err(|_| number(part))?;
        }
        Ok(Self(WaveId::Of(at, wave.parse().map_err(|_| number(wave))?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_named_by_index_or_workgroup() {
        assert_eq!("7".parse(), Ok(WaveChoice(WaveId::Index(7))));
        assert_eq!("1:2".parse(), Ok(WaveChoice(WaveId::Of([1, 0, 0], 2))));
        assert_eq!("1,2,3:0".parse(), Ok(WaveChoice(WaveId::Of([1, 2, 3], 0))));
        for wrong in ["", "x", "1:", ":1", "1,2,3,4:0", "-1", "1,,2:0"] {
            assert!(wrong.parse::<WaveChoice>().is_err(), "{wrong}");
        }
    }
}
