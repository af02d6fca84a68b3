//! How long a provider asks to wait, in the ways that providers say it.

use std::time::{Duration, SystemTime};

/// Reads `retry-after-ms` and `Retry-After` (seconds or an HTTP date).
pub(crate) fn from_headers<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|text| number(text, 0.001));
    milliseconds.or_else(|| {
        let text = header("retry-after")?.trim();
        number(text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        })
    })
}

fn number(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// Reads `try again in 1m3s`, `… 1.5s`, `… 250ms`, `… 2 seconds`, in any case.
pub(crate) fn from_message(message: &str) -> Option<Duration> {
    const PHRASE: &str = "try again in";
    let lower = message.to_ascii_lowercase();
    let (_, rest) = lower.split_once(PHRASE)?;
    let mut rest = rest.trim_start();
    let mut total = None;
    while let Some((part, after)) = leading_duration(rest) {
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(part));
        rest = after.trim_start();
    }
    total
}

/// `1.5s…` as a duration and what follows it.
fn leading_duration(text: &str) -> Option<(Duration, &str)> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number_text, rest) = text.split_at_checked(digits)?;
    let rest = rest.trim_start();
    let letters = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(letters)?;
    let seconds = match unit {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    };
    Some((number(number_text, seconds)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected_ms: Option<u64>) {
        let expected = expected_ms.map(Duration::from_millis);
        assert_eq!(from_message(message), expected, "{message}");
    }

    #[test]
    fn messages_name_delays_in_many_units() {
        check("Rate limit. Please try again in 1m3s.", Some(63_000));
        check("please TRY AGAIN IN 1.5s", Some(1_500));
        check("Try again in 250ms. Visit https://x", Some(250));
        check("try again in 2 seconds", Some(2_000));
        check("try again in 1 hour 5 minutes", Some(3_900_000));
        check("try again in 1h0m2s.", Some(3_602_000));
        check("try again in a moment", None);
        check("try again in 5", None);
        check("try again in 1.2.3s", None);
        check("try again later", None);
        check("try again in 99999999999999999999999d", None);
        check("İ try again in 20s", Some(20_000));
    }

    fn header(name: &str, value: &str) -> Option<Duration> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // 08:49:37
        from_headers(|asked| (asked == name).then_some(value), now)
    }

    #[test]
    fn headers_name_delays_in_three_ways() {
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(header("retry-after", "2"), ms(2_000));
        assert_eq!(header("retry-after", " 0.5 "), ms(500));
        assert_eq!(header("retry-after-ms", "1500"), ms(1_500));
        assert_eq!(
            header("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"),
            ms(3_000)
        );
        assert_eq!(
            header("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT"),
            ms(0)
        );
        assert_eq!(header("retry-after", "-1"), None);
        assert_eq!(header("retry-after", "NaN"), None);
        assert_eq!(header("retry-after", "soon"), None);
    }
}
