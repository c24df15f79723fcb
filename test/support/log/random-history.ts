import { refusedThings } from '../../../src/core/conversation/refused.ts';
import { type ErrorBody, ServiceError } from '../../../src/core/errors.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import { SessionEvent } from '../../../src/core/log/events.ts';
import type { SessionCommand } from '../../../src/core/session/session-commands.ts';
import type { SettleToolCall } from '../../../src/core/tool-call/tool-call-commands.ts';
import type { StepPart } from '../../../src/core/turn/reply-parts.ts';
import { completeStep } from '../models/steps.ts';
import { seededRandom } from '../project/seeded-random.ts';
import { SessionLog } from './session-log.ts';

const HOUR_MS = 60 * 60_000;

/** All that may happen in a session, in any order that the decider allows: the same for the same seed, as a log has it. */
export function randomHistory(seed: number, commands: number): Envelope[] {
  const random = seededRandom(seed);
  const session = new SessionLog();
  for (let index = 0; index < commands; index += 1) {
    try {
      session.tell(nextCommand(session, random, index));
    } catch (error) {
      // Refused, as by a full queue: nothing happened.
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  return session.events.map((event, index) => ({
    sessionId: 's',
    seq: index + 1,
    time: 1_700_000_000_000 + index,
    event: SessionEvent.parse(JSON.parse(JSON.stringify(event))),
    meta: null,
  }));
}

function nextCommand({ state }: SessionLog, random: () => number, index: number): SessionCommand {
  const { open } = state;
  if (random() < 0.03) return { type: 'session.rename', title: random() < 0.7 ? `title ${index}` : null };
  if (random() < 0.02) return { type: 'session.describe', metadata: { at: `${index}`, kind: 'random' } };
  if (random() < 0.02) return { type: 'session.extend', given: [{ role: 'user', text: `given ${index}` }] };
  const pick = random();
  if (!open || pick < 0.2) return startTurn(random, index);
  const { turnId } = open;
  const partial = random() < 0.5 ? '' : `cut off ${index}`;
  const [call] = open.unsettled.keys();
  if (pick < 0.25) return { type: 'turn.cancel', turnId, reason: 'enough', partial };
  if (pick < 0.36) {
    return { type: 'turn.fail', turnId, cause: { kind: 'model' }, error: failure(random), partial };
  }
  if (pick < 0.39) return { type: 'session.reset', partial, ...maybeKey(random, index) };
  if (pick < 0.42) return { type: 'session.fork', from: 'parent', at: 3 };
  if (pick < 0.48) return { type: 'turn.resume' };
  const [held] = open.awaiting.keys();
  if (held !== undefined) return { type: 'approval.answer', callId: held, approved: random() < 0.7 };
  const [lent] = open.delegated.keys();
  if (lent !== undefined) return { ...settle(turnId, lent, random), type: 'tool-call.answer' };
  const [inputId] = open.asked?.keys() ?? [];
  if (inputId !== undefined && random() < 0.7) return endQuestion(turnId, inputId, random);
  if (call !== undefined && random() < 0.3) return ask(turnId, call, `${call}.${index}`);
  if (call !== undefined && random() < 0.1)
    return { type: 'sampling.record', turnId, callId: call, source: null };
  if (call !== undefined) return settle(turnId, call, random);
  return answer(turnId, open.step + 1, random, index);
}

function ask(turnId: string, callId: string, inputId: string): SessionCommand {
  const question = { mode: 'url', url: 'https://tea.example/' } as const;
  return { type: 'input.request', turnId, callId, inputId, message: 'Well?', question };
}

function endQuestion(turnId: string, inputId: string, random: () => number): SessionCommand {
  if (random() < 0.3) return { type: 'input.withdraw', turnId, inputId };
  return { type: 'input.answer', inputId, action: random() < 0.5 ? 'accept' : 'decline' };
}

/** Many providers refuse what a conversation holds. */
function failure(random: () => number): ErrorBody {
  const pick = Math.floor(random() * (refusedThings.length + 1));
  const refused = refusedThings[pick];
  const details = {
    reason: 'none',
    ...(refused && { refused }),
    ...(refused === 'context' && { shownTokens: Math.floor(random() * 100_000) }),
  };
  return { code: 'AGENT_ERROR', message: 'No.', details };
}

function startTurn(random: () => number, index: number): SessionCommand {
  const whenBusy = random() < 0.2 ? 'interrupt' : 'enqueue';
  const image = { base64: 'iVBORw==', mimeType: 'image/png' } as const;
  const message = { turnId: `turn-${index}`, text: `Zoë 👋 ${index}`, whenBusy } as const;
  return {
    type: 'turn.start',
    ...message,
    ...(random() < 0.3 && { image }),
    ...maybeKey(random, index),
  };
}

/** Some are used again, and in the course of a history they expire. */
function maybeKey(random: () => number, index: number): Pick<SessionCommand & { type: 'turn.start' }, 'key'> {
  if (random() < 0.5) return {};
  const id = `key-${Math.floor(random() * 30)}`;
  return { key: { id, fingerprint: 'the same', expiresAt: index * HOUR_MS } };
}

function settle(turnId: string, callId: string, random: () => number): SettleToolCall {
  const result = { content: [{ type: 'text', text: 'seen' }] };
  const outcome =
    random() < 0.6
      ? ({ status: 'succeeded', result } as const)
      : ({ status: 'failed', reason: 'gone' } as const);
  return { type: 'tool-call.settle', turnId, callId, outcome };
}

const source = { api: 'chat', provider: 'random', model: 'of-the-test' };

/** With all that a reply may have, each now and then. */
function answer(turnId: string, step: number, random: () => number, index: number): SessionCommand {
  const call = { name: 'look', toolName: 'look', serverId: 'srv', repeatable: random() < 0.5 };
  const count = Math.floor(random() * 3);
  const calls = Array.from({ length: count }, (_, number) => ({
    ...call,
    callId: `call-${index}-${number}`,
    arguments: { at: index, nested: { list: [null, 1.5, ''] } },
    ...(random() < 0.2 && { problem: 'it does not fit' }),
    ...(random() < 0.2
      ? { policy: 'auto' as const, byClient: true as const }
      : { policy: random() < 0.3 ? ('ask' as const) : ('auto' as const) }),
    argumentsHash: 'of the arguments',
  }));
  const opaque = { signature: `of ${index}`, list: [null, { deep: true }] };
  const sometimes = <P>(part: P): P[] => (random() < 0.3 ? [part] : []);
  const parts: StepPart[] = [
    ...sometimes<StepPart>({ type: 'reasoning', text: `thought ${index}` }),
    ...sometimes<StepPart>({ type: 'opaque', data: opaque }),
    ...sometimes<StepPart>({ type: 'text', text: `said ${index}` }),
    ...sometimes<StepPart>({ type: 'text', text: `said and signed ${index}`, opaque }),
    ...sometimes<StepPart>({ type: 'refusal', text: `refused ${index}` }),
    ...calls.map(
      ({ callId }): StepPart => ({
        type: 'toolCall',
        callId,
        ...(random() < 0.3 && { opaque }),
      }),
    ),
  ];
  return {
    ...completeStep({
      turnId,
      step,
      parts,
      calls,
      ...(random() < 0.7 && { source }),
      ...(random() < 0.2 && { finishReason: 'length' }),
      ...(random() < 0.5 && { usage: { inputTokens: index, outputTokens: 1, reasoningTokens: 0 } }),
    }),
    ...(random() < 0.2 && { outputIssue: 'it is not JSON' }),
  };
}
