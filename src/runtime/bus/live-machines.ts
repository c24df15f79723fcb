import type { ActorRefFrom, InspectionEvent, Subscription } from 'xstate';
import type { mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import type { turnMachine } from '../../../machines/turn.machine.ts';
import type { MachineState } from '../../core/machine-state.ts';

export type MachineActor = ActorRefFrom<typeof turnMachine> | ActorRefFrom<typeof mcpServerMachine>;

export interface MachineWatcher {
  /** The machines themselves, first those that run already; before anything is told of them. */
  readonly onActor?: (actor: MachineActor) => void;
  /** All that XState tells of a machine and of what it invoked. */
  readonly onInspection?: (event: InspectionEvent, actor: MachineActor) => void;
  /** A machine has ended, or was ended. */
  readonly onGone?: (actor: MachineActor) => void;
}

/** The machines that run now. Free while nobody watches: only then are they inspected. */
export class LiveMachines {
  readonly #actors = new Set<MachineActor>();
  readonly #watchers = new Map<MachineWatcher, Map<MachineActor, Subscription>>();

  /** To be called before the machine is started. */
  add(actor: MachineActor): void {
    this.#actors.add(actor);
    for (const [watcher, subscriptions] of this.#watchers) attach(watcher, actor, subscriptions);
  }

  remove(actor: MachineActor): void {
    this.#actors.delete(actor);
    for (const [watcher, subscriptions] of this.#watchers) {
      subscriptions.get(actor)?.unsubscribe();
      subscriptions.delete(actor);
      watcher.onGone?.(actor);
    }
  }

  /** @returns a function that ends the watch. */
  watch(watcher: MachineWatcher): () => void {
    const subscriptions = new Map<MachineActor, Subscription>();
    this.#watchers.set(watcher, subscriptions);
    for (const actor of this.#actors) attach(watcher, actor, subscriptions);
    return () => {
      this.#watchers.delete(watcher);
      for (const subscription of subscriptions.values()) subscription.unsubscribe();
    };
  }

  /** Tells where each machine is, now and whenever it moves. @returns a function that ends it. */
  watchStates(onState: (state: MachineState) => void): () => void {
    return this.watch({
      onActor: (actor) => onState(stateOf(actor, null)),
      onInspection: (event, actor) => {
        if (event.type === '@xstate.snapshot' && event.actorRef === actor)
          onState(stateOf(actor, event.event.type));
      },
      onGone: (actor) => {
        if (actor.getSnapshot().status !== 'done') onState({ ...stateOf(actor, null), status: 'stopped' });
      },
    });
  }
}

function attach(
  watcher: MachineWatcher,
  actor: MachineActor,
  subscriptions: Map<MachineActor, Subscription>,
): void {
  watcher.onActor?.(actor);
  subscriptions.set(
    actor,
    actor.system.inspect((event) => watcher.onInspection?.(event, actor)),
  );
}

function stateOf(actor: MachineActor, event: string | null): MachineState {
  const { value, context, status } = actor.getSnapshot();
  return {
    id: actor.id,
    machine: 'turnId' in context ? 'turn' : 'mcp-server',
    ...('sessionId' in context && { sessionId: context.sessionId }),
    value,
    context: { ...context },
    event,
    status: status === 'active' || status === 'done' ? status : 'stopped',
    time: new Date().toISOString(),
  };
}
