import { isSameSession } from '../../../core/access/session-names.ts';
import type { AgentId } from '../../../core/agent-description.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Bus } from '../../../ports/bus.ts';
import { sessionOfItem } from './item-id.ts';
import { GivenItem, type InputItem } from './response-request.ts';
import { newestItems } from './session-items.ts';

interface Asker {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly agentId: AgentId;
}

interface Goal {
  /** The field of the request that has the items. */
  readonly field: string;
  /** The session in which the conversation goes on: the model knows its items. */
  readonly knownIn?: SessionId | undefined;
}

/** An item, and the place in the list of the request. */
export interface PlacedItem {
  readonly item: GivenItem;
  readonly at: number;
}

/** The items of a request, with those that it refers to by their ids. Throws if there is no such item. */
export async function itemsInPlace(
  asker: Asker,
  items: readonly InputItem[],
  { field, knownIn }: Goal,
): Promise<readonly PlacedItem[]> {
  const wanted = new Map<SessionId, Set<string>>();
  for (const [index, item] of items.entries()) {
    if (item.type !== 'item_reference') continue;
    const sessionId = sessionOfItem(item.id);
    if (sessionId === null) throw noItem(item.id, `${field}.${index}.id`);
    wanted.set(sessionId, (wanted.get(sessionId) ?? new Set()).add(item.id));
  }
  const found = new Map<string, GivenItem>();
  for (const [sessionId, ids] of wanted) {
    for (const item of await foundItems(asker, sessionId, ids)) found.set(item.id, GivenItem.parse(item));
    // At once: what a client refers to may be made up, and each session is a look into the log.
    for (const [index, item] of items.entries())
      if (item.type === 'item_reference' && ids.has(item.id) && !found.has(item.id))
        throw noItem(item.id, `${field}.${index}.id`);
  }
  return items.flatMap((item, at) => {
    if (item.type !== 'item_reference') return [{ item, at }];
    const sessionId = sessionOfItem(item.id);
    const isKnown = sessionId && knownIn !== undefined && isSameSession(sessionId, knownIn, asker.context);
    if (isKnown) return [];
    const referred = found.get(item.id);
    return referred ? [{ item: referred, at }] : [];
  });
}

async function foundItems(
  { bus, context, agentId }: Asker,
  sessionId: SessionId,
  ids: ReadonlySet<string>,
): Promise<{ readonly id: string }[]> {
  const found: { readonly id: string }[] = [];
  for await (const item of newestItems(bus, { agentId, sessionId }, context)) {
    if (ids.has(item.id)) found.push(item);
    if (found.length === ids.size) break;
  }
  return found;
}

function noItem(id: string, field: string): ServiceError {
  return new ServiceError('SESSION_NOT_FOUND', `There is no item ${id}.`, { field });
}
