//! The chart of `bench seed`: slowdowns as bars, one group a kernel.

use std::error::Error;

use plotters::prelude::*;

use super::view::{KernelFigures, SeedView};
use crate::exit::{CommandResult, Exit, OrExit as _};

/// Pixels.
const SIZE: (u32, u32) = (1120, 460);
/// Bars of a group, and their colours (Okabe and Ito's, told apart by everyone).
const BARS: [(&str, RGBColor); 7] = [
    ("register, modeled", RGBColor(0, 114, 178)),
    ("lds, modeled", RGBColor(86, 180, 233)),
    ("global, modeled", RGBColor(0, 158, 115)),
    ("2022 lds, modeled", RGBColor(230, 159, 0)),
    ("2022 lds, measured", RGBColor(240, 228, 66)),
    ("2022 global, modeled", RGBColor(213, 94, 0)),
    ("2022 global, measured", RGBColor(204, 121, 167)),
];
/// Width of a group, in bars: two stay empty.
const GROUP: f64 = BARS.len() as f64 + 2.0;

/// The chart as SVG.
///
/// # Errors
/// When plotters cannot draw it.
pub(super) fn svg(view: &SeedView) -> CommandResult<String> {
    let mut text = String::new();
    draw(view, &mut text).map_err(|error| anyhow::anyhow!("{error}")).or_exit(Exit::OutputFailed)?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn draw(view: &SeedView, text: &mut String) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let worst = view.worst.all().into_iter().fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .caption(
            format!(
                "Slowdown of a wave by what counts its branches ({}; see the legend for what is modeled)",
                view.device
            ),
            ("sans-serif", 16),
        )
        .margin(12)
        .x_label_area_size(28)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..GROUP * view.kernels.len() as f64, 0.0..worst * 1.25)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .x_labels(0)
        .y_desc("times the baseline")
        .y_label_formatter(&|value| format!("{value:.1}"))
        .draw()?;
    for (at, kernel) in view.kernels.iter().enumerate() {
        let middle = (at as f64 + 0.5) * GROUP;
        let style = ("sans-serif", 13).into_font().into_text_style(&area).pos(
            plotters::style::text_anchor::Pos::new(
                plotters::style::text_anchor::HPos::Center,
                plotters::style::text_anchor::VPos::Top,
            ),
        );
        let place = chart.backend_coord(&(middle, 0.0));
        area.draw_text(&kernel.kernel, &style, (place.0, place.1 + 6))?;
        let first = at as f64 * GROUP + 1.0;
        let bars = (0..).zip(BARS).zip(heights(kernel));
        chart.draw_series(bars.map(|((bar, (_, colour)), height)| {
            let left = first + f64::from(bar);
            Rectangle::new([(left, 0.0), (left + 0.9, height)], colour.filled())
        }))?;
    }
    for (label, colour) in BARS {
        let entry = chart.draw_series(std::iter::empty::<Rectangle<(f64, f64)>>())?;
        entry
            .label(label)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 12))
        .draw()?;
    area.present()?;
    Ok(())
}

/// In the order of [`BARS`].
fn heights(kernel: &KernelFigures) -> [f64; 7] {
    let [register, lds, global, seed_lds, seed_global, measured_lds, measured_global] = kernel.slowdowns();
    [register, lds, global, seed_lds, measured_lds, seed_global, measured_global]
}
