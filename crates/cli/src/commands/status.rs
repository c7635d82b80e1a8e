//! `caudal status`: the nodes of a cluster on this machine.

use std::io::Write;
use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::Done;
use crate::cluster::args::{PlaceArgs, StatusArgs};
use crate::cluster::state::Cluster;
use crate::error::{Exit, Failed};

pub fn run(args: StatusArgs) -> Done {
    let cluster = load(&args.place)?;
    writeln!(std::io::stdout().lock(), "{}", table(&cluster))?;
    let lost = cluster.nodes.iter().filter(|node| !node.process.is_alive()).count();
    if lost > 0 {
        let message = format!("{lost} of {} nodes are gone", cluster.nodes.len());
        return Err(Failed::new(Exit::QueryFailed, "CDL-6025", message));
    }
    Ok(())
}

pub fn load(place: &PlaceArgs) -> Result<Cluster, Failed> {
    Cluster::load(&place.dir)?.ok_or_else(|| {
        Failed::usage("CDL-6024", format!("no cluster in {}", place.dir.display()))
            .hint("caudal up starts one; --dir names its folder".to_string())
    })
}

pub fn table(cluster: &Cluster) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["node", "role", "state", "address", "pid", "uptime", "memory"]);
    for node in &cluster.nodes {
        let process = node.process;
        let alive = process.is_alive();
        let memory = process.resident_bytes().filter(|_| alive);
        table.add_row([
            node.name.clone(),
            node.role.to_string(),
            if alive { "up" } else { "gone" }.to_string(),
            node.listen.clone().unwrap_or_default(),
            process.pid.to_string(),
            process.uptime().filter(|_| alive).map(duration).unwrap_or_default(),
            memory.map(|bytes| format!("{} MB", bytes / 1_000_000)).unwrap_or_default(),
        ]);
    }
    for column in [4, 5, 6] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\nbroker {}\nstore  {}", cluster.broker, cluster.store)
}

fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
