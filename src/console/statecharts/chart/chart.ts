import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, not } from 'xstate';

export interface ChartState {
  /** Of the machine and the path of states to it: `turn.callingModel.thinking`. */
  readonly id: string;
  readonly name: string;
  /** Id of the state around it; null for the outermost ones. */
  readonly parent: string | null;
  /** `start` marks where the state around it begins. */
  readonly kind: 'state' | 'group' | 'final' | 'start';
  /** The effects that run while it is active. */
  readonly invokes: readonly string[];
  /** The actions done when it is entered, and when it is left. */
  readonly entry: readonly string[];
  readonly exit: readonly string[];
}

export interface ChartTransition {
  readonly id: string;
  /** Null: the whole machine has it, whatever its state. */
  readonly source: string | null;
  /** Null: the state is not left. */
  readonly target: string | null;
  /** As the machine is told of it; empty when it is taken by itself. */
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

/** Reads a chart out of a machine's own definition. */
export function chartOf({ root }: AnyStateMachine): Chart {
  return { id: root.key, states: statesIn(root), transitions: transitionsIn(root) };
}

/** What an event is called in a picture: a start and a delay have names of XState's own. */
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
          parent: aroundInner(node),
          kind: 'start',
          invokes: [],
          entry: [],
          exit: [],
        },
      ]
    : [];
  return [...start, ...Object.values(node.states).flatMap((state) => [stateOf(state), ...statesIn(state)])];
}

function stateOf(node: AnyStateNode): ChartState {
  return {
    id: idOf(node),
    name: node.key,
    parent: node.parent ? aroundInner(node.parent) : null,
    kind: node.type === 'final' ? 'final' : Object.keys(node.states).length > 0 ? 'group' : 'state',
    invokes: node.invoke.map(({ src }) => String(src)),
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
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
  // The name of the function does not survive minification; what it checks with does.
  const isNot = check !== undefined && check === memberOf(inverted, 'check');
  return isNot && Array.isArray(guards) ? `not ${guards.map(guardName).join()}` : nameOf(guard);
}

const inverted: unknown = not(() => true);

const memberOf = (value: unknown, name: 'check' | 'guards'): unknown =>
  typeof value === 'function' ? Reflect.get(value, name) : undefined;

/** Of an action or a guard. */
function nameOf(named: unknown): string {
  if (typeof named === 'string') return named;
  return typeof named === 'object' && named !== null && 'type' in named ? String(named.type) : 'unnamed';
}

/** A state without inner ones has an initial transition too, which leads nowhere. */
const firstIn = (node: AnyStateNode): AnyStateNode | undefined => node.initial?.target[0];

/** Id of a node as the surroundings of others. The machine itself is not drawn. */
const aroundInner = (node: AnyStateNode): string | null => (node.parent ? idOf(node) : null);

const idOf = (node: AnyStateNode): string => [node.machine.root.key, ...node.path].join('.');

const startOf = (node: AnyStateNode): string => `${idOf(node)}.start`;
