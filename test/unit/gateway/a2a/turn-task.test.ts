import { describe, expect, it } from 'vitest';
import type { SessionEvent, SessionEventOf } from '../../../../src/core/log/events.ts';
import type { SessionSignal } from '../../../../src/core/session/session-signal.ts';
import { StreamCursor } from '../../../../src/core/session/stream-cursor.ts';
import type { Part, StreamResponse } from '../../../../src/gateway/a2a/a2a-objects.ts';
import { TurnTask } from '../../../../src/gateway/a2a/turn-task.ts';

/** The time before the first event. */
const START = 1_795_240_286_421;
const turnId = 't1';
const place = { agentId: 'default', sessionId: 'trip', turnId };
const source = { api: 'a', provider: 'p', model: 'm' };

/** The task of a turn, and what a client has of its reply that follows its updates. */
function told(signals: readonly (SessionEvent | string)[]) {
  const updates: StreamResponse[] = [];
  const task = new TurnTask(place, (update) => updates.push(update));
  const cursor = new StreamCursor({ seq: 0, offset: 0 });
  let seq = 0;
  let step = 1;
  let offset = 0;
  const signalOf = (signal: SessionEvent | string): SessionSignal => {
    if (typeof signal === 'string') {
      offset += signal.length;
      return {
        type: 'reply.chunk',
        sessionId: 'trip',
        turnId,
        step,
        content: signal,
        offset: offset - signal.length,
      };
    }
    if (signal.type === 'step.completed') step += 1;
    if (signal.type === 'step.completed' || signal.type === 'turn.resumed') offset = 0;
    seq += 1;
    return { sessionId: 'trip', seq, time: START + seq, event: signal, meta: null };
  };
  for (const signal of signals) for (const due of cursor.take(signalOf(signal))) task.take(due);
  let reply = '';
  let isComplete = false;
  for (const update of updates) {
    if (!('artifactUpdate' in update)) continue;
    const { artifact, append, lastChunk = false } = update.artifactUpdate;
    reply = (append ? reply : '') + (artifact.parts[0]?.text ?? '');
    isComplete = lastChunk;
  }
  const states = updates.flatMap((update) =>
    'statusUpdate' in update ? [update.statusUpdate.status.state] : [],
  );
  return { task: task.task, states, reply, isComplete };
}

const begun: SessionEvent[] = [
  { type: 'turn.requested', turnId, text: 'hello' },
  { type: 'turn.started', turnId },
];

const stepOf = (step: number, text: string, separator = ''): SessionEvent => ({
  type: 'step.completed',
  turnId,
  step,
  separator,
  source,
  parts: [{ type: 'text', text }],
});

const replyIn = ({ task }: ReturnType<typeof told>) => task?.artifacts?.[0]?.parts[0]?.text;

describe('a turn as a task', () => {
  it('tells the texts of all steps, each character once', () => {
    const both = told([
      ...begun,
      ...['Let me', ' look.'],
      stepOf(1, 'Let me look.'),
      '\n\nIt ra',
      stepOf(2, 'It rains.', '\n\n'),
      { type: 'turn.completed', turnId, content: 'Let me look.\n\nIt rains.' },
    ]);
    expect(both).toMatchObject({ reply: 'Let me look.\n\nIt rains.', isComplete: true });
    expect(replyIn(both)).toBe(both.reply);
    expect(both.states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  it('takes back what was said of a step that is begun again', () => {
    const resumed = [
      ...begun,
      'One.',
      stepOf(1, 'One.'),
      '\n\nTw',
      { type: 'turn.resumed', turnId, attempt: 2 },
    ] as const;
    expect(told(resumed)).toMatchObject({ reply: 'One.', isComplete: false });
    const ended = told([
      ...resumed,
      '\n\nThree.',
      stepOf(2, 'Three.', '\n\n'),
      { type: 'turn.completed', turnId, content: 'One.\n\nThree.' },
    ]);
    expect(ended).toMatchObject({ reply: 'One.\n\nThree.', isComplete: true });
    expect(replyIn(ended)).toBe('One.\n\nThree.');
  });

  it('keeps a reply whose form is checked until it is certain', () => {
    const [requested, started] = begun;
    if (requested?.type !== 'turn.requested' || !started) throw new Error('the turn begins otherwise');
    const options = { output: { schema: { type: 'object' }, name: 'answer' } };
    const formed = [{ ...requested, options }, started, '{"a":', stepOf(1, '{"a":1}')] as const;
    expect(told(formed).reply).toBe('');
    const ended = told([...formed, { type: 'turn.completed', turnId, content: '{"a":1}' }]);
    expect(ended).toMatchObject({ reply: '{"a":1}', isComplete: true });
  });

  it('has what was said of a reply that was cut', () => {
    const cut = told([
      ...begun,
      'It ra',
      {
        type: 'turn.cancelled',
        turnId,
        cause: { kind: 'cancelled' },
        reason: 'the client cancelled it',
        step: 1,
        separator: '',
        partial: 'It rai',
      },
    ]);
    expect(cut).toMatchObject({ reply: 'It rai', isComplete: true });
    expect(cut.task?.status).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { messageId: 't1.status.3', parts: [{ text: 'the client cancelled it' }] },
    });
  });

  const call = { turnId, callId: 'c1', toolName: 'order', serverId: 'tea' };
  const asked: SessionEventOf<'input.requested'> = {
    type: 'input.requested',
    ...call,
    inputId: 'c1.1.1',
    message: 'Which tea?',
    question: { mode: 'form', schema: { type: 'object', properties: { size: { type: 'string' } } } },
    expiresAfterMs: 1000,
  };
  const answered: SessionEvent = {
    type: 'input.answered',
    ...call,
    inputId: 'c1.1.1',
    action: 'accept',
    content: { size: 'large' },
    cause: { kind: 'answered' },
  };
  const expired: SessionEvent = {
    type: 'input.answered',
    ...call,
    inputId: 'c1.1.1',
    action: 'cancel',
    cause: { kind: 'input-expired', afterMs: 1000 },
  };
  const approvalAsked: SessionEvent = {
    type: 'approval.requested',
    ...call,
    callId: 'c2',
    arguments: {},
    argumentsHash: 'hash',
  };
  const dataIn = (parts: readonly Part[] = []) => parts.flatMap((part) => part.data ?? []);

  it('waits for the answer to a question, and remembers both', () => {
    const { task, states } = told([...begun, asked]);
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED']);
    expect(dataIn(task?.status.message?.parts)).toEqual([
      {
        kind: 'input',
        inputId: 'c1.1.1',
        callId: 'c1',
        toolName: 'order',
        serverId: 'tea',
        message: 'Which tea?',
        question: asked.question,
        expiresAt: new Date(START + 3 + 1000).toISOString(),
      },
    ]);
    const after = told([...begun, asked, answered]);
    expect(after.states.at(-1)).toBe('TASK_STATE_WORKING');
    expect(after.task?.history?.slice(1)).toMatchObject([
      { role: 'ROLE_AGENT', parts: [{}, { data: { inputId: 'c1.1.1' } }] },
      {
        messageId: 't1.answer.4',
        role: 'ROLE_USER',
        parts: [{ data: { inputId: 'c1.1.1', action: 'accept', content: { size: 'large' } } }],
      },
    ]);
  });

  it('goes on when a question ends without an answer, unless something else is waited for', () => {
    const ended = told([...begun, asked, expired]);
    expect(ended.states.at(-1)).toBe('TASK_STATE_WORKING');
    expect(ended.task?.history?.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']);
    const { task, states } = told([...begun, asked, approvalAsked, expired]);
    expect(states.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(dataIn(task?.status.message?.parts)).toMatchObject([{ kind: 'approval', callId: 'c2' }]);
  });

  it('says how each kind of question is answered', () => {
    const inWords = (question: (typeof asked)['question']) =>
      told([...begun, { ...asked, question }]).task?.status.message?.parts[0]?.text;
    expect(inWords(asked.question)).toBe(
      'The tool order (call c1) asks: Which tea? Answer accept with the content of its form, decline or cancel.',
    );
    expect(inWords({ mode: 'url', url: 'https://tea.example.com' })).toContain(
      'Which tea? Visit https://tea.example.com and answer accept, or answer decline or cancel.',
    );
    expect(inWords({ mode: 'sampling', prompt: 'hello', maxTokens: 5 })).toContain(
      'Which tea?\n\nhello\n\nAnswer accept, decline or cancel.',
    );
  });

  it('is about its own turn alone', () => {
    expect(told([{ type: 'turn.requested', turnId: 'other', text: 'hello' }]).task).toBeNull();
  });
});
