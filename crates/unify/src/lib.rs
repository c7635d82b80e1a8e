//! Nothing but dependencies: see Cargo.toml.
