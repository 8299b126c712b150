import type { Interval } from "./periods.ts";

/** The day of an instant in a time zone. All of them are SQL. */
export const dayIn = (zone: string, instant: string): string => `(${instant} at time zone ${zone})::date`;

/**
 * A statement for the parts of days of UTC that a time zone has on other days. It is SQL, and so are its arguments: a `from`
 * item with the column `utc_day`, and the bounds of whole hours, outside which nothing is. Its columns are:
 *
 * - `is_whole`: the part has whole hours, which are on `base_day` in UTC and on `zone_day` in the time zone. An hour is on the
 *   day of its beginning.
 * - The other parts are in one hour, in which the day of the time zone changes. `base_day` is the day of the beginning of the
 *   hour, and `zone_day` that of the part; null if the clock changes, too, so that only an instant has a day.
 * - `from_instant` and `to_instant`. A part can be empty.
 *
 * A day of UTC in which the clock does not change has one midnight of the time zone. One in which it changes is divided into
 * its hours, each of which has a day, whichever days are missing, come twice or begin at 01:00.
 */
export function zonePartsOf(utcDays: string, hours: Interval, zone: string): string {
  const local = (instant: string) => `((${instant}) at time zone ${zone})`;
  const tick = "interval '1 microsecond'";
  const regularCondition = (begin: string, length: string) =>
    `${local(`${begin} + ${length} - ${tick}`)} - ${local(begin)} = ${length} - ${tick}`;
  return `
    select is_whole, base_day, zone_day,
      greatest(part_begin, ${hours.from}) as from_instant, least(part_end, ${hours.to}) as to_instant
    from ${utcDays}
    cross join lateral (select utc_day::timestamp at time zone 'UTC' as midnight) as utc
    cross join lateral (
      select case when ${regularCondition("midnight", "interval '24 hours'")} then interval '24 hours' else interval '1 hour' end as length
      offset 0
    ) as step
    cross join lateral generate_series(midnight, midnight + interval '23 hours', length) as piece (piece_begin)
    cross join lateral (
      select piece_begin + length as piece_end, ${local("piece_begin")} as local_begin,
        length = interval '24 hours' or ${regularCondition("piece_begin", "length")} as is_regular
      offset 0
    ) as local
    cross join lateral (
      select local_begin::date as day, case when is_regular
        then least(piece_begin + (date_trunc('day', local_begin) + interval '1 day' - local_begin), piece_end)
        else piece_begin end as day_end
      offset 0
    ) as of_day
    cross join lateral (
      select case when is_regular then utc_hour(day_end + interval '1 hour' - ${tick}) else piece_end end as hour_end
      offset 0
    ) as of_hour
    cross join lateral (
      select true as is_whole, utc_day as base_day, day as zone_day, piece_begin as part_begin, hour_end as part_end
      union all select true, utc_day, day + 1, hour_end, piece_end
      union all select false, day, case when is_regular then day + 1 end, day_end, hour_end
    ) as part`;
}
