import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Unsubscribe } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { McpSurface } from '../mcp-surface.ts';
import { MAX_WATCHED_URI } from '../watched-uri.ts';

export const LISTEN = 'subscriptions/listen';

/** Of one subscription. */
const MAX_RESOURCES = 100;

const Listening = z.object({
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.unknown()) }) }),
});

/**
 * The resources that a request for a subscription names. Throws if there are too many, or if an address is too long. What is no
 * address is refused by the transport, once it is known that there is little of it.
 */
export function listenedResources(request: unknown): readonly string[] {
  const named = Listening.safeParse(request).data?.params.notifications.resourceSubscriptions ?? [];
  if (named.length > MAX_RESOURCES) throw tooManyResources(named.length);
  const tooLong = named.findIndex((uri) => typeof uri === 'string' && uri.length > MAX_WATCHED_URI);
  if (tooLong >= 0) throw tooLongUri(tooLong);
  return named.filter((uri) => typeof uri === 'string');
}

export interface Watcher {
  readonly surface: McpSurface;
  readonly context: RequestContext;
  readonly log: Logger;
}

/**
 * Whether or not a server lets somebody watch a resource, the subscription stands: the resource may come later, as where its
 * server is still connecting. What could not be watched is tried again when the servers have other resources.
 * @returns what ends the watching.
 */
export function watchResources(uris: readonly string[], { surface, context, log }: Watcher): Unsubscribe {
  if (uris.length === 0) return () => undefined;
  const left = new Set(uris);
  const watched = new Set<Unsubscribe>();
  let isOver = false;
  let isTrying = false;
  let isChanged = false;
  const watch = async (uri: string): Promise<void> => {
    try {
      const unwatch = await surface.watch?.({ uri }, { context });
      left.delete(uri);
      if (isOver) unwatch?.();
      else if (unwatch) watched.add(unwatch);
    } catch (err) {
      log.debug({ uri, err }, 'a resource of a tool server cannot be watched');
    }
  };
  const watchAll = async (): Promise<void> => {
    if (isTrying) return;
    isTrying = true;
    do {
      isChanged = false;
      await Promise.all([...left].map(watch));
    } while (isChanged && left.size > 0);
    isTrying = false;
    if (left.size === 0) stopHearing?.();
  };
  const stopHearing = surface.onChange?.(({ kind }) => {
    if (kind !== 'resources_list_changed') return;
    isChanged = true;
    void watchAll();
  }, context);
  void watchAll();
  return () => {
    isOver = true;
    left.clear();
    stopHearing?.();
    for (const unwatch of watched) unwatch();
    watched.clear();
  };
}

function tooManyResources(count: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A subscription names too many resources.', {
    field: 'params.notifications.resourceSubscriptions',
    issue: `it has ${count}, and may have ${MAX_RESOURCES}`,
    suggestion: 'Open several subscriptions.',
  });
}

function tooLongUri(index: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A subscription names a resource whose address is too long.', {
    field: `params.notifications.resourceSubscriptions.${index}`,
    issue: `it may have ${MAX_WATCHED_URI} characters`,
  });
}
