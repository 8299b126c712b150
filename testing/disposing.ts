/** These members, with a disposal of what has been opened for them. */
export function disposing<Members extends object>(opening: AsyncDisposableStack, members: Members) {
  const opened = opening.move();
  return { ...members, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
