import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import type { CallId, TurnId } from '../../../core/ids.ts';
import type { Envelope } from '../../../core/log/envelope.ts';
import { toolResultText } from '../../../core/tool-call/tool-result-text.ts';
import { callIdsOf, spokenText } from '../../../core/turn/step-parts.ts';
import { eventsIn } from '../../turns/recorded-turn.ts';

type AssistantMessage = Extract<GivenMessage, { role: 'assistant' }>;
type GivenCall = NonNullable<AssistantMessage['calls']>[number];

/**
 * A turn up to the calls that a client answers, as a conversation that a client brings: for an answer to calls that were
 * answered before. The results of those are left out.
 *
 * @param lastStep the step that asked for the calls.
 * @param namedAs what the client calls a call.
 */
export function restatedTurn(
  since: readonly Envelope[],
  turnId: TurnId,
  { lastStep, namedAs }: { readonly lastStep: number; readonly namedAs: (callId: CallId) => string },
): GivenMessage[] {
  const events = eventsIn(since, turnId);
  const calls = new Map<CallId, GivenCall>();
  const byClient = new Set<CallId>();
  for (const event of events) {
    if (event.type === 'tool-call.requested')
      calls.set(event.callId, {
        callId: namedAs(event.callId),
        name: event.name,
        arguments: event.arguments,
      });
    if (event.type === 'tool-call.delegated') byClient.add(event.callId);
  }
  const messages: GivenMessage[] = [];
  let step = 0;
  const settle = (callId: CallId, text: string): void => {
    const call = calls.get(callId);
    if (step === lastStep && byClient.has(callId)) return;
    if (call) messages.push({ role: 'tool', callId: call.callId, name: call.name, text });
  };
  for (const event of events) {
    if (event.type === 'step.completed') {
      if (event.step > lastStep) break;
      step = event.step;
    }
    switch (event.type) {
      case 'turn.requested': {
        const { text, image, given = [] } = event;
        for (const message of given) messages.push(message);
        if (text !== '' || image) messages.push({ role: 'user', text, ...(image && { images: [image] }) });
        break;
      }
      case 'step.completed': {
        const asked = callIdsOf(event.parts).flatMap((callId) => calls.get(callId) ?? []);
        const text = spokenText(event.parts);
        messages.push({ role: 'assistant', text, ...(asked.length > 0 && { calls: asked }) });
        break;
      }
      case 'tool-call.succeeded':
        settle(event.callId, toolResultText(event.result));
        break;
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        settle(event.callId, event.reason);
        break;
      default:
    }
  }
  return messages;
}
