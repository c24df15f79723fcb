import { clientLeft, type ServiceError } from '../../core/errors.ts';
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

type AwaitingClient = Pick<SessionReader, 'credential' | 'onLeft'>;

/**
 * @param listener is called when the client may not have its answer any more, and when it has gone away. A credential that
 * only expires was good when the request came, so its client still gets the answer.
 */
export function onRefusedOrLeft(
  { credential, onLeft }: AwaitingClient,
  listener: (error: ServiceError) => void,
): void {
  credential?.onRefused(listener);
  onLeft?.(() => listener(clientLeft()));
}

/** Waits for an answer that is no stream, as long as there is a client for it: what it waits for may take days. */
export function unlessRefusedOrLeft<T>(answer: Promise<T>, client: AwaitingClient): Promise<T> {
  if (!client.credential && !client.onLeft) return answer;
  return new Promise((resolve, reject) => {
    onRefusedOrLeft(client, reject);
    answer.then(resolve, reject);
  });
}
