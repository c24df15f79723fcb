import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { McpSurface } from '../mcp-surface.ts';

export const LISTEN = 'subscriptions/listen';

/** Of one subscription. */
const MAX_RESOURCES = 100;

const Listening = z.object({
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
});

/** The resources that a request for a subscription names. Throws if there are too many. */
export function listenedResources(request: unknown): readonly string[] {
  const uris = Listening.safeParse(request).data?.params.notifications.resourceSubscriptions ?? [];
  if (uris.length > MAX_RESOURCES) throw tooManyResources(uris.length);
  return uris;
}

export interface Watcher {
  readonly surface: McpSurface;
  readonly context: RequestContext;
  readonly log: Logger;
}

/** Whether or not a server lets somebody watch a resource, the subscription stands: the resource may come later. */
export function watchResources(uris: readonly string[], { surface, context, log }: Watcher): void {
  for (const uri of uris) {
    surface.subscribe?.({ uri }, { context }).catch((err: unknown) => {
      log.debug({ uri, err }, 'a resource of a tool server cannot be watched');
    });
  }
}

function tooManyResources(count: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A subscription names too many resources.', {
    field: 'params.notifications.resourceSubscriptions',
    issue: `it has ${count}, and may have ${MAX_RESOURCES}`,
    suggestion: 'Open several subscriptions.',
  });
}
