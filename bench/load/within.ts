/** No answer has come in time; it may still come. */
export class Unanswered extends Error {}

/** What the work gives, or `Unanswered`: then its signal is aborted. */
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
