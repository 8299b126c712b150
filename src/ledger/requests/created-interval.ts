import { ceilInstant, microsecondAfter, readInstant } from "../../values/instant.ts";
import { beginning, dayAfter, end, type Interval, midnightOf } from "../tables/summary/periods.ts";

interface Dates {
  from_date?: string | undefined;
  to_date?: string | undefined;
}

/** After one instant and before another, both exclusive. */
export const betweenInstants = ({ from_date, to_date }: Dates): Interval => ({
  from: from_date === undefined ? beginning : after(readInstant(from_date) as string),
  to: to_date === undefined ? end : (ceilInstant(to_date) as string),
});

/** From one instant to another, both inclusive. */
export const throughInstants = ({ from_date, to_date }: Dates): Interval => ({
  from: from_date === undefined ? beginning : (ceilInstant(from_date) as string),
  to: to_date === undefined ? end : after(readInstant(to_date) as string),
});

/** From one day (UTC) to another, both inclusive. */
export const throughDays = ({ from_date, to_date }: Dates): Interval => ({
  from: from_date === undefined ? beginning : midnightOf(from_date),
  to: to_date === undefined ? end : midnightOf(dayAfter(to_date)),
});

const after = (instant: string) => microsecondAfter(instant) ?? end;
