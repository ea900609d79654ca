//! The command line of a test program: libtest's, with any number of filters.

use libtest_mimic::{Arguments, Trial};

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

/// Restricts `arguments` to the trials that one of `filters` names, or to all if there are none. They are
/// left as names to skip, so that the others count as filtered out.
pub(super) fn choose(arguments: &mut Arguments, filters: &[String], trials: &[Trial]) {
    let exact = arguments.exact;
    let named = |name: &str| {
        filters.iter().any(|filter| if exact { name == filter } else { name.contains(filter.as_str()) })
    };
    let left_out =
        |trial: &&Trial| arguments.is_filtered_out(trial) || !(filters.is_empty() || named(trial.name()));
    let skip = trials.iter().filter(left_out).map(|trial| trial.name().to_owned()).collect();
    arguments.skip = skip;
    arguments.exact = true;
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

    #[test]
    fn what_no_filter_names_is_filtered_out() {
        let run = |words: &[&str]| {
            let argv = ["program", "--quiet"].iter().chain(words).map(|word| (*word).to_owned());
            let (mut arguments, filters) = parse(argv);
            let names = ["reduce", "reduce_twice", "scan"];
            let trials: Vec<_> = names.into_iter().map(|name| Trial::test(name, || Ok(()))).collect();
            choose(&mut arguments, &filters, &trials);
            let conclusion = libtest_mimic::run(&arguments, trials);
            (conclusion.num_passed, conclusion.num_filtered_out)
        };
        assert_eq!(run(&[]), (3, 0));
        assert_eq!(run(&["reduce"]), (2, 1));
        assert_eq!(run(&["reduce", "--exact"]), (1, 2));
        assert_eq!(run(&["reduce", "scan", "--skip", "twice"]), (2, 1));
        assert_eq!(run(&["--skip", "scan"]), (2, 1));
        assert_eq!(run(&["nothing"]), (0, 3));
    }
}
