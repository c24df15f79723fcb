import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { type TurnEffect, type TurnEvent, turnMachine } from '../../machines/turn.machine.ts';
import { stepCompleted } from '../support/models/steps.ts';

/** The machine, and the effects that it asks for: what is to begin and to end. */
function startTurn({
  maxSteps = 3,
  step = 0,
  unsettled = [] as string[],
  awaiting = [] as string[],
  delegated = [] as string[],
  isAskedAgain = false,
} = {}) {
  const effects: string[] = [];
  const calls = { unsettled, awaiting, delegated, asking: [] };
  const again = isAskedAgain && { isAskedAgain: true as const };
  const input = { turnId: 't', sessionId: 's', step, maxSteps, stepTimeoutMs: 1_000, ...calls, ...again };
  const actor = createActor(turnMachine, { input });
  actor.on('*', (effect) => effects.push(shortened(effect)));
  actor.start();
  const tell = (...events: TurnEvent[]) => {
    for (const event of events) actor.send(event);
    return actor.getSnapshot().value;
  };
  return { actor, effects, tell };
}

function shortened(effect: TurnEffect): string {
  switch (effect.type) {
    case 'model-call.begin':
      return '+model';
    case 'model-call.end':
      return '-model';
    case 'tool-calls.begin':
      return '+tools';
    case 'tool-call.begin':
      return `${effect.callId} granted`;
    case 'tool-calls.end':
      return '-tools';
    case 'turn.fail':
      return effect.limit;
    default:
      return effect satisfies never;
  }
}

const prepared = { type: 'turn.prepared' } as const;
const ref = { turnId: 't', toolName: 'x', serverId: 's' };
const stepped = (...callIds: string[]) => stepCompleted({ turnId: 't', callIds });
const settled = (callId: string) =>
  ({ type: 'tool-call.failed', ...ref, callId, cause: { kind: 'tool' }, reason: 'x' }) as const;
const asked = (callId: string) =>
  ({ type: 'approval.requested', ...ref, callId, arguments: {}, argumentsHash: 'h' }) as const;
const granted = (callId: string) =>
  ({ type: 'approval.granted', ...ref, callId, argumentsHash: 'h' }) as const;
const cancelled = {
  type: 'turn.cancelled',
  turnId: 't',
  cause: { kind: 'cancelled' },
  reason: 'r',
  step: 1,
  separator: '',
  partial: '',
} as const;
const completed = { type: 'turn.completed', turnId: 't', content: '' } as const;

describe('the turn machine', () => {
  it('prepares, thinks, streams and completes', () => {
    const { tell, effects } = startTurn();
    expect(tell(prepared)).toEqual({ callingModel: 'thinking' });
    expect(tell({ type: 'step.streaming' })).toEqual({ callingModel: 'streaming' });
    expect(tell(stepped(), completed)).toBe('completed');
    expect(effects).toEqual(['+model', '-model']);
  });

  it('runs the tools a step asks for, and calls the model again when all are settled', () => {
    const { tell, actor } = startTurn();
    expect(tell(prepared, stepped('1', '2'))).toEqual({ executingTools: 'running' });
    expect(tell(settled('2'))).toEqual({ executingTools: 'running' });
    expect(tell(settled('1'))).toEqual({ callingModel: 'thinking' });
    expect(actor.getSnapshot().context).toMatchObject({ step: 2, unsettled: [] });
  });

  it('waits for approval when nothing else is left, and hands on the calls that have it', () => {
    const { tell, effects } = startTurn();
    expect(tell(prepared, stepped('1', '2'), asked('1'))).toEqual({ executingTools: 'running' });
    expect(tell(settled('2'))).toEqual({ executingTools: 'awaitingApproval' });
    expect(tell(granted('1'))).toEqual({ executingTools: 'running' });
    expect(tell(settled('1'))).toEqual({ callingModel: 'thinking' });
    expect(effects).toEqual(['+model', '-model', '+tools', '1 granted', '-tools', '+model']);
  });

  it('waits for the answers to all questions of a call, when nothing else is left', () => {
    const { tell, actor } = startTurn();
    const input = { ...ref, callId: '1', inputId: 'i' };
    const question = { mode: 'url', url: 'https://tea.example/' } as const;
    const asks = { type: 'input.requested', ...input, message: 'Well?', question } as const;
    const answered = {
      type: 'input.answered',
      ...input,
      action: 'accept',
      cause: { kind: 'answered' },
    } as const;
    expect(tell(prepared, stepped('1', '2'), asks, asks)).toEqual({ executingTools: 'running' });
    expect(tell(settled('2'))).toEqual({ executingTools: 'awaitingInput' });
    expect(tell(answered)).toEqual({ executingTools: 'awaitingInput' });
    expect(tell(answered)).toEqual({ executingTools: 'running' });
    expect(actor.getSnapshot().context).toMatchObject({ unsettled: ['1'], asking: [] });
    expect(tell(settled('1'))).toEqual({ callingModel: 'thinking' });
  });

  it('waits for each of several approvals; a denied call is settled', () => {
    const { tell, actor } = startTurn();
    expect(tell(prepared, stepped('1', '2'), asked('1'), asked('2'))).toEqual({
      executingTools: 'awaitingApproval',
    });
    expect(tell(settled('1'))).toEqual({ executingTools: 'awaitingApproval' });
    expect(actor.getSnapshot().context).toMatchObject({ unsettled: ['2'], awaiting: ['2'] });
    expect(tell(settled('2'))).toEqual({ callingModel: 'thinking' });
  });

  it('goes on waiting when it is resumed', () => {
    const { tell, effects } = startTurn({ step: 1, unsettled: ['1'], awaiting: ['1'] });
    expect(tell(prepared)).toEqual({ executingTools: 'awaitingApproval' });
    expect(tell(granted('1'))).toEqual({ executingTools: 'running' });
    expect(effects).toContain('1 granted');
  });

  it('fails at the step limit instead of calling the model once more', () => {
    const { tell, effects } = startTurn({ maxSteps: 1 });
    expect(tell(prepared, stepped('1'), settled('1'))).toBe('failing');
    expect(effects).toContain('step-limit');
    expect(effects.filter((effect) => effect === '+model')).toHaveLength(1);
    const error = { code: 'AGENT_ERROR', message: '', details: {} } as const;
    const cause = { kind: 'step-limit', maxSteps: 1 } as const;
    const failed = {
      type: 'turn.failed',
      turnId: 't',
      cause,
      error,
      step: 1,
      separator: '',
      partial: '',
    } as const;
    expect(tell(failed)).toBe('failed');
  });

  it('ends a model call that takes too long, and aborts it', () => {
    const { tell, effects } = startTurn();
    expect(tell(prepared, { type: 'step.streaming' }, { type: 'step.timedOut' })).toBe('failing');
    expect(effects.slice(-2).toSorted()).toEqual(['-model', 'step-timeout']);
  });

  it.each([
    ['thinking', [prepared]],
    ['streaming', [prepared, { type: 'step.streaming' }]],
    ['executingTools', [prepared, stepped('1')]],
  ] as [string, TurnEvent[]][])('is cancelled from %s, ending the effect at once', (_, before) => {
    const { tell, effects } = startTurn();
    tell(...before);
    const running = effects.at(-1)?.slice(1);
    expect(tell({ type: 'CANCEL' })).toBe('cancelling');
    expect(effects.at(-1)).toBe(`-${running}`);
    expect(tell(cancelled)).toBe('cancelled');
  });

  it('is cancelled from preparing, before any effect', () => {
    const { tell, effects } = startTurn();
    expect(tell({ type: 'CANCEL' }, prepared)).toBe('cancelling');
    expect(tell(cancelled)).toBe('cancelled');
    expect(effects).toEqual([]);
  });

  it('can no longer be cancelled when it is over', () => {
    const { tell, actor } = startTurn();
    tell(prepared, completed);
    expect(actor.getSnapshot().status).toBe('done');
  });

  it('goes on with the tools that a resumed turn has left', () => {
    const { tell } = startTurn({ step: 1, unsettled: ['1'] });
    expect(tell(prepared)).toEqual({ executingTools: 'running' });
    expect(tell(settled('1'))).toEqual({ callingModel: 'thinking' });
  });

  it('takes what a resumed turn waited for before it is prepared', () => {
    const { tell, effects } = startTurn({ step: 1, unsettled: ['1', '2'], awaiting: ['1', '2'] });
    expect(tell(settled('1'), granted('2'))).toBe('preparing');
    expect(effects).toEqual([]);
    expect(tell(prepared)).toEqual({ executingTools: 'running' });
    expect(effects).toEqual(['+tools']);
    expect(tell(settled('2'))).toEqual({ callingModel: 'thinking' });
  });

  it('calls the model of a resumed turn whose last call is settled before it is prepared', () => {
    const { tell } = startTurn({ step: 1, unsettled: ['1'], delegated: ['1'] });
    expect(tell(settled('1'), prepared)).toEqual({ callingModel: 'thinking' });
  });

  it('calls the model of a resumed turn again that was told to correct its reply, also behind the last step', () => {
    const { tell, effects } = startTurn({ step: 1, maxSteps: 1, isAskedAgain: true });
    expect(tell(prepared)).toEqual({ callingModel: 'thinking' });
    expect(effects).toEqual(['+model']);
  });

  it('counts the steps of such a turn again as soon as the model asks for tools', () => {
    const { tell, effects } = startTurn({ step: 1, maxSteps: 2, isAskedAgain: true });
    expect(tell(prepared, stepped('1'), settled('1'))).toBe('failing');
    expect(effects).toContain('step-limit');
  });

  it('fails a resumed turn that has used up its steps', () => {
    const { tell, effects } = startTurn({ step: 3, maxSteps: 3 });
    expect(tell(prepared)).toBe('failing');
    expect(effects).toContain('step-limit');
    expect(effects).not.toContain('+model');
  });
});
