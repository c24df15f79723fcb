/**
 * Resolves after this time.
 * @param ref whether the process stays for it.
 */
export function pause(ms: number, { ref = true } = {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });
}
