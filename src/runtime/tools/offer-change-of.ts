import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { ForwardedRequest } from '../../ports/tool-server.ts';

/** What a notification of a tool server says to clients. Null if it says nothing to them. */
export function offerChangeOf(serverId: string, { method, params }: ForwardedRequest): OfferChange | null {
  switch (method) {
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts', serverId };
    case 'notifications/resources/list_changed':
      return { kind: 'resources', serverId };
    case 'notifications/resources/updated':
      return typeof params.uri === 'string' ? { kind: 'resource', serverId, uri: params.uri } : null;
    default:
      return null;
  }
}
