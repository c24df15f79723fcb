import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { spokenText } from '../../../src/core/turn/step-parts.ts';
import type {
  LanguageModel,
  ModelReply,
  ModelRequest,
  RawToolCall,
  ReplyListener,
} from '../../../src/ports/language-model.ts';
import { type ReplayReport, replaySession } from '../../../src/replay/replay-session.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import { ToolCatalog } from '../../../src/runtime/tools/tool-catalog.ts';
import { histories } from '../../support/log/recorded-histories.ts';
import { stepCompleted, stepParts } from '../../support/models/steps.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { serverBook } from '../../support/tools/server-book.ts';

const callRef = { turnId: 'a', callId: 'c', toolName: 'look', serverId: 'tools' };

/** A turn with one tool call. */
const oneCall: readonly SessionEvent[] = [
  { type: 'turn.requested', turnId: 'a', text: 'hello' },
  { type: 'turn.started', turnId: 'a' },
  stepCompleted({
    turnId: 'a',
    text: 'Let me look.',
    callIds: ['c'],
    usage: { inputTokens: 1, outputTokens: 2 },
  }),
  { type: 'tool-call.requested', ...callRef, name: 'look', arguments: { at: 'it' }, repeatable: true },
  { type: 'tool-call.succeeded', ...callRef, result: { content: [{ type: 'text', text: 'seen' }] } },
  stepCompleted({ turnId: 'a', step: 2, text: 'Seen.', separator: '\n\n' }),
  { type: 'turn.completed', turnId: 'a', content: 'Let me look.\n\nSeen.' },
];

const look: RawToolCall = { callId: 'another-id', name: 'look', arguments: '{"at":"it"}' };
const asks = (...calls: RawToolCall[]): ModelReply => ({
  parts: [
    { type: 'text', text: 'Let me look.' },
    ...calls.map((call) => ({ type: 'toolCall' as const, ...call })),
  ],
});
const says = (text: string): ModelReply => ({ parts: [{ type: 'text', text }] });
const said = { type: 'text', text: 'Let me look.' };
const call = (callId: unknown) => ({ type: 'toolCall', callId });

class AnsweringModel implements LanguageModel {
  readonly label = 'live';
  readonly source = { api: 'chat', provider: 'live', model: 'live' };
  readonly requests: ModelRequest[] = [];
  readonly #answers: readonly ModelReply[];

  constructor(answers: readonly ModelReply[]) {
    this.#answers = answers;
  }

  async generate(request: ModelRequest, { onText }: ReplyListener): Promise<ModelReply> {
    const answer = this.#answers[this.requests.length];
    this.requests.push(request);
    if (!answer) throw new ServiceError('AGENT_ERROR', 'No.', { reason: 'no answer is left' });
    onText(spokenText(answer.parts));
    return answer;
  }
}

interface Live {
  readonly recording?: readonly SessionEvent[] | undefined;
  readonly maxSteps?: number;
  readonly tools?: readonly string[];
}

/** Replays with a model that gives these answers, and servers whose tools must not be called. */
async function replayLive(
  answers: readonly ModelReply[],
  { recording = oneCall, maxSteps = 5, tools = ['look'] }: Live = {},
): Promise<ReplayReport & { requests: ModelRequest[] }> {
  const model = new AnsweringModel(answers);
  const connector = new DirectedTools(Object.fromEntries(tools.map((name) => [name, { repeatable: true }])));
  const store = memoryEventStore();
  const log = recordingLog();
  await using supervisor = new McpSupervisor(
    { connector, log, machines: new LiveMachines(), retryDelayMs: () => 1_000 },
    serverBook(store),
  );
  supervisor.start({ tools: { type: 'stdio', command: 'none' } });
  const catalog = new ToolCatalog(
    supervisor.servers,
    {
      issueWith: async () => undefined,
      ofServer: async () => ({}),
      ofResult: async () => ({}),
      ofClient: async () => ({}),
    },
    {
      approval: { rules: [], default: 'auto' },
      clientTools: { expiresAfterMs: 3_600_000 },
      elicitation: { expiresAfterMs: 1_000 },
      roots: [],
      fileUrl: String,
      log,
    },
  );
  await catalog.ready();
  const agent = { systemPrompt: 'Be short.', historyTokens: 1_000, maxSteps, stepTimeoutMs: 60_000 };
  const report = await replaySession(recording, { store, log, live: { ...agent, model, tools: catalog } });
  expect(connector.calls).toEqual([]);
  return { ...report, requests: model.requests };
}

describe('a live replay', () => {
  it('asks the model with its own prompt and tools, and answers its calls from the recording', async () => {
    const { difference, stateHash, requests } = await replayLive([asks(look), says('Seen.')]);
    expect(difference).toBeNull();
    expect(stateHash?.recorded).toMatch(/^[0-9a-f]{64}$/);
    expect(stateHash?.replayed).toBe(stateHash?.recorded);
    expect(requests.map(({ systemPrompt }) => systemPrompt)).toEqual(['Be short.', 'Be short.']);
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['look']);
    expect(requests[1]?.messages).toMatchObject([
      { role: 'user', text: 'hello' },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Let me look.' },
          { type: 'toolCall', name: 'look', arguments: { at: 'it' } },
        ],
      },
      { role: 'tool', name: 'look', text: 'seen' },
    ]);
  });

  it.each([
    ['another text', [says('No.')], 3, { parts: stepParts('No.') }],
    ['another argument', [asks({ ...look, arguments: '{"at":"that"}' })], 4, { arguments: { at: 'that' } }],
    ['another tool', [asks({ ...look, name: 'listen' })], 4, { name: 'listen' }],
    ['one call more', [asks(look, look)], 3, { parts: [said, call('c'), call(expect.any(String))] }],
    ['one call less', [asks()], 3, { parts: [said] }],
    ['another end', [asks(look), says('Not seen.')], 6, { parts: stepParts('Not seen.') }],
    ['a failure', [asks(look)], 6, { type: 'turn.failed', step: 2 }],
  ])('ends at the first event that differs: %s', async (_, answers, seq, replayed) => {
    const { difference, stateHash } = await replayLive(answers);
    const step = seq < 5 ? 1 : 2;
    expect(difference).toMatchObject({ seq, turn: 1, step, recorded: oneCall[seq - 1], replayed });
    expect(stateHash).toBeNull();
  });

  it('keeps to the limits of the agent file', async () => {
    const { difference } = await replayLive([asks(look), says('Seen.')], { maxSteps: 1 });
    expect(difference).toMatchObject({ seq: 6, replayed: { type: 'turn.failed', step: 2 } });
  });

  it('finds a tool that is no longer offered', async () => {
    const { difference } = await replayLive([asks(look)], { tools: ['listen'] });
    expect(difference).toMatchObject({ seq: 4, replayed: { type: 'tool-call.requested', serverId: null } });
  });

  it('repeats what failed or was cancelled as it was recorded, without asking', async () => {
    const failures = await histories['failures of the model, before and after it said something']?.();
    const failed = await replayLive([], { recording: failures });
    expect(failed).toMatchObject({ difference: null, events: failures?.length, requests: [] });
    const cancels = await histories['a cancel in the middle of a sentence, with messages behind it']?.();
    const cancelled = await replayLive([says('done')], { recording: cancels });
    expect(cancelled).toMatchObject({ difference: null, events: cancels?.length });
    expect(cancelled.requests.length).toBe(1);
  });
});
