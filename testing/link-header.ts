/** The address of the next page in the header `Link`, if there is one. */
export const linkIn = ({
  link,
}: {
  [name: string]: unknown;
  link?: string | string[] | undefined;
}): string | undefined => /^<([^>]+)>; rel="next"$/.exec(String(link))?.[1];
