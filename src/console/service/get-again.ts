import { get } from './api.ts';
import type { Trouble } from './hub/hub-messages.ts';
import { isPassing, retryDelayMs, troubleOf } from './hub/trouble.ts';

/**
 * Gets JSON, and asks again while the service cannot answer for now. Rejects with an `ApiError` when it refuses for good,
 * and with the reason of the signal.
 * @param onTrouble is told why there is no answer yet, and null when there is one after all.
 */
export async function getAgain<T>(
  path: string,
  signal: AbortSignal,
  onTrouble: (trouble: Trouble | null) => void = () => undefined,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const answer = await get<T>(path, signal);
      if (failures > 0) onTrouble(null);
      return answer;
    } catch (error) {
      if (!isPassing(error)) throw error;
      const delayMs = retryDelayMs(error, failures);
      onTrouble(troubleOf(error, delayMs));
      await wait(delayMs, signal);
    }
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
