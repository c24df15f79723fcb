import { createInspector } from '@statelyai/inspect';
import type { AnyEventObject } from 'xstate';
import type { LiveMachines } from '../runtime/machines/live-machines.ts';

/** Fields of an event that remain when its content is left out. */
const KEPT = ['type', 'turnId', 'callId', 'toolName', 'serverId', 'step', 'attempt', 'toolCount'];

/**
 * Reports the machines in the frames of @statelyai/inspect: first the definition and state of each machine, then
 * everything that it does. The content of messages and tools is left out unless `showContent` is set. (Machine contexts
 * hold none.)
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
