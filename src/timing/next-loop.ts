/** Lets everything else that is due go on first: requests, timers, sockets. */
export function nextLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
