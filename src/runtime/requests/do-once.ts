import type { z } from 'zod';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { requestOrigin } from '../../core/request/request-origin.ts';
import { keyScope } from './key-scope.ts';
import type { KeyedRequests } from './keyed-requests.ts';

interface KeyedWork<T> {
  readonly key: IdempotencyKey | undefined;
  /** Request type, and what the request is about. The same key means the same request only for the same subject. */
  readonly subject: readonly string[];
  /** The id that the log has as the cause of what the request does. Generated when left out. */
  readonly causationId?: string | undefined;
  /** Schema of the stored answer. */
  readonly answer: z.ZodType<T>;
  /** Whether doing it twice has the same effect as doing it once. */
  readonly repeatable: boolean;
  /** @param isAgain whether it was begun before, and may have been done: its end was not recorded. */
  run(origin: Origin, isAgain: boolean): Promise<T>;
}

/** Does what a client's request asks for, once for each idempotency key. */
export function doOnce<T>(
  requests: KeyedRequests,
  context: RequestContext,
  { key, subject, causationId, answer, repeatable, run }: KeyedWork<T>,
): Promise<T> {
  const origin = requestOrigin(context, causationId);
  const scope = keyScope(context, ...subject);
  return requests.once({ key, scope, answer, origin }, () => ({
    repeatable,
    run: (isAgain) => run(origin, isAgain),
  }));
}
