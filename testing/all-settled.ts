/**
 * Waits until all promises are settled, then rejects with the first error. So nothing is still being opened when those who
 * opened the others close them.
 */
export async function allSettled<Values extends readonly unknown[] | []>(promises: Values) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
