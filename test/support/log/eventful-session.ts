import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { StepPart } from '../../../src/core/turn/reply-parts.ts';
import { completeStep } from '../models/steps.ts';
import { SessionLog } from './session-log.ts';

/** A session forked from another one, with all that can happen in one but its deletion. Its last turn is open. */
export interface EventfulSession {
  /** Up to the fork. */
  readonly past: readonly SessionEvent[];
  /** What the fork added. */
  readonly closing: readonly SessionEvent[];
  readonly continued: readonly SessionEvent[];
}

const source = { api: 'messages', provider: 'anthropic', model: 'of-the-test' };
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

export function eventfulSession(from: string): EventfulSession {
  const session = new SessionLog();
  answerWithTools(session);
  approveAndDeny(session);
  answerInParts(session);
  refuseAndAnswer(session);
  failAndCancel(session);
  session.tell({ type: 'session.reset', partial: '', key: keyOf('reset') });
  session.tell({ type: 'turn.start', turnId: 't4', text: 'Once more.' });
  session.askForTools('t4');
  const past = [...session.events];
  const closing = session.tell({ type: 'session.fork', from, at: past.length });
  session.tell({ type: 'turn.start', turnId: 't5', text: 'Here, in the fork.' });
  session.askForTools('t5', 1, 'I look.');
  session.tell({ type: 'turn.start', turnId: 't6', text: 'And this.', key: keyOf('waiting') });
  return { past, closing, continued: session.events.slice(past.length + closing.length) };
}

function answerWithTools(session: SessionLog): void {
  const image = { base64: pixel, mimeType: 'image/png' } as const;
  const text = 'What is this? \u2028 Zoë 👋';
  session.tell({ type: 'turn.start', turnId: 't1', text, image, key: keyOf('image') });
  session.askForTools('t1', 1, 'Let me see.');
  const content = [{ type: 'text', text: 'a pixel' }];
  const seen = { status: 'succeeded', result: { content, structuredContent: { width: 1 } } } as const;
  const unseen = { status: 'failed', reason: 'no camera', result: { content } } as const;
  session.tell({ type: 'tool-call.settle', turnId: 't1', callId: 't1-once', outcome: seen });
  session.tell({ type: 'tool-call.settle', turnId: 't1', callId: 't1-again', outcome: unseen });
  const usage = { inputTokens: 12, outputTokens: 3 };
  session.tell(completeStep({ turnId: 't1', step: 2, text: 'A pixel.', usage }));
}

function approveAndDeny(session: SessionLog): void {
  const turnId = 'ta';
  const tool = { name: 'pay', toolName: 'pay', serverId: 'srv', repeatable: false };
  const call = { ...tool, arguments: { amount: 3 }, policy: 'ask', argumentsHash: 'a'.repeat(64) } as const;
  const calls = ['ta-yes', 'ta-no'].map((callId) => ({ ...call, callId }));
  session.tell({ type: 'turn.start', turnId, text: 'Pay twice.' });
  session.tell(completeStep({ turnId, calls }));
  session.tell({ type: 'approval.answer', callId: 'ta-yes', approved: true });
  session.tell({ type: 'approval.answer', callId: 'ta-no', approved: false, reason: 'once is enough' });
  const content = [{ type: 'text', text: 'paid' }];
  const paid = { status: 'succeeded', result: { content } } as const;
  session.tell({ type: 'tool-call.settle', turnId, callId: 'ta-yes', outcome: paid });
  session.tell(completeStep({ turnId, step: 2, text: 'Paid once.' }));
}

/** With all that a reply may be made of. */
function answerInParts(session: SessionLog): void {
  const turnId = 'tb';
  const opaque = { signature: 'c2lnbmVk', deep: { list: [null, 1.5, ''] } };
  const call = {
    callId: 'tb-1',
    name: 'look',
    toolName: 'look',
    serverId: 'srv',
    arguments: {},
    repeatable: true,
    policy: 'auto',
    argumentsHash: 'b'.repeat(64),
  } as const;
  session.tell({ type: 'turn.start', turnId, text: 'Think first.' });
  const parts: StepPart[] = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'opaque', data: opaque },
    { type: 'text', text: 'I look.', opaque },
    { type: 'toolCall', callId: 'tb-1', opaque },
  ];
  const usage = { inputTokens: 20, outputTokens: 9, cachedTokens: 0, reasoningTokens: 4 };
  session.tell(completeStep({ turnId, parts, calls: [call], source, usage }));
  const result = { content: [{ type: 'text', text: 'dark' }] };
  const outcome = { status: 'succeeded', result } as const;
  session.tell({ type: 'tool-call.settle', turnId, callId: 'tb-1', outcome });
  const refusal: StepPart = { type: 'refusal', text: 'I will not' };
  session.tell(completeStep({ turnId, step: 2, parts: [refusal], source, finishReason: 'length' }));
}

/** The provider refuses an image, then a conversation that is too long, and answers what is left. */
function refuseAndAnswer(session: SessionLog): void {
  const image = { base64: pixel, mimeType: 'image/png' } as const;
  session.tell({ type: 'turn.start', turnId: 'tc', text: 'And this?', image });
  refuse(session, 'tc', { refused: 'image' });
  session.tell({ type: 'turn.start', turnId: 'td', text: 'Too long.' });
  refuse(session, 'td', { refused: 'context', shownTokens: 4_000 });
  session.tell({ type: 'turn.start', turnId: 'te', text: 'Short.' });
  session.tell(completeStep({ turnId: 'te', text: 'Yes.', source }));
}

function refuse(session: SessionLog, turnId: string, details: Record<string, unknown>): void {
  const error = { code: 'AGENT_ERROR', message: 'No.', details } as const;
  session.tell({ type: 'turn.fail', turnId, cause: { kind: 'model' }, error, partial: '' });
}

function failAndCancel(session: SessionLog): void {
  session.tell({ type: 'turn.start', turnId: 't2', text: 'And now?' });
  session.tell({ type: 'turn.start', turnId: 't3', text: 'And then?' });
  session.askForTools('t2');
  const details = { reason: 'the provider is away' };
  const error = { code: 'AGENT_ERROR', message: 'There is no answer.', details } as const;
  session.tell({ type: 'turn.fail', turnId: 't2', cause: { kind: 'model' }, error, partial: 'So' });
  session.askForTools('t3', 1, 'Again.');
  session.tell({ type: 'turn.resume' });
  session.tell({ type: 'turn.cancel', turnId: 't3', reason: 'the user cancelled it', partial: 'Wait' });
}

function keyOf(id: string) {
  return { id, fingerprint: `of ${id}`, expiresAt: 1_800_000_000_000 };
}
