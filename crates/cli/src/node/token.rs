//! `tetralith node token`: who may ask a node's API for what.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use serde_json::json;
use std::path::PathBuf;
use tetralith_node::folder::Folder;
use tetralith_node::tokens::Role;

/// Makes, lists or removes tokens.
#[derive(clap::Args, Debug)]
pub(crate) struct Token {
    /// The node's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Whose token it is; without a name all tokens are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// What it allows: read, request, approve, admin
    #[arg(long = "role", value_name = "ROLES", value_delimiter = ',', requires = "name")]
    roles: Vec<Role>,
    /// Remove the token of this name
    #[arg(long, requires = "name", conflicts_with = "roles")]
    remove: bool,
}

pub(super) fn run(context: Context, command: &Token) -> Outcome {
    let folder = Folder::new(&command.folder);
    let Some(name) = &command.name else { return list(context, &folder) };
    if command.remove {
        return match folder.remove_token(name)? {
            true => context.answer(format!("removed {name}"), json!({ "name": name })),
            false => {
                Err(Failure::usage("token.unknown", format!("no token has the name {name:?}")))
            }
        };
    }
    if command.roles.is_empty() {
        return Err(Failure::usage("token.roles", "no role is given")
            .hint("give --role read, request, approve or admin, or several with commas"));
    }
    // A mistyped folder would get a file with tokens that no node reads.
    folder.config()?;
    let token = folder.add_token(name, &command.roles, &mut crate::random::system())?;
    context.answer(
        token.as_str().to_owned(),
        json!({ "name": name, "roles": command.roles, "token": token.as_str() }),
    )
}

fn list(context: Context, folder: &Folder) -> Outcome {
    folder.config()?;
    let tokens = folder.tokens()?;
    let line = |name: &str, roles: &[Role]| {
        let roles: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
        format!("{name}  {}", roles.join(","))
    };
    let mut lines = vec![line("api", &[Role::Admin]), line("read", &[Role::Read])];
    lines.extend(tokens.iter().map(|token| line(&token.name, &token.roles)));
    let listed = tokens.iter().map(|token| json!({ "name": token.name, "roles": token.roles }));
    context.answer(lines.join("\n"), json!({ "tokens": listed.collect::<Vec<_>>() }))
}
