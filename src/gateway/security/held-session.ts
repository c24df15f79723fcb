import { clientLeft } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpRequest } from '../../ports/web-server.ts';
import type { StreamCredential } from './held-credentials.ts';

/** A client that is told of a session as long as it may read it. */
export interface SessionReader {
  readonly context: RequestContext;
  /** Absent where clients are not authenticated. */
  readonly credential?: StreamCredential | undefined;
  /** Of a request that waits for an answer. */
  readonly onLeft?: HttpRequest['onLeft'];
}

/** The credential is lost when its client may not read the session any more. */
export function holdSession(bus: Bus, sessionId: SessionId, { context, credential }: SessionReader): void {
  credential?.checkBy(() => bus.recheck(sessionId, context));
}

/**
 * Waits for an answer that is no stream. Rejects with the refusal as soon as the client may not have the answer any more, and
 * when it has gone away: what it waits for goes on, and may take days. A credential that only expires was good when the
 * request came, so its client still gets the answer.
 */
export function unlessRefused<T>(
  answer: Promise<T>,
  { credential, onLeft }: Pick<SessionReader, 'credential' | 'onLeft'>,
): Promise<T> {
  if (!credential && !onLeft) return answer;
  return new Promise((resolve, reject) => {
    const forgetCredential = credential?.onRefused(reject);
    const forgetClient = onLeft?.(() => reject(clientLeft()));
    const forget = (): void => {
      forgetCredential?.();
      forgetClient?.();
    };
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
