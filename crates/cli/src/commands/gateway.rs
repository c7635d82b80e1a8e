//! `caudal gateway`: opens a cluster to clients.

use std::path::Path;
use std::time::Duration;

use caudal_core::{codes, limits};
use caudal_gateway::{Owner, Settings, TlsFiles, serve};

use crate::Done;
use crate::cluster::args::GatewayArgs;
use crate::cluster::nodes::{connect, start_log, stop_signal, take_any_place};
use crate::error::{Failed, Told};
use crate::session::runtime;

/// The program that runs, whatever its file is by now: a planner has to be of the same version.
const THIS_PROGRAM: &str = "/proc/self/exe";

pub fn run(args: GatewayArgs) -> Done {
    start_log();
    let stop = stop_signal();
    let mut settings = Settings::new(&args.node.name, args.listen);
    settings.sessions_max = args.sessions as usize;
    settings.grace = Duration::from_secs(args.grace);
    settings.session_max = Duration::from_secs(args.session_max);
    if let Some(shards) = args.shards {
        settings.shards = shards as usize;
    }
    settings.tokens = args.tokens.as_deref().map(read_tokens).transpose()?;
    settings.tls =
        args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
    settings.planner = Some(THIS_PROGRAM.into());
    settings.insecure = args.insecure;
    settings.check_strangers().told()?;
    let runtime = runtime(limits::GATEWAY_THREADS)?;
    let responder = take_any_place(&args.node, &runtime)?;
    runtime.block_on(async {
        let Some((broker, store)) = connect(&args.node, &stop).await? else { return Ok(()) };
        let told = async move {
            stop.above(0).await;
        };
        let bound = |_| {
            if let Some(responder) = &responder {
                responder.set_ready(true);
            }
        };
        serve(settings, broker, store, told, bound).await.told()
    })
}

fn read_tokens(file: &Path) -> Result<Vec<Owner>, Failed> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failed::new(
            codes::NO_TOKENS,
            format!("cannot read the tokens in {}: {error}", file.display()),
        )
    })?;
    let tokens =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tokens: Vec<_> = tokens.map(Owner::of_token).collect();
    if tokens.is_empty() {
        return Err(Failed::new(codes::NO_TOKENS, format!("{} holds no token", file.display()))
            .hint("one a line; without --tokens, any is good".to_string()));
    }
    Ok(tokens)
}
