/** No answer came in time. It may still come. */
export class Unanswered extends Error {}

/** Resolves as the work does. After the time it aborts the signal and rejects with `Unanswered`. */
export async function within<T>(seconds: number, work: (late: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(new Unanswered(`no answer within ${seconds} s`));
    late.abort();
  }, seconds * 1_000);
  try {
    return await Promise.race([work(late.signal), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
