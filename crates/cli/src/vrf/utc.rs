//! Times in UTC, to and from text.

/// Days of 400 years.
const ERA_DAYS: u64 = 146_097;

/// Reads `2017-09-23T21:44:51Z`, also with fractions of a second, which are dropped, as seconds since
/// 1970; none for anything else, and for years before 1970.
pub(super) fn parse(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !fraction || year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_before(year, month, day)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

fn numbers(text: &str, between: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(between);
    let mut all = [0; 3];
    for (number, digits) in all.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(all)
}

/// Days from 1970 to a date. Years begin in March here, so that a leap day is the last of its year.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = before.checked_sub(719_468)?; // from March of year 0 to 1970
    (date_of(days).2 == day).then_some(days)
}

/// Year, month and day of a number of days since 1970.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / ERA_DAYS, days % ERA_DAYS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 { (year, month + 3, date) } else { (year + 1, month - 9, date) }
}

/// The time of milliseconds since 1970, as `2017-09-23T21:44:51Z`.
pub(super) fn text(millis: u64) -> String {
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (year, month, day) = date_of(seconds / 86_400);
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    let fraction = if millis == 0 { String::new() } else { format!(".{millis:03}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (seconds, time) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_506_203_091, "2017-09-23T21:44:51Z"),
            (1_596_059_091, "2020-07-29T21:44:51Z"),
            (1_654_041_600, "2022-06-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(parse(time), Some(seconds), "{time}");
            assert_eq!(text(seconds * 1000), time);
        }
        assert_eq!(parse("2017-09-23T21:44:51.000Z"), Some(1_506_203_091));
        assert_eq!(text(1500), "1970-01-01T00:00:01.500Z");
        for days in 0..200_000 {
            let (year, month, day) = date_of(days);
            assert_eq!(days_before(year, month, day), Some(days));
        }
        for bad in [
            "",
            "2017-09-23",
            "2017-09-23T21:44:51",
            "2017-02-29T00:00:00Z",
            "2017-13-01T00:00:00Z",
            "2017-00-01T00:00:00Z",
            "2017-01-32T00:00:00Z",
            "1969-12-31T00:00:00Z",
            "2017-09-23T24:00:00Z",
            "2017-09-23T21:44:51.Z",
            "2017-9-23T21:44:51Z",
            "2017-09-23T21:44:51+01:00",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
