//! The command line of a test program: libtest's, with any number of filters.

use libtest_mimic::Arguments;

/// Options that take a value as the next argument.
const WITH_VALUE: [&str; 7] =
    ["--test-threads", "--logfile", "--skip", "--color", "--format", "-Z", "--shuffle-seed"];

/// Splits off the filters: libtest takes several, libtest-mimic one.
pub(super) fn parse(arguments: impl IntoIterator<Item = String>) -> (Arguments, Vec<String>) {
    let mut filters = Vec::new();
    let mut options = Vec::new();
    let mut arguments = arguments.into_iter();
    options.extend(arguments.next());
    let mut value_follows = false;
    for argument in arguments {
        if value_follows || argument.starts_with('-') {
            value_follows = !value_follows && WITH_VALUE.contains(&argument.as_str());
            options.push(argument);
        } else {
            filters.push(argument);
        }
    }
    (Arguments::from_iter(options), filters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_filters() {
        let argv = ["program", "one", "--test-threads", "2", "--exact", "two", "--skip=x"];
        let (arguments, filters) = parse(argv.map(str::to_owned));
        assert_eq!(filters, ["one", "two"]);
        assert!(arguments.exact);
        assert_eq!(arguments.test_threads, Some(2));
        assert_eq!(arguments.skip, ["x"]);
    }
}
