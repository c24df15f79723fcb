import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { StreamCredential } from './held-credentials.ts';

/** A client that is told of a session as long as it may read it. */
export interface SessionReader {
  readonly context: RequestContext;
  /** Absent where clients are not authenticated. */
  readonly credential?: StreamCredential | undefined;
}

/** The credential is lost when its client may not read the session any more. */
export function holdSession(bus: Bus, sessionId: SessionId, { context, credential }: SessionReader): void {
  credential?.checkBy(() => bus.recheck(sessionId, context));
}

/**
 * Waits for an answer that is no stream. Rejects with the refusal as soon as the client may not have the answer any more. A
 * credential that only expires was good when the request came, so its client still gets the answer.
 */
export function unlessRefused<T>(
  answer: Promise<T>,
  { credential }: Pick<SessionReader, 'credential'>,
): Promise<T> {
  if (!credential) return answer;
  return new Promise((resolve, reject) => {
    const forget = credential.onRefused(reject);
    answer.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}
