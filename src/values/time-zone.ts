const known = new Set<string>();
/** A name has many spellings. */
const knownMax = 1000;

/** True if Node.js knows the time zone. Names are remembered, since the look-up takes long. */
export function isZone(name: string): boolean {
  if (known.has(name)) return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
  } catch {
    return false;
  }
  if (known.size < knownMax) known.add(name);
  return true;
}

/** `SystemV/` is not in the IANA database. */
const areaAndLocation = /^(?!systemv\/)[a-z]+(\/[a-z0-9_+-]+)+$/i;

/**
 * True if the text is `UTC` or names a time zone by area and location, in any case. Node.js and PostgreSQL read other texts in
 * different ways: `CET` has summer time in one and not in the other, `BST` is Dhaka or London, `UTC+3` is an error or west of
 * Greenwich.
 */
export const isTimeZone = (name: string): boolean =>
  /^utc$/i.test(name) || (areaAndLocation.test(name) && isZone(name));

/**
 * The present names of zones that Node.js and browsers call by older ones. A database can lack these: Debian 13 has them in
 * a package of their own.
 */
const presentNames: Record<string, string> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** The name of a time zone of `isTimeZone`, and other names of the same zone, which a database may know instead. */
export function namesOfTimeZone(name: string): string[] {
  const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
  return [...new Set([name, timeZone, presentNames[timeZone] ?? timeZone])];
}
