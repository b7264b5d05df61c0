//! The Tetralith node: signing ceremonies over libp2p with an HTTP API.
