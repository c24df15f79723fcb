import { spokenText } from '../../../src/core/turn/step-parts.ts';
import type { ModelReply, RawToolCall, ReplyListener } from '../../../src/ports/language-model.ts';

/** What the user reads of a reply. */
export function replyText({ parts }: ModelReply): string {
  return spokenText(parts);
}

/** The tool calls of a reply, in its order. */
export function callsIn({ parts }: ModelReply): RawToolCall[] {
  return parts.flatMap((part) => {
    if (part.type !== 'toolCall') return [];
    const { type, ...call } = part;
    return [call];
  });
}

/** Notes the pieces that a model is heard with. */
export class ReplyRecord implements ReplyListener {
  readonly pieces: string[] = [];
  readonly thoughts: string[] = [];
  readonly #andThen: (text: string) => void;

  /** @param andThen is told of each piece of text once it is noted. */
  constructor(andThen: (text: string) => void = () => undefined) {
    this.#andThen = andThen;
  }

  onText(text: string): void {
    this.pieces.push(text);
    this.#andThen(text);
  }

  onReasoning(text: string): void {
    this.thoughts.push(text);
  }
}
