import { z } from 'zod';
import { shorten } from '../../core/shorten.ts';
import { REDACTED, withoutKey } from '../provider/endpoint.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';

const MAX_CHARACTERS = 2_000;
/** A shorter match may be a coincidence. */
const MIN_REPEATED = 16;

/** The fields of a request that hold the conversation, in all interfaces. */
const Conversation = z
  .object({ messages: z.unknown(), input: z.unknown(), system: z.unknown(), instructions: z.unknown() })
  .partial();

/**
 * A provider's own error for the operator's log: without the key, and without what it repeats of the conversation.
 *
 * @param body the request, as JSON.
 */
export function providerText(answer: unknown, access: ProviderEndpoint, body: string): string {
  const conversation = JSON.stringify(Conversation.parse(JSON.parse(body)));
  const whole = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const text = withoutRepeats(withoutKey(whole.slice(0, 2 * MAX_CHARACTERS), access), conversation);
  return shorten(text, MAX_CHARACTERS);
}

/** Reads the conversation once, however long it is. */
function withoutRepeats(text: string, conversation: string): string {
  const starts = new Map<string, number[]>();
  for (let at = 0; at + MIN_REPEATED <= text.length; at += 1) {
    const piece = text.slice(at, at + MIN_REPEATED);
    starts.set(piece, [...(starts.get(piece) ?? []), at]);
  }
  const repeated = new Set<number>();
  for (let at = 0; at + MIN_REPEATED <= conversation.length; at += 1) {
    for (const start of starts.get(conversation.slice(at, at + MIN_REPEATED)) ?? [])
      for (let offset = 0; offset < MIN_REPEATED; offset += 1) repeated.add(start + offset);
  }
  const kept = Array.from({ length: text.length }, (_, at) => (repeated.has(at) ? '\0' : text.charAt(at)));
  return kept.join('').replaceAll(/\0+/g, REDACTED);
}
