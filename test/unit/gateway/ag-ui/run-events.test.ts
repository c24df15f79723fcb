import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { StreamCursor } from '../../../../src/core/session/stream-cursor.ts';
import type { AgUiEvent } from '../../../../src/gateway/ag-ui/ag-ui-events.ts';
import { interruptId } from '../../../../src/gateway/ag-ui/interrupts.ts';
import { RunEvents } from '../../../../src/gateway/ag-ui/run-events.ts';
import type { InputMessage } from '../../../../src/gateway/ag-ui/run-input.ts';
import { AgUiTurnState } from '../../../../src/gateway/ag-ui/turn-state.ts';

const turnId = 't1';
const sessionId = 's';
const user = { id: 'u1', role: 'user' as const, content: 'hello' };
const source = { api: 'chat', provider: 'p', model: 'm' };

const requested: SessionEvent = { type: 'turn.requested', turnId, text: 'hello' };
const started: SessionEvent = { type: 'turn.started', turnId };
const step = (number: number, text: string, callId?: string): SessionEvent => ({
  type: 'step.completed',
  turnId,
  step: number,
  separator: number === 1 ? '' : '\n\n',
  source,
  parts: [{ type: 'text', text }, ...(callId === undefined ? [] : [{ type: 'toolCall' as const, callId }])],
});

const toolCall = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: id, arguments: '{}' },
});
const call = (callId: string) => ({ turnId, callId, toolName: callId, serverId: 's' });
const called = (callId: string): SessionEvent => ({
  type: 'tool-call.requested',
  ...call(callId),
  name: callId,
  arguments: {},
  repeatable: true,
});
/** Two tools are called, and the server of the first one asks to visit an address. */
const asking: readonly SessionEvent[] = [
  ...[requested, started],
  {
    type: 'step.completed',
    turnId,
    step: 1,
    separator: '',
    source,
    parts: ['buy', 'look'].map((callId) => ({ type: 'toolCall' as const, callId })),
  },
  ...[called('buy'), called('look')],
  {
    type: 'input.requested',
    ...call('buy'),
    inputId: 'buy.1.1',
    message: 'Pay here.',
    question: { mode: 'url', url: 'https://pay.example' },
  },
];

/** A run of a new thread, which gets these signals. */
class Run {
  readonly told: AgUiEvent[] = [];
  readonly #events: RunEvents;
  #seq = 0;

  /** @param before what the turn was before the run, which has decided about its calls. */
  constructor(
    state: unknown = undefined,
    known: readonly InputMessage[] = [],
    before: readonly SessionEvent[] = [],
  ) {
    const input = { threadId: sessionId, runId: 'r1', messages: [user, ...known], state };
    const turn = new AgUiTurnState(turnId);
    for (const event of before) {
      this.#seq += 1;
      turn.take({ sessionId, seq: this.#seq, time: 0, event, meta: null });
    }
    const decided = turn.clientCalls.map((callId) => interruptId({ turnId, callId }));
    const plan = { turn, afterSeq: this.#seq, decided, warnings: [] };
    this.#events = new RunEvents(input, plan, (event) => this.told.push(event));
    this.#events.begin();
  }

  get isOver(): boolean {
    return this.#events.isOver;
  }

  log(...events: SessionEvent[]): this {
    for (const event of events) {
      this.#seq += 1;
      this.#events.take({ sessionId, seq: this.#seq, time: 0, event, meta: null });
    }
    return this;
  }

  say(stepNumber: number, offset: number, content: string): this {
    this.#events.take({ type: 'reply.chunk', sessionId, turnId, step: stepNumber, offset, content });
    return this;
  }

  think(offset: number, content: string): this {
    this.#events.take({ type: 'reply.reasoning', sessionId, turnId, step: 1, offset, content });
    return this;
  }

  /** What was told of the reasoning, with the ids of its messages. */
  get thoughts(): string[] {
    return this.told.flatMap((event) =>
      event.type === 'REASONING_MESSAGE_CONTENT' ? [`${event.messageId} ${event.delta}`] : [],
    );
  }

  get types(): string[] {
    return this.told.map(({ type }) => type);
  }
}

describe('the events of a run', () => {
  it('takes back what was said of a step that begins again elsewhere', () => {
    const run = new Run().log(requested, started).say(1, 0, 'Let me');
    run.log({ type: 'turn.resumed', turnId, attempt: 2 }).say(1, 0, 'Hello').log(step(1, 'Hello'));
    run.log({ type: 'turn.completed', turnId, content: 'Hello' });
    expect(run.types).toEqual([
      ...['RUN_STARTED', 'STATE_SNAPSHOT', 'STEP_STARTED', 'STATE_DELTA'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'MESSAGES_SNAPSHOT'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_FINISHED'],
      ...['STATE_DELTA', 'RUN_FINISHED'],
    ]);
    expect(run.told.find(({ type }) => type === 'MESSAGES_SNAPSHOT')).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [user],
    });
    const ids = run.told.flatMap((event) => (event.type === 'TEXT_MESSAGE_START' ? [event.messageId] : []));
    expect(ids).toEqual(['t1-1', 't1-1-2']);
    expect(run.isOver).toBe(true);
  });

  it('leaves out what parts the texts of two steps, and keeps the messages of the first in a snapshot', () => {
    const run = new Run().log(requested, started, step(1, 'Let me look.', 'c1'), {
      type: 'tool-call.requested',
      turnId,
      callId: 'c1',
      toolName: 'look',
      serverId: 's',
      name: 'look',
      arguments: {},
      repeatable: true,
    });
    run.log({
      type: 'tool-call.succeeded',
      turnId,
      callId: 'c1',
      toolName: 'look',
      serverId: 's',
      result: { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
    });
    run.say(2, 0, '\n\n').say(2, 2, 'It is');
    expect(run.told.at(-1)).toEqual({ type: 'TEXT_MESSAGE_CONTENT', messageId: 't1-2', delta: 'It is' });
    run.log({ type: 'turn.resumed', turnId, attempt: 2 });
    const content = [{ type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }];
    expect(run.told.at(-1)).toMatchObject({
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        user,
        { id: 't1-1', role: 'assistant', content: 'Let me look.', toolCalls: [{ id: 'c1' }] },
        { id: 't1-result-c1', role: 'tool', toolCallId: 'c1', content },
      ],
    });
  });

  it('keeps one result of a tool of the page in a snapshot, with the id that the page has given it', () => {
    const asked = { id: 't1-1', role: 'assistant' as const, toolCalls: [toolCall('pick')] };
    const own = { id: 'mine', role: 'tool' as const, toolCallId: 'pick', content: 'red' };
    const lent = { ...call('pick'), serverId: null };
    const before = [
      ...[requested, started, step(1, '', 'pick'), { ...called('pick'), serverId: null }],
      { type: 'tool-call.delegated' as const, ...lent, arguments: {} },
    ];
    const run = new Run(undefined, [asked, own], before);
    const result = { content: [{ type: 'text' as const, text: 'red' }] };
    run.log({ type: 'tool-call.succeeded', ...lent, result }).say(2, 0, 'Red');
    run.log({ type: 'turn.resumed', turnId, attempt: 2 });
    expect(run.told.find(({ type }) => type === 'MESSAGES_SNAPSHOT')).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [user, asked, own],
    });
  });

  it('goes on with the reasoning that the client has', () => {
    const thought = (index: number, content: string) =>
      ({ id: `t1-1-reasoning-${index}`, role: 'reasoning', content }) as const;
    const run = (...known: InputMessage[]): Run => new Run(undefined, known).log(requested, started);
    const [one, other] = [thought(0, 'Hm, '), thought(1, 'so')];
    const goesOn = run(one).think(0, 'Hm, be').think(6, 'cause').say(1, 0, 'Yes').think(11, 'Or');
    expect(goesOn.thoughts).toEqual([
      ...['t1-1-reasoning-0 be', 't1-1-reasoning-0 cause', 't1-1-reasoning-1 Or'],
    ]);
    const whole = run(one).think(0, 'Hm, ');
    expect(whole.types).not.toContain('REASONING_START');
    expect(whole.say(1, 0, 'Yes').think(4, 'so').thoughts).toEqual(['t1-1-reasoning-1 so']);
    expect(run(one, other).think(0, 'Hm, so!').thoughts).toEqual(['t1-1-reasoning-1 !']);
    expect(run(one).think(0, 'H').think(1, 'm, so').thoughts).toEqual(['t1-1-reasoning-0 so']);
    // The client has missed something between the two.
    expect(run(one, other).think(0, 'Hm, or so').thoughts).toEqual(['t1-1-reasoning-2 Hm, or so']);
    expect(run().think(0, 'Hm, ').think(4, 'so').thoughts).toEqual([
      ...['t1-1-reasoning-0 Hm, ', 't1-1-reasoning-0 so'],
    ]);
  });

  it('tells the state to a client whose state is null', () => {
    const [, snapshot] = new Run(null).told;
    expect(snapshot).toMatchObject({ type: 'STATE_SNAPSHOT', snapshot: { session: { id: sessionId } } });
  });

  it('tells nothing of the state to a client whose state is no object', () => {
    const run = new Run(['mine']).log(requested, started, step(1, 'Hi'));
    run.log({ type: 'turn.completed', turnId, content: 'Hi', finishReason: 'length' });
    expect(run.types.filter((type) => type.startsWith('STATE_'))).toEqual([]);
    expect(run.told.at(-1)).toMatchObject({ type: 'RUN_FINISHED', metadata: { finishReason: 'length' } });
  });

  it('ends where a tool server asks, as soon as no other call is at work', () => {
    const run = new Run().log(...asking);
    expect(run.isOver).toBe(false);
    run.log({ type: 'tool-call.succeeded', ...call('look'), result: { content: [] } });
    expect(run.told.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [
          {
            id: 'input~t1~buy.1.1',
            reason: 'input_required',
            toolCallId: 'buy',
            message: 'The tool buy asks: Pay here. https://pay.example',
          },
        ],
      },
    });
    expect(run.told.at(-1)).not.toHaveProperty('outcome.interrupts.0.expiresAt');
  });

  it('ends as cancelled if the turn is, although a tool server was asking', () => {
    const cause = { kind: 'turn-cancelled' } as const;
    const run = new Run().log(
      ...asking,
      { type: 'input.answered', ...call('buy'), inputId: 'buy.1.1', action: 'cancel', cause },
      { type: 'tool-call.interrupted', ...call('buy'), reason: 'the turn was cancelled', cause },
      { type: 'tool-call.interrupted', ...call('look'), reason: 'the turn was cancelled', cause },
      {
        type: 'turn.cancelled',
        turnId,
        step: 1,
        separator: '',
        partial: '',
        reason: 'enough',
        cause: { kind: 'cancelled' },
      },
    );
    expect(run.told.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });
});

describe('a cursor that takes reasoning from the log', () => {
  const thought = (text: string) => [
    { type: 'reasoning' as const, text },
    { type: 'text' as const, text: 'Yes.' },
  ];
  const envelope = (text: string) => ({
    sessionId,
    seq: 1,
    time: 0,
    meta: null,
    event: { type: 'step.completed' as const, turnId, step: 1, separator: '', source, parts: thought(text) },
  });

  it('gives what the reader lacks of it, before the text', () => {
    const cursor = new StreamCursor({ seq: 0, offset: 0 }, { takesKeptReasoning: true });
    cursor.take({ type: 'reply.reasoning', sessionId, turnId, step: 1, offset: 0, content: 'Hm' });
    expect(cursor.take(envelope('Hm, why'))).toMatchObject([
      { type: 'reply.reasoning', offset: 2, content: ', why' },
      { type: 'reply.chunk', content: 'Yes.' },
      { seq: 1 },
    ]);
  });

  it('is asked for', () => {
    expect(new StreamCursor({ seq: 0, offset: 0 }).take(envelope('Hm'))).toMatchObject([
      { type: 'reply.chunk', content: 'Yes.' },
      { seq: 1 },
    ]);
  });
});
