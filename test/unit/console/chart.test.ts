import ELK from 'elkjs/lib/elk.bundled.js';
import { describe, expect, it } from 'vitest';
import { mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import { turnMachine } from '../../../machines/turn.machine.ts';
import {
  activeIn,
  availableEvents,
  stateText,
  takenBy,
} from '../../../src/console/statecharts/chart/active-states.ts';
import { arrowHead, roundedPath } from '../../../src/console/statecharts/chart/arrow-path.ts';
import { chartOf } from '../../../src/console/statecharts/chart/chart.ts';
import { arrowLabel, arrowsOf, stateLines } from '../../../src/console/statecharts/chart/chart-labels.ts';
import { layoutChart } from '../../../src/console/statecharts/chart/chart-layout.ts';

const turn = chartOf(turnMachine);
const server = chartOf(mcpServerMachine);

const arrows = (chart: typeof turn) =>
  arrowsOf(chart).map((arrow) => `${arrow.source} > ${arrow.target}: ${arrowLabel(arrow).join(' ')}`);

const linesOf = (id: string) =>
  turn.states
    .filter((state) => state.id === id)
    .flatMap((state) => stateLines(state, turn).map(({ text }) => text));

const labelsOf = (ids: readonly string[]) =>
  turn.transitions.filter(({ id }) => ids.includes(id)).map((taken) => arrowLabel(taken).join(' '));

describe('the chart of a machine', () => {
  it('has every state once, in the state around it', () => {
    expect(turn.states.map(({ id, parent, kind }) => `${parent ?? ''}/${id} ${kind}`)).toEqual([
      '/turn.start start',
      '/turn.preparing state',
      '/turn.callingModel group',
      'turn.callingModel/turn.callingModel.start start',
      'turn.callingModel/turn.callingModel.thinking state',
      'turn.callingModel/turn.callingModel.streaming state',
      '/turn.executingTools group',
      'turn.executingTools/turn.executingTools.start start',
      'turn.executingTools/turn.executingTools.running state',
      'turn.executingTools/turn.executingTools.awaitingApproval state',
      '/turn.cancelling state',
      '/turn.failing state',
      '/turn.completed final',
      '/turn.failed final',
      '/turn.cancelled final',
    ]);
  });

  it('has its transitions with events, guards, delays and those that happen by themselves', () => {
    expect(arrows(turn)).toEqual(
      expect.arrayContaining([
        'turn.start > turn.preparing: ',
        'turn.preparing > turn.executingTools: turn.prepared [hasStepped]',
        'turn.callingModel > turn.failing: step.timedOut',
        'turn.executingTools > turn.callingModel: always [allSettled]',
        'turn.executingTools.awaitingApproval > turn.executingTools.running: always [not onlyApprovalsMissing]',
      ]),
    );
    expect(arrows(server)).toContain('mcp-server.error > mcp-server.connecting: after retryDelay');
  });

  it('tells in the states of transitions that have no arrow', () => {
    expect(linesOf('turn.completed')).toEqual(['any state: turn.completed']);
    expect(linesOf('turn.executingTools')).toEqual([
      'entry / startToolCalls',
      'exit / endToolCalls',
      'approval.requested / awaitApproval',
      'approval.granted / endWait, startApprovedCall',
      'tool-call.succeeded / settleCall',
      'tool-call.failed / settleCall',
      'tool-call.interrupted / settleCall',
    ]);
  });

  it('leaves no transition of the definition out', () => {
    for (const chart of [turn, server]) {
      const told = chart.states.flatMap((state) =>
        stateLines(state, chart).map(({ transition }) => transition),
      );
      const drawn = arrowsOf(chart).map(({ id }) => id);
      expect([...drawn, ...told.filter((id) => id !== null)].toSorted()).toEqual(
        chart.transitions.map(({ id }) => id).toSorted(),
      );
      expect(new Set(chart.transitions.map(({ id }) => id)).size).toBe(chart.transitions.length);
    }
  });
});

describe('a machine that runs', () => {
  it('has its states lit, each after the one around it', () => {
    expect(activeIn('turn', { callingModel: 'thinking' })).toEqual([
      'turn.callingModel',
      'turn.callingModel.thinking',
    ]);
    expect(activeIn('turn', 'completed')).toEqual(['turn.completed']);
    expect(stateText({ callingModel: 'thinking' })).toBe('callingModel › thinking');
  });

  it('tells what it waits for; nothing when it is over', () => {
    const events = (value: Parameters<typeof activeIn>[1]) => availableEvents(turn, activeIn('turn', value));
    expect(events({ callingModel: 'thinking' })).toEqual([
      'turn.completed',
      'turn.failed',
      'turn.cancelled',
      'step.completed',
      'step.timedOut',
      'CANCEL',
      'step.streaming',
    ]);
    expect(events('completed')).toEqual([]);
  });

  it('shows the transition it has taken: of the event, from anywhere, or by itself', () => {
    const running = { executingTools: 'running' };
    expect(labelsOf(takenBy(turn, { before: 'preparing', event: 'turn.prepared', after: running }))).toEqual([
      'turn.prepared [hasStepped]',
    ]);
    expect(
      labelsOf(takenBy(turn, { before: 'cancelling', event: 'turn.cancelled', after: 'cancelled' })),
    ).toEqual(['turn.cancelled']);
    const thinking = { callingModel: 'thinking' };
    expect(
      labelsOf(takenBy(turn, { before: running, event: 'tool-call.succeeded', after: thinking })),
    ).toEqual(['tool-call.succeeded', 'always [allSettled]']);
    const streaming = { callingModel: 'streaming' };
    expect(takenBy(turn, { before: streaming, event: 'step.completed', after: streaming })).toEqual([]);
    expect(takenBy(turn, { before: null, event: 'xstate.init', after: 'preparing' })).toEqual(['turn.start']);
  });
});

describe('the layout of a chart', () => {
  it('gives every state a box within the one around it, and every arrow a way and a place for its label', async () => {
    for (const chart of [turn, server]) {
      const { states, transitions, width, height } = await layoutChart(chart, new ELK.default());
      for (const { id, parent } of chart.states) {
        const box = states.get(id);
        const around = parent === null ? { width, height } : states.get(parent);
        expect(
          box && around && box.x + box.width <= around.width && box.y + box.height <= around.height,
        ).toBe(true);
      }
      for (const arrow of arrowsOf(chart)) {
        const route = transitions.get(arrow.id);
        expect(route?.points.length).toBeGreaterThan(1);
        expect(route?.label === null).toBe(arrowLabel(arrow).length === 0);
      }
    }
  });

  it('rounds the corners of an arrow and ends it with a head', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 0, y: 100 },
      { x: 50, y: 100 },
    ];
    expect(roundedPath(points)).toBe('M0.0,0.0 L0.0,92.0 Q0.0,100.0 8.0,100.0 L50.0,100.0');
    expect(arrowHead(points)).toBe('M50.0,100.0 L42.0,96.0 L42.0,104.0 Z');
  });
});
