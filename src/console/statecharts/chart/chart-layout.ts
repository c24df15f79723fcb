import type { ELK, ElkEdgeSection, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from './chart.ts';
import { type Arrow, arrowLabel, arrowsOf, stateLines } from './chart-labels.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** Positions and sizes in a chart, in pixels. */
export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  /** By id. The position of a nested state is relative to its parent. */
  readonly states: ReadonlyMap<string, Box>;
  /** By id. */
  readonly transitions: ReadonlyMap<string, Route>;
}

export interface Route {
  readonly points: readonly Point[];
  /** Null for an arrow without a label. */
  readonly label: Box | null;
}

/** Text metrics in pixels. chart.module.css has the same numbers. */
const LINE_HEIGHT = 17;
const CHARACTER_WIDTH = 7;
const TITLE_HEIGHT = 32;
const PADDING = 12;
const START_SIZE = 14;
const ROW_GAP = 28;

/** Orders the states from the initial one on. Groups do not inherit this option, so each gets it, too. */
const READING_ORDER = { 'elk.layered.cycleBreaking.strategy': 'BFS_NODE_ORDER' };

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.edgeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
  ...READING_ORDER,
  'elk.spacing.nodeNode': '32',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
};

/** Places the states of a chart and routes its transitions without overlaps. */
export async function layoutChart(chart: Chart, elk: Pick<ELK, 'layout'>): Promise<ChartLayout> {
  const { laid, alone } = await layoutStates(chart, elk, new Map());
  const missing = missingWidths(chart, laid);
  // ELK makes groups as wide as their inner states, whatever their least width. Lay them out again with more padding.
  if (missing.size === 0) return chartLayoutOf(laid, alone);
  const wide = await layoutStates(chart, elk, missing);
  return chartLayoutOf(wide.laid, wide.alone);
}

/** Additional width by group, in pixels. */
type Widening = ReadonlyMap<string, number>;

interface Laid {
  readonly laid: ElkNode;
  /** States without arrows, which are not laid out yet. */
  readonly alone: readonly ElkNode[];
}

async function layoutStates(chart: Chart, elk: Pick<ELK, 'layout'>, widening: Widening): Promise<Laid> {
  const arrows = arrowsOf(chart);
  const connected = new Set(arrows.flatMap(({ source, target }) => [source, target]));
  const [outer, alone] = partition(childrenOf(chart, null, widening), ({ id }) => connected.has(id));
  const graph = { id: 'chart', layoutOptions: OPTIONS, children: outer, edges: arrows.map(edgeOf) };
  return { laid: await elk.layout(graph), alone };
}

/** How much wider groups must be to hold their own lines. */
function missingWidths(chart: Chart, laid: ElkNode): Widening {
  const boxes = new Map(boxesIn(laid));
  return new Map(
    chart.states.flatMap((state): [string, number][] => {
      const missing =
        textSizeOf(chart, state).width - (boxes.get(state.id)?.width ?? Number.POSITIVE_INFINITY);
      return state.kind === 'group' && missing > 0 ? [[state.id, missing]] : [];
    }),
  );
}

function chartLayoutOf(laid: ElkNode, alone: readonly ElkNode[]): ChartLayout {
  const { width = 0, height = 0 } = laid;
  const row = new Map(rowBelow({ width, height }, alone));
  return {
    width,
    height: Math.max(height, ...[...row.values()].map((box) => box.y + box.height)),
    states: new Map([...boxesIn(laid), ...row]),
    transitions: new Map((laid.edges ?? []).map((edge) => [edge.id, routeOf(edge)])),
  };
}

/** Where a state is in the whole chart; null for a state that is not drawn. */
export function boxOf(chart: Chart, layout: ChartLayout | null, id: string | undefined): Box | null {
  const state = chart.states.find((one) => one.id === id);
  const box = layout?.states.get(state?.id ?? '');
  if (!state || !box) return null;
  const around = state.parent === null ? null : boxOf(chart, layout, state.parent);
  return around ? { ...box, x: box.x + around.x, y: box.y + around.y } : box;
}

/** Places the states without arrows in a row below the others. Transitions of the whole machine lead to them. */
function* rowBelow(
  { width, height }: Pick<Box, 'width' | 'height'>,
  nodes: readonly ElkNode[],
): Generator<[string, Box]> {
  const total = nodes.reduce((sum, node) => sum + (node.width ?? 0) + ROW_GAP, -ROW_GAP);
  let x = (width - total) / 2;
  for (const { id, width: own = 0, height: tall = 0 } of nodes) {
    yield [id, { x, y: height + ROW_GAP, width: own, height: tall }];
    x += own + ROW_GAP;
  }
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

function childrenOf(chart: Chart, parent: string | null, widening: Widening): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map((state) => nodeOf(chart, state, widening));
}

function nodeOf(chart: Chart, state: ChartState, widening: Widening): ElkNode {
  const { id, kind } = state;
  if (kind === 'start') return { id, width: START_SIZE, height: START_SIZE };
  const { width, height } = textSizeOf(chart, state);
  const children = childrenOf(chart, id, widening);
  if (children.length === 0) return { id, width, height };
  const side = PADDING * 2 + (widening.get(id) ?? 0) / 2;
  const layoutOptions = {
    ...READING_ORDER,
    'elk.padding': `[top=${height + PADDING},left=${side},bottom=${PADDING * 2},right=${side}]`,
  };
  return { id, children, layoutOptions };
}

/** What the name and the lines of a state need. */
function textSizeOf(chart: Chart, state: ChartState): Pick<Box, 'width' | 'height'> {
  const lines = stateLines(state, chart).map(({ text }) => text);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + (lines.length > 0 ? PADDING / 2 : 0);
  return { width: widthOf([`${state.name}  `, ...lines]), height };
}

function edgeOf(arrow: Arrow): ElkExtendedEdge {
  const { id, source, target } = arrow;
  const lines = arrowLabel(arrow);
  const label = { text: id, width: widthOf(lines), height: lines.length * LINE_HEIGHT };
  return { id, sources: [source], targets: [target], labels: lines.length > 0 ? [label] : [] };
}

function widthOf(lines: readonly string[]): number {
  return Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER_WIDTH) + PADDING * 2;
}

function* boxesIn({ children = [] }: ElkNode): Generator<[string, Box]> {
  for (const child of children) {
    const { id, x = 0, y = 0, width = 0, height = 0 } = child;
    yield [id, { x, y, width, height }];
    yield* boxesIn(child);
  }
}

function routeOf({ sections = [], labels = [] }: ElkExtendedEdge): Route {
  const [label] = labels;
  const { x = 0, y = 0, width = 0, height = 0 } = label ?? {};
  return { points: sections.flatMap(pointsOf), label: label ? { x, y, width, height } : null };
}

function pointsOf({ startPoint, bendPoints = [], endPoint }: ElkEdgeSection): Point[] {
  return [startPoint, ...bendPoints, endPoint];
}
