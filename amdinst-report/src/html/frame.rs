//! What all pages have: the document around the tables, its look, dark or light, the data for its script.

use serde::Serialize;

const PAGE: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/report.css");
const THEME: &str = include_str!("../../assets/theme.js");

/// A page, of texts that are HTML already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame<'a> {
    /// Its title, which is its heading as well.
    pub(crate) title: &'a str,
    /// What it may load besides nothing, as a policy says it.
    pub(crate) policy: &'a str,
    /// More of its look.
    pub(crate) style: &'a str,
    /// What it shows.
    pub(crate) main: &'a str,
    /// What stands behind that.
    pub(crate) beside: &'a str,
    /// What its figures mean.
    pub(crate) footer: &'a str,
    /// Its script.
    pub(crate) script: &'a str,
}

impl Frame<'_> {
    /// The document. The script finds `data` in the element `data`, as JSON.
    ///
    /// # Errors
    /// Data that JSON cannot hold.
    pub(crate) fn with(&self, data: &impl Serialize) -> std::io::Result<String> {
        let Self { title, policy, style, main, beside, footer, script } = *self;
        // Nothing in the data may end the element that it stands in, or begin a comment there.
        let data = amdinst_text::json::to_string_shown(data)?.replace('<', "\\u003c");
        Ok(fill(
            PAGE,
            &[
                ("title", title),
                ("policy", policy),
                ("style", &format!("{STYLE}{style}")),
                ("main", main),
                ("beside", beside),
                ("footer", footer),
                ("data", &data),
                ("script", &format!("{script}{THEME}")),
            ],
        ))
    }
}

/// Puts values into a template, each where `{{name}}` stands. A value is not looked through again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut text = String::with_capacity(template.len() + length);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            text.push_str("{{");
            rest = after;
            continue;
        };
        text.extend(values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Text as it may stand in a page, in quotes as well.
pub(crate) fn escape(text: &str) -> String {
    amdinst_text::shown(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        assert_eq!(fill("a {{x}} b {{y}} {{z}}c {{", &[("x", "{{y}}"), ("y", "2")]), "a {{y}} b 2 c {{");
    }

    #[test]
    fn the_page_has_its_places() {
        let places = ["policy", "style", "main", "beside", "footer", "data", "script"];
        for (name, places) in places.map(|name| (name, 1)).into_iter().chain([("title", 2)]) {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), places, "{name}");
        }
        // What would end the element it stands in.
        assert!(!THEME.contains("</script") && !STYLE.contains("</style"));
    }
}
