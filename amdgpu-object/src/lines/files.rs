//! The paths of source files.

use std::sync::Arc;

use gimli::LineProgramHeader;

use super::sections::{Slice, Units};

/// The paths of the files of all units, each composed when it is first asked for.
pub(super) struct Files {
    /// By number; number 0 is the empty path, of what the table does not have.
    paths: Vec<Arc<str>>,
    /// By unit, and by number in its table: the number here, 0 until it is asked for.
    numbers: Vec<Vec<u32>>,
}

impl Files {
    pub(super) fn new(units: &Units<'_>) -> Self {
        // Numbers in a unit begin with 0 or 1.
        let numbers = units.units.iter().map(|unit| {
            let program = unit.line_program.as_ref();
            vec![0; program.map_or(0, |program| program.header().file_names().len() + 1)]
        });
        Self { paths: vec![Arc::from("")], numbers: numbers.collect() }
    }

    /// The number of a file of a unit.
    pub(super) fn number<'a>(
        &mut self,
        units: &Units<'a>,
        unit: usize,
        header: &LineProgramHeader<Slice<'a>>,
        file: u64,
    ) -> u32 {
        let place = usize::try_from(file).ok().and_then(|file| self.numbers[unit].get_mut(file));
        let Some(number) = place else { return 0 };
        if *number == 0
            && let Some(path) = compose(units, unit, header, file)
        {
            *number = self.paths.len() as u32;
            self.paths.push(Arc::from(path));
        }
        *number
    }

    /// By number.
    pub(super) fn into_paths(self) -> Vec<Arc<str>> {
        self.paths
    }
}

fn compose<'a>(
    units: &Units<'a>,
    unit: usize,
    header: &LineProgramHeader<Slice<'a>>,
    file: u64,
) -> Option<String> {
    let entry = header.file(file)?;
    let name = units.text(unit, entry.path_name())?;
    let mut path = String::new();
    let compilation =
        units.units[unit].comp_dir.as_ref().map(|directory| amdinst_text::name(directory.slice()));
    let directory = entry.directory(header).and_then(|directory| units.text(unit, directory));
    for part in [compilation.as_deref(), directory.as_deref(), Some(&*name)].into_iter().flatten() {
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    Some(path)
}
