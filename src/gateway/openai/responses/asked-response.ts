import type { IdempotencyKey } from '../../../core/request/request-events.ts';
import type { MaxBytes } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import type { SessionReader } from '../../security/held-session.ts';
import type { ResponsePlace } from './response-id.ts';
import type { ResponseRequest } from './response-request.ts';

/** Who asks, for what. */
export interface AskedResponse extends SessionReader {
  readonly bus: Bus;
  readonly request: Pick<ServedRequest, 'headers' | 'onLeft'>;
  readonly body: ResponseRequest;
  readonly agentId: string;
  readonly key: IdempotencyKey | undefined;
  readonly maxImageBytes: MaxBytes;
}

/** A response that can be read. */
export interface PlacedResponse {
  readonly place: ResponsePlace;
  /** Seq of an event of the session that is before the turn. */
  readonly afterSeq: number;
}

/** A response that this request has begun. */
export interface BegunResponse extends PlacedResponse {
  /** Whether the session is deleted when the turn is over. The request that began the turn has decided it. */
  readonly isUnstored: boolean;
  /** The request was repeated with its key: another one has begun the response. */
  readonly isRepeated?: true;
}

/** Whether a session that begins with this request is deleted with its response. A conversation that the client names is not. */
export function isUnstored({ store, conversation }: ResponseRequest): boolean {
  return store === false && conversation === undefined;
}
