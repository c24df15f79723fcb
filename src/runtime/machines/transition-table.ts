import type {
  AnyEventObject,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  ContextFrom,
  EmittedFrom,
  EventFrom,
  InputFrom,
  MachineContext,
  StateValue,
} from 'xstate';
import {
  ancestors,
  descendants,
  isLeaf,
  type Path,
  pathIn,
  pathOf,
  refuseUnknown,
  stateValue,
} from './machine-nodes.ts';
import { type Guard, guardOf, type TableAction, tableAction } from './table-actions.ts';

/** A state that the machine can rest in, with all transitions that lead out of it. */
export interface TableState {
  readonly value: StateValue;
  readonly isFinal: boolean;
  /** By type of event, in the order in which XState tries them: those of the innermost state first. */
  readonly on: ReadonlyMap<string, readonly TableTransition[]>;
  readonly always: readonly TableTransition[];
}

interface TableTransition {
  readonly allows: Guard | null;
  /** Exit actions of the states that are left, its own actions, and entry actions of the states that are entered. */
  readonly actions: readonly TableAction[];
  readonly target: TableState;
}

/** Where an instance of the machine is. */
export interface TablePosition<C extends MachineContext> {
  readonly state: TableState;
  readonly context: C;
}

/**
 * The transitions of an XState machine, worked out once, so that an instance is only a state and a context. For machines
 * of nested states, guards, `assign` and `emit`. Everything else is refused, so a table never does anything that the
 * machine would not do.
 */
export class TransitionTable<M extends AnyStateMachine> {
  readonly #machine: M;
  readonly #start: TableTransition;

  /** @throws Error that names the state and what a table cannot express. */
  constructor(machine: M) {
    this.#machine = machine;
    const nodes = [machine.root, ...descendants(machine.root)];
    for (const node of nodes) refuseUnknown(node);
    const states = new Map(nodes.filter(isLeaf).map((leaf) => [leaf, unfilled(leaf)]));
    const transition = ({ left, entered, leaf }: Path, own?: AnyTransitionDefinition): TableTransition => {
      const target = states.get(leaf);
      if (!target) throw new Error(`${leaf.id} is no state of ${machine.id}`);
      const actions = [
        ...left.flatMap(({ exit }) => exit),
        ...(own?.actions ?? []),
        ...entered.flatMap(({ entry }) => entry),
      ];
      return {
        allows: own?.guard === undefined ? null : guardOf(machine, own.guard),
        actions: actions.map((action) => tableAction(machine, action)),
        target,
      };
    };
    for (const [leaf, { isFinal, on, always }] of states) {
      // A machine that has ended hears nothing.
      if (isFinal) continue;
      const fromHere = (own: AnyTransitionDefinition) => transition(pathOf(leaf, own), own);
      for (const node of [leaf, ...ancestors(leaf)]) {
        for (const [type, definitions] of node.transitions)
          on.set(type, [...(on.get(type) ?? []), ...definitions.map(fromHere)]);
        always.push(...(node.always ?? []).map(fromHere));
      }
    }
    this.#start = transition(pathIn(machine.root));
  }

  /** The position of a new instance. @param effects receives what is emitted on the way, in its order. */
  begin(input: InputFrom<M>, effects: EmittedFrom<M>[]): TablePosition<ContextFrom<M>> {
    const { context } = this.#machine.config;
    const first = typeof context === 'function' ? context({ input }) : context;
    return settle(this.#start, first, { type: 'xstate.init', input }, effects);
  }

  /**
   * The position after an event; the same object when no transition is enabled.
   * @param effects receives what is emitted on the way, in its order.
   */
  next(
    position: TablePosition<ContextFrom<M>>,
    event: EventFrom<M>,
    effects: EmittedFrom<M>[],
  ): TablePosition<ContextFrom<M>> {
    const { state, context } = position;
    const sent: AnyEventObject = event;
    const transition = enabled(state.on.get(sent.type), context, sent);
    return transition ? settle(transition, context, sent, effects) : position;
  }
}

/** Takes the transition, and those that need no event afterwards. */
function settle<C extends MachineContext>(
  transition: TableTransition,
  before: C,
  event: AnyEventObject,
  effects: AnyEventObject[],
): TablePosition<C> {
  let context = before;
  let taken: TableTransition | undefined = transition;
  let state = transition.target;
  while (taken) {
    for (const action of taken.actions) {
      if (action.type === 'assign') context = action.update({ context, event }) as C;
      else effects.push(action.effect({ context, event }));
    }
    state = taken.target;
    taken = state.isFinal ? undefined : enabled(state.always, context, event);
  }
  return { state, context };
}

function enabled(
  candidates: readonly TableTransition[] | undefined,
  context: MachineContext,
  event: AnyEventObject,
): TableTransition | undefined {
  return candidates?.find(({ allows }) => allows === null || allows({ context, event }));
}

function unfilled(leaf: AnyStateNode) {
  return {
    value: stateValue(leaf),
    isFinal: leaf.type === 'final',
    on: new Map<string, TableTransition[]>(),
    always: [] as TableTransition[],
  };
}
