//! `status`, `reserve` and `restore`.

use super::store;
use crate::context::Context;
use crate::failure::Outcome;
use serde_json::json;
use std::path::PathBuf;
use store::StoreArgs;
use tetralith_xmss::state;

/// Arguments of `status`.
#[derive(clap::Args, Debug)]
pub(crate) struct Status {
    /// The key file
    key: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// Arguments of `reserve`.
#[derive(clap::Args, Debug)]
pub(crate) struct Reserve {
    /// The key file
    key: PathBuf,
    /// How many indices
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    #[command(flatten)]
    store: StoreArgs,
}

/// Arguments of `restore`.
#[derive(clap::Args, Debug)]
pub(crate) struct Restore {
    /// The key file
    key: PathBuf,
    /// The first index to use: above every index that any copy of this key may have used
    #[arg(long, value_name = "INDEX")]
    resume_at: u64,
    /// The index after the last to use, where only a range of them is for this place: one past the end of
    /// what reserve handed out
    #[arg(long, value_name = "INDEX")]
    until: Option<u64>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Shows how the indices are spent.
pub(crate) fn status(context: Context, arguments: Status) -> Outcome {
    let keyring = arguments.store.keyring(&arguments.key)?;
    let public = keyring.public_key();
    let found = keyring.status()?;
    let status = found.status;
    warn(context, &status);
    let refused = found.refused.map(|error| store::failure(&error));
    if let Some(refused) = &refused {
        let text = format!("warning: signing is refused: {}", refused.message);
        context.event("state.refused", text, json!({ "code": refused.code, "hint": refused.hint }));
    }
    let rate = rate(&status, store::now());
    let end =
        rate.map(|rate| store::now().saturating_add((status.left as f64 / rate * 86400.0) as u64));
    let mut text = format!(
        "{}: {} of {} left\nused {}\nlost {}\nleased {}\nskipped {}\nnext {}",
        public.params(),
        status.left,
        status.limit,
        status.used,
        status.lost,
        status.leased,
        status.skipped,
        status.next,
    );
    if status.until < status.limit {
        text += &format!("\nends before {}", status.until);
    }
    match (rate, end) {
        (Some(rate), Some(end)) => {
            text += &format!("\nrate {rate:.1} a day, exhausted on {}", date(end));
        }
        _ if status.next > status.skipped => text += "\nrate not known in the first hour",
        _ => {}
    }
    if let Some(refused) = &refused {
        text += &format!("\nrefused {}", refused.code);
    }
    for lease in &status.leases {
        text += &format!(
            "\nlease {} of {} to {}, since {}, by {}",
            lease.fencing,
            lease.from,
            lease.end - 1,
            date(lease.at),
            lease.holder,
        );
    }
    let lease = |lease: &state::OpenLease| {
        json!({ "first": lease.from, "last": lease.end - 1, "fencing": lease.fencing,
                "at": lease.at, "holder": lease.holder.to_string() })
    };
    let leases: Vec<_> = status.leases.iter().map(lease).collect();
    context.answer(
        text,
        json!({
            "params": public.params().to_string(), "limit": status.limit, "left": status.left,
            "used": status.used, "lost": status.lost, "leased": status.leased,
            "skipped": status.skipped, "next": status.next, "until": status.until,
            "epoch": status.epoch, "per_day": rate, "exhausted_at": end, "leases": leases,
            "refused": refused.map(|refused| json!({
                "code": refused.code, "message": refused.message, "hint": refused.hint,
            })),
        }),
    )
}

/// Indices spent a day, over the state's whole life of at least an hour.
fn rate(status: &state::Status, now: u64) -> Option<f64> {
    let spent = status.next - status.skipped;
    let age = now.checked_sub(status.created).filter(|age| *age >= 3600)?;
    (spent > 0).then(|| spent as f64 / age as f64 * 86400.0)
}

/// A day of the Gregorian calendar, from seconds since 1970.
fn date(seconds: u64) -> String {
    let mut day = seconds / 86400;
    let mut year = 1970;
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
        if year > 9999 {
            return "a day after 9999".into();
        }
    }
    let february = 28 + u64::from(leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

/// Warns where a key comes to its end.
pub(crate) fn warn(context: Context, status: &state::Status) {
    // A range has its end for this place as the key has its own.
    let (first, until) = match status.until < status.limit {
        true => (status.skipped.min(status.until), status.until),
        false => (0, status.limit),
    };
    let spent = 100.0 * (until - first - status.left) as f64 / (until - first).max(1) as f64;
    for least in [95.0, 80.0] {
        if spent >= least {
            let text = format!("warning: {spent:.1} % of the key's indices are spent");
            let percent = (spent * 10.0).round() / 10.0;
            let fields = json!({ "left": status.left, "percent": percent, "threshold": least });
            context.event("state.low", text, fields);
            return;
        }
    }
}

/// Hands out indices for good.
pub(crate) fn reserve(context: Context, arguments: Reserve) -> Outcome {
    let keyring = arguments.store.keyring(&arguments.key)?;
    let (lease, status) = keyring.reserve(arguments.count, store::now())?;
    warn(context, &status);
    let last = lease.range.end - 1;
    context.answer(
        format!("indices {} to {last}, fencing number {}", lease.range.start, lease.fencing),
        json!({ "first": lease.range.start, "last": last, "fencing": lease.fencing }),
    )
}

/// Makes a state usable again.
pub(crate) fn restore(context: Context, arguments: Restore) -> Outcome {
    let Restore { key, resume_at, until, store } = &arguments;
    let mut rng = crate::random::system();
    let status = store.keyring(key)?.restore(*resume_at, *until, store::now(), &mut rng)?;
    let left = status.left;
    context.answer(
        format!("signs from index {} on, {left} left", arguments.resume_at),
        json!({ "next": arguments.resume_at, "left": left }),
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_the_calendars() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_709_251_199), "2024-02-29");
        assert_eq!(date(1_735_689_600), "2025-01-01");
        assert_eq!(date(u64::MAX / 2), "a day after 9999");
    }
}
