/** The rows of pages, as many at a time as are wanted. The next page is read while the rows of one are written. */
export function openRows<Row>(pages: AsyncGenerator<Row[]>) {
  let page: Row[] = [];
  let next: Promise<IteratorResult<Row[], unknown>> | undefined;
  const readOn = () => {
    next = pages.next();
    next.catch(() => {}); // Not unhandled if nothing awaits it.
    return next;
  };
  return {
    /** The next rows, up to `max`; none after the last one. */
    async take(max: number): Promise<Row[]> {
      if (page.length === 0) {
        const found = await (next ?? readOn());
        if (found.done) return [];
        page = found.value;
        readOn();
      }
      const taken = page.slice(0, max);
      page = page.slice(max);
      return taken;
    },
    async [Symbol.asyncDispose]() {
      await next?.catch(() => {});
      await pages.return(undefined);
    },
  };
}
