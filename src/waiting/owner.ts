/**
 * The owner of a share: a caller, who is the subject of a token or else an address, or a purpose of the service itself. The
 * kind comes first, so that no text of a caller is another owner.
 */
export type Owner = `subject ${string}` | `address ${string}` | `purpose ${string}`;

/** At most a third of anything is for one owner, so that others find room. */
export const shareOf = (whole: number): number => Math.ceil(whole / 3);
