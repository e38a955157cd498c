//! `tune`: searches compared on programs, as a table, as a drawing, and with advice.

mod advice;
mod bugs;
mod cells;
mod grow;
mod halving;
mod matrix;
mod plot;
mod run;
mod search;
mod show;
mod store;
mod work;

use crate::args::TuneArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use grow::Growth;
use matrix::Matrix;
use show::Comparison;
use store::Store;

/// Compares searches.
pub(crate) fn run(args: &TuneArgs) -> Result<Exit, Problem> {
    let growth = args.grow.as_deref().map(Growth::parse).transpose()?;
    let matrix = match &args.test {
        Some(cargo) => Matrix::of_tests(args, cargo)?,
        None if args.bugs => bugs::matrix(args)?,
        None => Matrix::of_programs(args, growth.as_ref())?,
    };
    if let Some(path) = &args.svg {
        // Checked now rather than after long searches.
        plot::check_may_write(path)?;
    }
    let store = match &args.out {
        Some(directory) => Store::open(directory, &matrix)?,
        None => Store::in_memory(),
    };
    let items = match matrix.halving {
        true => halving::run(&matrix, store, args.time())?,
        false => work::run(&matrix, store)?,
    };
    let cells = cells::of(&matrix, &items, !args.no_times);
    let comparison = Comparison {
        growth: growth.map_or_else(Vec::new, |growth| growth.of(&cells, matrix.searches.len())),
        advice: advice::of(&cells, matrix.programs.are_tests()),
        cells,
        times: !args.no_times,
    };
    if let Some(path) = &args.svg {
        plot::write(path, &comparison)?;
    }
    if args.json {
        output::json(&comparison)?;
    } else if args.csv {
        output::raw(&comparison.csv()?)?;
    } else if args.bugs {
        output::text(&bugs::page(&matrix, &comparison.cells, &items))?;
    } else {
        output::text(&comparison.text())?;
    }
    Ok(Exit::Pass)
}
