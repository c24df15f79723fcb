import type { StateValue } from '../../../core/machine-state.ts';
import { type Chart, type ChartTransition, eventLabel, START_EVENT } from './chart.ts';

/** Ids of the active states, each parent before its child. */
export function activeIn(machine: string, value: StateValue): string[] {
  if (typeof value === 'string') return [`${machine}.${value}`];
  return Object.entries(value).flatMap(([name, inner]) => {
    const id = `${machine}.${name}`;
    return [id, ...activeIn(id, inner)];
  });
}

/** Such as `callingModel › thinking`. */
export function stateText(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([name, inner]) => `${name} › ${stateText(inner)}`)
    .join(' and ');
}

/** The name of the innermost active state, such as `thinking`. */
export function innermostState(value: StateValue): string {
  return stateText(value).replace(/^.* › /, '');
}

/** What the active states mean, the outer before the inner. */
export function meaningsOf({ states }: Chart, active: readonly string[]): string[] {
  return states.flatMap(({ id, description }) => (description && active.includes(id) ? [description] : []));
}

/** The events that the machine accepts in these states; none in a final state. */
export function availableEvents({ states, transitions }: Chart, active: readonly string[]): string[] {
  const isFinal = states.some(({ id, kind }) => kind === 'final' && active.includes(id));
  if (isFinal || active.length === 0) return [];
  const events = transitions
    .filter(({ source, event }) => event !== '' && (source === null || active.includes(source)))
    .map(({ event }) => eventLabel(event));
  return [...new Set(events)];
}

/** A transition of a machine: the state before, the event, the state after. */
export interface Move {
  /** Null at the start of the machine. */
  readonly before: StateValue | null;
  readonly event: string | null;
  readonly after: StateValue;
}

/**
 * Ids of the transitions that the move took: the transition of the event and, if that one stayed in its state, an
 * eventless transition after it. They are found by the states before and after. Guards cannot be evaluated here,
 * because they need whole events and the page has only their types.
 */
export function takenBy({ id, transitions }: Chart, { before, event, after }: Move): string[] {
  const now = new Set(activeIn(id, after));
  const was = new Set(before === null ? [] : activeIn(id, before));
  const isFrom = ({ source }: ChartTransition) => source === null || was.has(source);
  const isInto = ({ target }: ChartTransition) => target === null || now.has(target);
  if (before === null || event === START_EVENT)
    return idsOf(transitions.filter((one) => one.event === START_EVENT && isInto(one)));
  const triggered = transitions.filter((one) => one.event === event && isFrom(one) && isInto(one));
  const followed = transitions.filter(
    (one) => one.event === '' && isFrom(one) && one.target !== null && isInto(one) && !was.has(one.target),
  );
  const hasLeft = triggered.some(({ target }) => target !== null);
  return idsOf([...triggered.slice(0, 1), ...(hasLeft ? [] : followed.slice(0, 1))]);
}

const idsOf = (transitions: readonly ChartTransition[]): string[] => transitions.map(({ id }) => id);
