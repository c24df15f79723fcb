import { createInspector } from '@statelyai/inspect';
import type { AnyEventObject } from 'xstate';
import type { LiveMachines } from '../runtime/bus/live-machines.ts';

/** Of an event without its content. */
const KEPT = ['type', 'turnId', 'callId', 'toolName', 'serverId', 'step', 'attempt', 'toolCount'];

/**
 * Tells of the machines in the frames of @statelyai/inspect: for each its definition and where it is now, then all
 * that it does. What messages and tools say is left out unless `showContent`. (Contexts hold none.)
 */
export function machineInspector(
  machines: LiveMachines,
  { showContent }: { readonly showContent: boolean },
): (send: (text: string) => void) => () => void {
  return (send) => {
    const inspector = createInspector(
      { send: (frame) => send(JSON.stringify(frame)) },
      showContent ? {} : { sanitizeEvent: withoutContent },
    );
    return machines.watch({
      onActor: (actor) =>
        inspector.inspect.next?.({ type: '@xstate.actor', actorRef: actor, rootId: actor.sessionId }),
      onInspection: (event) => inspector.inspect.next?.(event),
    });
  };
}

function withoutContent(event: AnyEventObject): AnyEventObject {
  const kept = Object.entries(event).filter(([name]) => KEPT.includes(name));
  return { type: event.type, ...Object.fromEntries(kept) };
}
