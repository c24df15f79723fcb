import ELK from 'elkjs/lib/elk.bundled.js';
import { describe, expect, it } from 'vitest';
import { mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import { turnMachine } from '../../../machines/turn.machine.ts';
import {
  activeIn,
  availableEvents,
  innermostState,
  meaningsOf,
  stateText,
  takenBy,
} from '../../../src/console/statecharts/chart/active-states.ts';
import { arrowHead, roundedPath } from '../../../src/console/statecharts/chart/arrow-path.ts';
import { chartOf, eventLabel } from '../../../src/console/statecharts/chart/chart.ts';
import { arrowLabel, arrowsOf, stateLines } from '../../../src/console/statecharts/chart/chart-labels.ts';
import { boxOf, layoutChart } from '../../../src/console/statecharts/chart/chart-layout.ts';
import { fieldName, fieldText } from '../../../src/console/statecharts/context-words.ts';
import { meaningOf } from '../../../src/console/statecharts/event-meanings.ts';

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
      '/turn.askingAgain state',
      '/turn.executingTools group',
      'turn.executingTools/turn.executingTools.start start',
      'turn.executingTools/turn.executingTools.running state',
      'turn.executingTools/turn.executingTools.awaitingApproval state',
      'turn.executingTools/turn.executingTools.awaitingClient state',
      'turn.executingTools/turn.executingTools.awaitingInput state',
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
        'turn.executingTools.awaitingApproval > turn.executingTools.running: always [not awaitsApproval]',
      ]),
    );
    expect(arrows(server)).toContain('mcp-server.error > mcp-server.connecting: after retryDelay');
  });

  it('tells in the states of transitions that have no arrow', () => {
    expect(linesOf('turn.completed')).toEqual(['from any state: turn.completed']);
    expect(linesOf('turn.executingTools')).toEqual([
      'on entry: startToolCalls',
      'on exit: endToolCalls',
      'approval.requested / awaitApproval',
      'approval.granted / endWait, startApprovedCall',
      'tool-call.delegated / awaitClient',
      'input.requested / awaitInput',
      'input.answered / endQuestion',
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
      'output.rejected',
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

describe('the words about a chart', () => {
  it('explain every state of every machine', () => {
    for (const { states } of [turn, server])
      expect(states.filter(({ kind, description }) => kind !== 'start' && !description)).toEqual([]);
  });

  it('explain every event that a machine waits for', () => {
    const labels = [turn, server]
      .flatMap(({ transitions }) => transitions.map(({ event }) => eventLabel(event)))
      .filter((label) => label !== 'always');
    expect([...new Set(labels)].filter((label) => meaningOf(label) === undefined)).toEqual([]);
  });

  it('explain the active states, the outer before the inner', () => {
    const value = { executingTools: 'awaitingApproval' };
    expect(meaningsOf(turn, activeIn('turn', value))).toEqual([
      'The model asked for tools. The turn continues when each tool call has a result.',
      'The turn waits until somebody approves or denies a tool call.',
    ]);
    expect(innermostState(value)).toBe('awaitingApproval');
    expect(innermostState('completed')).toBe('completed');
  });

  it('name no actions of XState itself', () => {
    const entries = server.states.flatMap(({ entry, exit }) => [...entry, ...exit]);
    expect(entries).toEqual(['forgetFailures', 'forgetError', 'forgetTools', 'forgetError']);
  });

  it('say what is in the context of a machine', () => {
    const context = {
      step: 2,
      maxSteps: 25,
      stepTimeoutMs: 90_000,
      unsettled: ['a', 'b'],
      awaiting: [],
      error: null,
    };
    expect(
      Object.entries(context).map(([name, value]) => `${fieldName(name)}: ${fieldText(name, value)}`),
    ).toEqual([
      'Model calls so far: 2',
      'At most: 25 model calls in a turn',
      'Time for a model call: 1 min 30 s',
      'Tool calls without a result: a, b',
      'Waiting for approval: none',
      'Last error: none',
    ]);
    expect(fieldName('somethingNew')).toBe('somethingNew');
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

  it('gives every state room for its name and its lines', async () => {
    for (const chart of [turn, server]) {
      const { states } = await layoutChart(chart, new ELK.default());
      const narrow = chart.states.filter((state) => {
        const texts = [state.name, ...stateLines(state, chart).map(({ text }) => text)];
        const longest = Math.max(...texts.map(({ length }) => length));
        // 7 pixels a letter, and some space at both ends.
        return state.kind !== 'start' && (states.get(state.id)?.width ?? 0) < longest * 7 + 16;
      });
      expect(narrow.map(({ id }) => id)).toEqual([]);
    }
  });

  it('tells where a nested state is in the whole chart', async () => {
    const layout = await layoutChart(turn, new ELK.default());
    const around = layout.states.get('turn.callingModel');
    const inner = layout.states.get('turn.callingModel.thinking');
    expect(boxOf(turn, layout, 'turn.callingModel.thinking')).toMatchObject({
      x: (around?.x ?? 0) + (inner?.x ?? 0),
      y: (around?.y ?? 0) + (inner?.y ?? 0),
    });
    expect(boxOf(turn, layout, undefined)).toBeNull();
    expect(boxOf(turn, null, 'turn.callingModel')).toBeNull();
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
