//! The page of a node: static files in the program, which need no token and hold no secret.
//!
//! The page asks for the token, keeps it in the tab and shows it to this node's API. A strict policy lets
//! the browser load nothing from elsewhere and run nothing that is not one of these files.

use super::Api;
use axum::Router;
use axum::http::{HeaderName, header};
use axum::routing::get;

/// Path, media type and content of each file.
const FILES: [(&str, &str, &str); 7] = [
    ("/", "text/html; charset=utf-8", include_str!("../screen/index.html")),
    ("/screen/screen.css", "text/css", include_str!("../screen/screen.css")),
    ("/screen/screen.js", "text/javascript", include_str!("../screen/screen.js")),
    ("/screen/api.js", "text/javascript", include_str!("../screen/api.js")),
    ("/screen/elements.js", "text/javascript", include_str!("../screen/elements.js")),
    ("/screen/timeline.js", "text/javascript", include_str!("../screen/timeline.js")),
    ("/screen/icon.svg", "image/svg+xml", include_str!("../screen/icon.svg")),
];

pub(super) const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    // A node that is upgraded serves another page.
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The routes of the page.
pub(super) fn routes() -> Router<Api> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, content)| {
        router.route(
            path,
            get(move || async move { ([(header::CONTENT_TYPE, kind)], HEADERS, content) }),
        )
    })
}

/// The paths of the page's files.
#[cfg(test)]
pub(super) fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _, _)| *path)
}
