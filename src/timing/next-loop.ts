/** Resolves in the next turn of the event loop, so that long work does not hold up requests, timers and sockets. */
export function nextLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
