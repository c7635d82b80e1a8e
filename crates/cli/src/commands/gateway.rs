//! `caudal gateway`: opens a cluster to clients.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use caudal_core::Coded;
use caudal_gateway::{Owner, Settings, TlsFiles, serve};

use crate::Done;
use crate::cluster::args::GatewayArgs;
use crate::cluster::nodes::{connect, start_log, stop_signal, take_place};
use crate::error::Failed;
use crate::local::runtime;

/// Decoding, checking and passing on; the work is the workers'.
const THREADS: usize = 2;

pub fn run(args: GatewayArgs) -> Done {
    give_back_freed_memory();
    start_log();
    let stop = stop_signal();
    let mut settings = Settings::new(&args.node.name, args.listen);
    settings.sessions_max = args.sessions as usize;
    settings.grace = Duration::from_secs(args.grace);
    if let Some(shards) = args.shards {
        settings.shards = shards as usize;
    }
    settings.tokens = args.tokens.as_deref().map(read_tokens).transpose()?;
    settings.tls =
        args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    let runtime = runtime(THREADS)?;
    let heart = take_place(&args.node, &runtime)?;
    runtime.block_on(async {
        let (broker, store) = connect(&args.node).await?;
        let told = async move {
            stop.above(0).await;
        };
        let bound = |_| {
            if let Some(heart) = &heart {
                heart.is_ready();
            }
        };
        let served = serve(settings, broker, store, told, bound).await;
        served.map_err(|error| Failed::usage(error.code(), &error).hint(error.hint()))
    })
}

fn read_tokens(file: &Path) -> Result<Vec<Owner>, Failed> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failed::usage("CDL-6026", format!("cannot read the tokens in {}: {error}", file.display()))
    })?;
    let tokens =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<_> = tokens.map(Owner::of_token).collect();
    if tokens.is_empty() {
        return Err(Failed::usage("CDL-6026", format!("{} holds no token", file.display()))
            .hint("one a line; without --tokens, any is good".to_string()));
    }
    Ok(tokens)
}

/// What a gateway has passed on it gives back to the system at once: the allocator keeps it otherwise, until
/// somebody allocates again, and a gateway that waits for slow workers holds on to all that it ever had in
/// hand. The allocator reads this before `main`, so the process begins anew, as the one it is.
fn give_back_freed_memory() {
    const OPTIONS: [&str; 2] = ["MIMALLOC_PURGE_DELAY", "MIMALLOC_ARENA_EAGER_COMMIT"];
    if OPTIONS.iter().all(|option| std::env::var_os(option).is_some()) {
        return;
    }
    let mut words = std::env::args_os();
    let mut again = Command::new("/proc/self/exe");
    again.arg0(words.next().unwrap_or_else(|| "caudal".into())).args(words);
    for option in OPTIONS.iter().filter(|option| std::env::var_os(option).is_none()) {
        again.env(option, "0");
    }
    // Only returns if it cannot be done; then it takes more memory.
    let _ = again.exec();
}
