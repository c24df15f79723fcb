import type { StepPart } from './reply-parts.ts';

interface AnyPart {
  readonly type: string;
  readonly text?: string;
}

/** The text that the user reads of a reply: its texts and refusals, joined. */
export function spokenText(parts: readonly AnyPart[]): string {
  let spoken = '';
  for (const { type, text } of parts) if (type === 'text' || type === 'refusal') spoken += text ?? '';
  return spoken;
}

/** The reasoning in a reply, as far as it was kept. */
export function reasoningText(parts: readonly AnyPart[]): string {
  let reasoning = '';
  for (const { type, text } of parts) if (type === 'reasoning') reasoning += text ?? '';
  return reasoning;
}

/** The tool calls that a step asked for, in its order. */
export function callIdsOf(parts: readonly StepPart[]): string[] {
  return parts.flatMap((part) => (part.type === 'toolCall' ? [part.callId] : []));
}
