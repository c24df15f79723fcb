import type { Edge, Node } from '@xyflow/react';
import type { Chart, ChartState } from './chart.ts';
import { arrowLabel, arrowsOf, type Line, stateLines } from './chart-labels.ts';
import type { ChartLayout, Route } from './chart-layout.ts';

/** Ids of what the chart highlights: the active states and the transitions that were taken last. */
export interface Lit {
  readonly active: readonly string[];
  readonly taken: readonly string[];
}

export type StateNode = Node<
  {
    readonly name: string;
    readonly kind: ChartState['kind'];
    readonly lines: readonly (Line & { readonly isTaken: boolean })[];
    readonly isActive: boolean;
  },
  'state'
>;

export type ArrowEdge = Edge<
  { readonly route: Route; readonly label: readonly string[]; readonly isTaken: boolean },
  'arrow'
>;

/** The states of a chart as nodes of React Flow. */
export function nodesOf(chart: Chart, { states }: ChartLayout, { active, taken }: Lit): StateNode[] {
  return chart.states.flatMap((state): StateNode[] => {
    const box = states.get(state.id);
    if (!box) return [];
    const { id, name, kind, parent } = state;
    const lines = stateLines(state, chart).map((line) => ({
      ...line,
      isTaken: line.transition !== null && taken.includes(line.transition),
    }));
    return [
      {
        id,
        type: 'state',
        position: { x: box.x, y: box.y },
        width: box.width,
        height: box.height,
        ...(parent !== null && { parentId: parent }),
        data: { name, kind, lines, isActive: active.includes(id) },
      },
    ];
  });
}

/** The arrows of a chart as edges of React Flow. */
export function edgesOf(chart: Chart, { transitions }: ChartLayout, { taken }: Lit): ArrowEdge[] {
  return arrowsOf(chart).flatMap((arrow): ArrowEdge[] => {
    const { id, source, target } = arrow;
    const route = transitions.get(id);
    if (!route) return [];
    const isTaken = taken.includes(id);
    const label = arrowLabel(arrow);
    const data = { route, label, isTaken };
    const ariaLabel = `${source} leads to ${target}: ${label.join(' ') || 'at the start'}`;
    // A taken transition lies above the arrows that cross it.
    return [{ id, source, target, type: 'arrow', data, ariaLabel, zIndex: isTaken ? 2 : 1 }];
  });
}
