import type { ActorRefFrom, InspectionEvent, Subscription } from 'xstate';
import type { mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import type { turnMachine } from '../../../machines/turn.machine.ts';
import type { MachineState } from '../../core/machine-state.ts';

export type MachineActor = ActorRefFrom<typeof turnMachine> | ActorRefFrom<typeof mcpServerMachine>;

/** A running machine. Its actor is asked for only when somebody watches. */
export interface WatchableMachine {
  readonly actor: MachineActor;
}

export interface MachineWatcher {
  /** Called for each machine: first for those that run already, then for each new one before it starts. */
  readonly onActor?: (actor: MachineActor) => void;
  /** Every inspection event of XState, of a machine and the actors that it invoked. */
  readonly onInspection?: (event: InspectionEvent, actor: MachineActor) => void;
  /** Called when a machine has ended or was stopped. */
  readonly onGone?: (actor: MachineActor) => void;
}

/** The machines that run now. They are inspected only while somebody watches, so that nobody else pays for it. */
export class LiveMachines {
  readonly #machines = new Set<WatchableMachine>();
  readonly #watchers = new Map<MachineWatcher, Map<MachineActor, Subscription>>();

  /** Call before the machine starts. */
  add(machine: WatchableMachine): void {
    this.#machines.add(machine);
    for (const [watcher, subscriptions] of this.#watchers) attach(watcher, machine.actor, subscriptions);
  }

  remove(machine: WatchableMachine): void {
    this.#machines.delete(machine);
    for (const [watcher, subscriptions] of this.#watchers) {
      const { actor } = machine;
      subscriptions.get(actor)?.unsubscribe();
      subscriptions.delete(actor);
      watcher.onGone?.(actor);
    }
  }

  /** @returns a function that stops watching. */
  watch(watcher: MachineWatcher): () => void {
    const subscriptions = new Map<MachineActor, Subscription>();
    this.#watchers.set(watcher, subscriptions);
    for (const { actor } of this.#machines) attach(watcher, actor, subscriptions);
    return () => {
      this.#watchers.delete(watcher);
      for (const subscription of subscriptions.values()) subscription.unsubscribe();
    };
  }

  /** Reports the state of each machine now and at each transition. @returns a function that stops watching. */
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
