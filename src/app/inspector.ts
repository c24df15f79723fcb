import { createInspector } from '@statelyai/inspect';
import type { AnyEventObject } from 'xstate';
import { isOfTenant } from '../core/access/session-names.ts';
import type { RequestContext } from '../core/request/request-context.ts';
import type { LiveMachines, MachineActor } from '../runtime/machines/live-machines.ts';

/** Fields of an event that remain when its content is left out. */
const KEPT = ['type', 'turnId', 'callId', 'toolName', 'serverId', 'step', 'attempt', 'toolCount'];

/**
 * Reports the machines in the frames of @statelyai/inspect: first the definition and state of each machine, then
 * everything that it does. The content of messages and tools is left out unless `showContent` is set. (Machine contexts
 * hold none.) A client of a tenant gets the machines that it may see.
 */
export function machineInspector(
  machines: LiveMachines,
  { showContent }: { readonly showContent: boolean },
): (send: (text: string) => void, client: RequestContext | null) => () => void {
  return (send, client) => {
    const isShown = (actor: MachineActor): boolean => client === null || isShownTo(client, actor);
    const inspector = createInspector(
      { send: (frame) => send(JSON.stringify(frame)) },
      showContent ? {} : { sanitizeEvent: withoutContent },
    );
    return machines.watch({
      onActor: (actor) => {
        if (isShown(actor))
          inspector.inspect.next?.({ type: '@xstate.actor', actorRef: actor, rootId: actor.sessionId });
      },
      onInspection: (event, actor) => {
        if (isShown(actor)) inspector.inspect.next?.(event);
      },
    });
  };
}

/** Only admins inspect. Turns belong to sessions of a tenant. Tool servers belong to the service. */
function isShownTo(client: RequestContext, actor: MachineActor): boolean {
  const { context } = actor.getSnapshot();
  if ('sessionId' in context) return isOfTenant(context.sessionId, client.tenant);
  return client.rights?.scopes.has('servers:read') === true;
}

function withoutContent(event: AnyEventObject): AnyEventObject {
  const kept = Object.entries(event).filter(([name]) => KEPT.includes(name));
  return { type: event.type, ...Object.fromEntries(kept) };
}
