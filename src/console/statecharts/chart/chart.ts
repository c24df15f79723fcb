import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, not } from 'xstate';

export interface ChartState {
  /** The machine and the path of states: `turn.callingModel.thinking`. */
  readonly id: string;
  readonly name: string;
  /** Id of the parent state; null at the top level. */
  readonly parent: string | null;
  /** `start` is the dot whose arrow leads to the initial state of the parent. */
  readonly kind: 'state' | 'group' | 'final' | 'start';
  /** The effects that run while the state is active. */
  readonly invokes: readonly string[];
  /** The actions on entering and on leaving the state. */
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  /** For people who see the machine for the first time. */
  readonly description: string | null;
}

export interface ChartTransition {
  readonly id: string;
  /** Null for a transition of the whole machine. */
  readonly source: string | null;
  /** Null when the machine stays in its state. */
  readonly target: string | null;
  /** Type of the event; empty for an eventless transition. */
  readonly event: string;
  readonly guard: string | null;
  readonly actions: readonly string[];
}

/** A machine as states and transitions. */
export interface Chart {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
}

export const START_EVENT = 'xstate.init';

/** Reads the chart of a machine from its definition. */
export function chartOf({ root }: AnyStateMachine): Chart {
  return { id: root.key, states: statesIn(root), transitions: transitionsIn(root) };
}

/** The label of an event. XState has internal event types for the start and for delays. */
export function eventLabel(event: string): string {
  if (event === '') return 'always';
  if (event === START_EVENT) return 'start';
  return event.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1');
}

function statesIn(node: AnyStateNode): ChartState[] {
  const start: ChartState[] = firstIn(node)
    ? [
        {
          id: startOf(node),
          name: '',
          parent: idAsParent(node),
          kind: 'start',
          invokes: [],
          entry: [],
          exit: [],
          description: null,
        },
      ]
    : [];
  return [...start, ...Object.values(node.states).flatMap((state) => [stateOf(state), ...statesIn(state)])];
}

function stateOf(node: AnyStateNode): ChartState {
  return {
    id: idOf(node),
    name: node.key,
    parent: node.parent ? idAsParent(node.parent) : null,
    kind: node.type === 'final' ? 'final' : Object.keys(node.states).length > 0 ? 'group' : 'state',
    invokes: node.invoke.map(({ src }) => String(src)),
    entry: namesOf(node.entry),
    exit: namesOf(node.exit),
    description: node.description ?? null,
  };
}

function transitionsIn(node: AnyStateNode): ChartTransition[] {
  const own = [...node.transitions.values(), node.always ?? []].flat();
  return [
    ...startIn(node),
    ...own.flatMap((transition, index) => transitionOf(node, transition, index)),
    ...Object.values(node.states).flatMap(transitionsIn),
  ];
}

function startIn(node: AnyStateNode): ChartTransition[] {
  const first = firstIn(node);
  if (!first) return [];
  const id = startOf(node);
  return [{ id, source: id, target: idOf(first), event: START_EVENT, guard: null, actions: [] }];
}

function transitionOf(
  node: AnyStateNode,
  { eventType: event, target, guard, actions }: AnyTransitionDefinition,
  index: number,
): ChartTransition[] {
  return (target ?? [null]).map((state: AnyStateNode | null) => ({
    id: `${idOf(node)} ${index}`,
    source: node.parent ? idOf(node) : null,
    target: state && idOf(state),
    event,
    guard: guard === undefined ? null : guardName(guard),
    actions: actions.map(nameOf),
  }));
}

function guardName(guard: unknown): string {
  const check = memberOf(guard, 'check');
  const guards = memberOf(guard, 'guards');
  // Minification renames the guard function of `not`, so recognise it by its `check` function.
  const isNot = check !== undefined && check === memberOf(notGuard, 'check');
  return isNot && Array.isArray(guards) ? `not ${guards.map(guardName).join()}` : nameOf(guard);
}

const notGuard: unknown = not(() => true);

const memberOf = (value: unknown, name: 'check' | 'guards'): unknown =>
  typeof value === 'function' ? Reflect.get(value, name) : undefined;

/** The names of actions. XState adds actions without a name, which start and stop the timers of delays. */
function namesOf(actions: AnyStateNode['entry']): string[] {
  return actions.map(nameOf).filter((name) => name !== UNNAMED);
}

const UNNAMED = 'unnamed';

/** The name of an action or a guard. */
function nameOf(named: unknown): string {
  if (typeof named === 'string') return named;
  return typeof named === 'object' && named !== null && 'type' in named ? String(named.type) : UNNAMED;
}

/** The initial child state. A state without children has an initial transition, too, but without a target. */
const firstIn = (node: AnyStateNode): AnyStateNode | undefined => node.initial?.target[0];

/** The node's id as the `parent` of its children. The machine itself is not drawn. */
const idAsParent = (node: AnyStateNode): string | null => (node.parent ? idOf(node) : null);

const idOf = (node: AnyStateNode): string => [node.machine.root.key, ...node.path].join('.');

const startOf = (node: AnyStateNode): string => `${idOf(node)}.start`;
