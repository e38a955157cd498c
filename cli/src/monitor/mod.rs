//! The commands about monitors.

pub(crate) mod check;
pub(crate) mod new;

use crate::args::MonitorListArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::monitors::SHIPPED;
use serde::Serialize;

/// A monitor that ships with intermezzo, in JSON.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: &'static str,
}

/// Lists the monitors that ship with intermezzo.
pub(crate) fn list(args: &MonitorListArgs) -> Result<Exit, Problem> {
    if args.json {
        let listed = SHIPPED.iter().map(|shipped| Listed {
            name: shipped.name,
            about: shipped.about,
        });
        output::json(&listed.collect::<Vec<_>>())?;
    } else {
        let row = |shipped: &intermezzo::monitors::Shipped| vec![shipped.name.into(), shipped.about.into()];
        output::text(&output::table(&SHIPPED.iter().map(row).collect::<Vec<_>>()))?;
    }
    Ok(Exit::Pass)
}
