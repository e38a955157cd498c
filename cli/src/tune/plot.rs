//! A comparison as a drawing (SVG): executions to the first failure or to the end, how costs grow, and traces per second.

use super::cells::{Cell, Figures, Outcome};
use super::show::Comparison;
use crate::problem::Problem;
use intermezzo::foreign;
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

/// The end of a drawing of ours, by which it is told from others.
const MARK: &str = "<!-- drawn by cargo intermezzo tune -->\n";

/// Width of the drawing, and height of each of its charts, in pixels.
const SIZE: (u32, u32) = (1000, 420);

/// How much wider a chart is than its bars: the rest is for the names of the searches.
const ROOM: f64 = 1.25;

type Trouble = Box<dyn Error>;

/// Checks that a drawing may be written there: there is none, or one of ours.
///
/// # Errors
/// There is something else.
pub(crate) fn check_may_write(path: &Path) -> Result<(), Problem> {
    match foreign::read(path) {
        Ok(bytes) if bytes.ends_with(MARK.as_bytes()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::file("look at", path, &error, "give --svg another path")),
        Ok(_) => Err(Problem::usage(format!(
            "{path:?} exists and is no drawing of ours: it is left alone; give --svg another path"
        ))),
    }
}

/// Draws the comparison.
///
/// # Errors
/// The file system refuses.
pub(crate) fn write(path: &Path, comparison: &Comparison) -> Result<(), Problem> {
    check_may_write(path)?;
    let drawing = draw(comparison).map_err(|error| Problem::usage(format!("cannot draw: {error}")))?;
    fs::write(path, drawing + MARK)
        .map_err(|error| Problem::file("write", path, &error, "give --svg a path that can be written"))
}

/// A value of each search on each program; programs are the places on the axis, searches the colours.
struct Bars {
    title: &'static str,
    unit: &'static str,
    value: fn(&Figures) -> Option<f64>,
}

const EXECUTIONS: Bars = Bars {
    title: "executions to the first failure, or to the end",
    unit: "executions",
    value: |figures| Some(figures.to_failure.unwrap_or(figures.executions)),
};

const PACE: Bars = Bars {
    title: "different traces per second",
    unit: "traces/s",
    value: |figures| figures.traces_per_second,
};

fn draw(comparison: &Comparison) -> Result<String, Trouble> {
    let mut charts = vec![&EXECUTIONS];
    if comparison.times {
        charts.push(&PACE);
    }
    let count = charts.len() + usize::from(!comparison.growth.is_empty());
    let mut drawing = String::new();
    {
        let area = SVGBackend::with_string(&mut drawing, (SIZE.0, SIZE.1 * count as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let areas = area.split_evenly((count, 1));
        for (area, bars) in areas.iter().zip(charts) {
            draw_bars(area, bars, &comparison.cells)?;
        }
        if !comparison.growth.is_empty() {
            draw_growth(&areas[count - 1], comparison)?;
        }
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(drawing)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// The different labels of searches, in order: their places in it are their colours.
fn searches(cells: &[Cell]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in cells.iter().map(|cell| cell.search.label()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The range of an axis with powers of ten that holds all values.
fn powers_of_ten(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let most = values.fold(1.0, f64::max);
    (0.5, 10_f64.powf(most.log10().ceil().max(1.0)))
}

fn draw_bars(area: &Area<'_>, bars: &Bars, cells: &[Cell]) -> Result<(), Trouble> {
    let labels = searches(cells);
    let mut programs: Vec<&str> = cells.iter().map(|cell| cell.program.as_str()).collect();
    programs.dedup();
    let value = |cell: &Cell| match &cell.outcome {
        Outcome::Ran(figures) => (bars.value)(figures).filter(|value| *value > 0.0),
        Outcome::Refused(_) => None,
    };
    let (least, most) = powers_of_ten(cells.iter().filter_map(value));
    let mut chart = ChartBuilder::on(area)
        .caption(bars.title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..ROOM * programs.len() as f64, (least..most).log_scale())?;
    let name = |at: &f64| {
        let place = at.floor() as usize;
        let middle = (at.fract() - 0.5).abs() < 0.01;
        if middle {
            programs.get(place).copied().unwrap_or_default().to_owned()
        } else {
            String::new()
        }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels((2.0 * ROOM * programs.len() as f64) as usize + 1)
        .x_label_formatter(&name)
        .y_desc(bars.unit)
        .draw()?;
    let width = 0.8 / labels.len() as f64;
    for (number, label) in labels.iter().enumerate() {
        let colour = Palette99::pick(number).mix(0.9);
        let of_search = cells.iter().filter(|cell| cell.search.label() == *label);
        let boxes = of_search.filter_map(|cell| {
            let place = programs.iter().position(|program| *program == cell.program)? as f64;
            let left = place + 0.1 + width * number as f64;
            Some(Rectangle::new(
                [(left, least), (left + width, value(cell)?)],
                colour.filled(),
            ))
        });
        chart
            .draw_series(boxes)?
            .label(label)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()));
    }
    legend(&mut chart)
}

fn draw_growth(area: &Area<'_>, comparison: &Comparison) -> Result<(), Trouble> {
    let points = || comparison.growth.iter().flat_map(|grown| &grown.executions);
    let (least, most) = powers_of_ten(points().map(|(_, executions)| *executions));
    let from = points().map(|(value, _)| *value).min().unwrap_or(0);
    let to = points().map(|(value, _)| *value).max().unwrap_or(from) + 1;
    let parameter = &comparison.growth[0].parameter;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("executions by {parameter}"), ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(from..to, (least..most).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(parameter)
        .y_desc("executions")
        .draw()?;
    for (number, grown) in comparison.growth.iter().enumerate() {
        let colour = Palette99::pick(number).mix(0.9);
        chart
            .draw_series(LineSeries::new(
                grown.executions.iter().copied(),
                colour.stroke_width(2),
            ))?
            .label(format!("{}, {}", grown.program, grown.search))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 10, y)], colour.stroke_width(2)));
        chart.draw_series(
            grown
                .executions
                .iter()
                .map(|&point| Circle::new(point, 3, colour.filled())),
        )?;
    }
    legend(&mut chart)
}

fn legend<'a, X, Y>(chart: &mut ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>) -> Result<(), Trouble>
where
    X: Ranged,
    Y: Ranged,
{
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()
        .map_err(|error| error.to_string())?;
    Ok(())
}
