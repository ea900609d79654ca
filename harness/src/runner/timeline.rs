//! When each wave of a test's launches ran, as files for viewers of traces.

use std::fs;
use std::path::Path;

use super::junit::program;
use super::recorder::Timed;

/// Writes a trace of each launch of a test whose waves were kept into `directory`, and forgets them.
pub(super) fn write(directory: &Path, test: &str, launches: &mut [Timed]) -> Result<(), String> {
    let count = launches.len();
    for (index, launch) in launches.iter_mut().enumerate() {
        let Some(trace) = launch.timeline.take() else { continue };
        let path = directory.join(file_name(&program(), test, index + 1, count, &launch.told.kernel));
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, trace + "\n"))
            .map_err(|error| format!("the timeline cannot be written: {}: {error}", path.display()))?;
    }
    Ok(())
}

/// The file of a test's launch `number`, from 1, of `count`: sorted by name, launches are in their order.
fn file_name(program: &str, test: &str, number: usize, count: usize, kernel: &str) -> String {
    let width = count.to_string().len();
    format!("{program}.{}.{number:0width$}.{kernel}.json", test.replace("::", "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_the_order_of_launches() {
        let names: Vec<String> =
            (1..=12).map(|number| file_name("kernels", "scan::tail", number, 12, "scan")).collect();
        assert_eq!(names[0], "kernels.scan.tail.01.scan.json");
        assert!(names.is_sorted());
        assert_eq!(file_name("kernels", "tail", 1, 1, "scan"), "kernels.tail.1.scan.json");
    }
}
