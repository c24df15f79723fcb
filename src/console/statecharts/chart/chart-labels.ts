import { type Chart, type ChartState, type ChartTransition, eventLabel, START_EVENT } from './chart.ts';

export interface Line {
  readonly text: string;
  /** Id of the transition that the line describes; null for an effect. */
  readonly transition: string | null;
}

/** A transition that is drawn as an arrow from one state to another. */
export type Arrow = ChartTransition & { readonly source: string; readonly target: string };

export function arrowsOf({ transitions }: Chart): Arrow[] {
  return transitions.filter(
    (transition): transition is Arrow => transition.source !== null && transition.target !== null,
  );
}

/** The lines at an arrow: its event and its guard. */
export function arrowLabel({ event, guard }: ChartTransition): string[] {
  if (event === START_EVENT) return [];
  return [eventLabel(event), ...(guard === null ? [] : [`[${guard}]`])];
}

/**
 * The lines below the name of a state: its effects, and the transitions that have no arrow, because they come
 * from every state or lead to none.
 */
export function stateLines(state: ChartState, { transitions }: Chart): Line[] {
  const effects = [
    ...state.invokes.map((effect) => `runs ${effect}`),
    ...(state.entry.length > 0 ? [`on entry: ${state.entry.join(', ')}`] : []),
    ...(state.exit.length > 0 ? [`on exit: ${state.exit.join(', ')}`] : []),
  ];
  const into = transitions.filter(({ source, target }) => source === null && target === state.id);
  const staying = transitions.filter(({ source, target }) => source === state.id && target === null);
  return [
    ...effects.map((text) => ({ text, transition: null })),
    ...into.map(({ id, event }) => ({ text: `from any state: ${eventLabel(event)}`, transition: id })),
    ...staying.map((transition) => ({
      text: `${arrowLabel(transition).join(' ')} / ${transition.actions.join(', ')}`,
      transition: transition.id,
    })),
  ];
}
