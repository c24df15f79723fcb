import type { StateValue } from '../../../core/machine-state.ts';
import { type Chart, type ChartTransition, eventLabel, START_EVENT } from './chart.ts';

/** Ids of the states that are active, each after the one around it. */
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

/** What a machine in these states waits for; nothing once a final one is reached. */
export function availableEvents({ states, transitions }: Chart, active: readonly string[]): string[] {
  const isFinal = states.some(({ id, kind }) => kind === 'final' && active.includes(id));
  if (isFinal || active.length === 0) return [];
  const events = transitions
    .filter(({ source, event }) => event !== '' && (source === null || active.includes(source)))
    .map(({ event }) => eventLabel(event));
  return [...new Set(events)];
}

/** Where a machine was, what it was told, where it is. */
export interface Move {
  /** Null at its start. */
  readonly before: StateValue | null;
  readonly event: string | null;
  readonly after: StateValue;
}

/**
 * Ids of the transitions that were taken: that of the event, and where it left no other trace the one that followed by
 * itself. Found by where the machine was and is, because guards see events whole and a watcher sees their types.
 */
export function takenBy({ id, transitions }: Chart, { before, event, after }: Move): string[] {
  const now = new Set(activeIn(id, after));
  const was = new Set(before === null ? [] : activeIn(id, before));
  const isFrom = ({ source }: ChartTransition) => source === null || was.has(source);
  const isInto = ({ target }: ChartTransition) => target === null || now.has(target);
  if (before === null || event === START_EVENT)
    return idsOf(transitions.filter((one) => one.event === START_EVENT && isInto(one)));
  const told = transitions.filter((one) => one.event === event && isFrom(one) && isInto(one));
  const followed = transitions.filter(
    (one) => one.event === '' && isFrom(one) && one.target !== null && isInto(one) && !was.has(one.target),
  );
  const hasLeft = told.some(({ target }) => target !== null);
  return idsOf([...told.slice(0, 1), ...(hasLeft ? [] : followed.slice(0, 1))]);
}

const idsOf = (transitions: readonly ChartTransition[]): string[] => transitions.map(({ id }) => id);
