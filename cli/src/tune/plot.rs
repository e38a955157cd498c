//! A comparison as a drawing (SVG): executions to the first failure or to the end, the growth of costs, and traces
//! per second.

use super::cells::{Cell, Figures, Outcome};
use super::grow::Grown;
use super::show::Comparison;
use crate::problem::Problem;
use intermezzo::foreign;
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

/// The end of a drawing, by which an earlier one is recognised.
const MARK: &str = "<!-- drawn by cargo intermezzo tune -->\n";

/// Width of the drawing, and height of each of its charts, in pixels.
const SIZE: (u32, u32) = (1000, 420);

/// Width of the area next to a chart, with the names of the searches.
const NAMES: u32 = 190;

/// Colours that colour-blind people distinguish (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(110, 110, 110),
    RGBColor(20, 20, 20),
];

type Trouble = Box<dyn Error>;

/// Checks that a drawing may be written there: there is no file, or an earlier drawing.
///
/// # Errors
/// If there is something else.
pub(crate) fn check_may_write(path: &Path) -> Result<(), Problem> {
    match foreign::read(path) {
        Ok(bytes) if bytes.ends_with(MARK.as_bytes()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Problem::file("access", path, &error, "give --svg another path")),
        Ok(_) => Err(Problem::usage(format!(
            "{path:?} exists and was not drawn by `tune`: it is left alone; give --svg another path"
        ))),
    }
}

/// Draws the comparison.
///
/// # Errors
/// If the file system refuses.
pub(crate) fn write(path: &Path, comparison: &Comparison) -> Result<(), Problem> {
    check_may_write(path)?;
    let drawing = draw(comparison).map_err(|error| Problem::usage(format!("cannot draw: {error}")))?;
    fs::write(path, drawing + MARK)
        .map_err(|error| Problem::file("write", path, &error, "give --svg a path that can be written"))
}

/// A bar chart: a value of each search on each program. Programs are along the axis, and searches have colours.
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
    let grows = !comparison.growth.is_empty();
    // The growth of executions shows everything that bars of them would show.
    let mut charts = Vec::new();
    if !grows {
        charts.push(&EXECUTIONS);
    }
    if comparison.times {
        charts.push(&PACE);
    }
    let count = charts.len() + usize::from(grows);
    let mut drawing = String::new();
    {
        let area = SVGBackend::with_string(&mut drawing, (SIZE.0, SIZE.1 * count as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let areas = area.split_evenly((count, 1));
        for (area, bars) in areas.iter().zip(charts) {
            draw_bars(area, bars, &comparison.cells)?;
        }
        if grows {
            draw_growth(&areas[count - 1], comparison)?;
        }
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(drawing)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Returns the distinct labels of the searches, in order. The index of a label is the number of its colour.
fn searches(cells: &[Cell]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in cells.iter().map(|cell| cell.search.label()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// Returns the range of an axis with powers of ten that holds all values.
fn powers_of_ten(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let most = values.fold(1.0, f64::max);
    (0.5, 10_f64.powf(most.log10().ceil().max(1.0)))
}

/// Returns a colour for each number; after the last they repeat.
fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// Returns the area of a chart, with the names of its colours next to it.
fn beside_names<'a>(area: &Area<'a>, names: &[String]) -> Result<Area<'a>, Trouble> {
    let (chart, beside) = area.split_horizontally(SIZE.0 - NAMES);
    for (number, name) in names.iter().enumerate() {
        let top = 45 + 20 * number as i32;
        let patch = Rectangle::new([(0, top), (12, top + 12)], colour(number).filled());
        beside.draw(&patch).map_err(|error| error.to_string())?;
        let text = Text::new(name.as_str(), (20, top), ("sans-serif", 14));
        beside.draw(&text).map_err(|error| error.to_string())?;
    }
    Ok(chart)
}

/// Returns a count with its digits in groups of three.
fn count(value: &f64) -> String {
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

/// Returns the programs' names, without the program if all of them are one program with different parameters.
fn without_common_name<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    let name = |program: &&'a str| program.split_once(',').map(|(name, _)| name);
    let first = programs.first().and_then(name);
    match first {
        Some(first) if programs.len() > 1 && programs.iter().all(|program| name(program) == Some(first)) => {
            programs
                .iter()
                .map(|program| &program[first.len() + 1..])
                .collect()
        }
        _ => programs.to_vec(),
    }
}

fn draw_bars(area: &Area<'_>, bars: &Bars, cells: &[Cell]) -> Result<(), Trouble> {
    let labels = searches(cells);
    let mut programs: Vec<&str> = cells.iter().map(|cell| cell.program.as_str()).collect();
    programs.dedup();
    let names = without_common_name(&programs);
    let area = &beside_names(area, &labels)?;
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
        .build_cartesian_2d(0.0..programs.len() as f64, (least..most).log_scale())?;
    let name = |at: &f64| {
        let place = at.floor() as usize;
        let middle = (at.fract() - 0.5).abs() < 0.01;
        if middle {
            names.get(place).copied().unwrap_or_default().to_owned()
        } else {
            String::new()
        }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(2 * programs.len() + 1)
        .x_label_formatter(&name)
        .y_label_formatter(&count)
        .y_desc(bars.unit)
        .draw()?;
    let width = 0.8 / labels.len() as f64;
    for (number, label) in labels.iter().enumerate() {
        let of_search = cells.iter().filter(|cell| cell.search.label() == *label);
        let boxes = of_search.filter_map(|cell| {
            let place = programs.iter().position(|program| *program == cell.program)? as f64;
            let left = place + 0.1 + width * number as f64;
            Some(Rectangle::new(
                [(left, least), (left + width, value(cell)?)],
                colour(number).filled(),
            ))
        });
        chart.draw_series(boxes)?;
    }
    Ok(())
}

fn draw_growth(area: &Area<'_>, comparison: &Comparison) -> Result<(), Trouble> {
    let points = || comparison.growth.iter().flat_map(|grown| &grown.executions);
    let (least, most) = powers_of_ten(points().map(|(_, executions)| *executions));
    let from = points().map(|(value, _)| *value).min().unwrap_or(0);
    let to = points()
        .map(|(value, _)| *value)
        .max()
        .unwrap_or(from)
        .max(from + 1);
    let parameter = &comparison.growth[0].parameter;
    let one_program = comparison
        .growth
        .iter()
        .all(|grown| grown.program == comparison.growth[0].program);
    let name = |grown: &Grown| match one_program {
        true => grown.search.clone(),
        false => format!("{}, {}", grown.program, grown.search),
    };
    let names: Vec<String> = comparison.growth.iter().map(name).collect();
    let area = &beside_names(area, &names)?;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("executions by {parameter}"), ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(from..to, (least..most).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(parameter)
        .x_labels((to - from) as usize + 1)
        .y_desc("executions")
        .y_label_formatter(&count)
        .draw()?;
    for (number, grown) in comparison.growth.iter().enumerate() {
        let line = LineSeries::new(grown.executions.iter().copied(), colour(number).stroke_width(2));
        chart.draw_series(line)?;
        // Later dots are smaller, so that both are visible if two searches cost the same.
        let radius = 3 + 2 * (comparison.growth.len() - 1 - number).min(3) as i32;
        let dots = grown
            .executions
            .iter()
            .map(|&point| Circle::new(point, radius, colour(number).filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}
