import type { OpaqueData, TokenUsage } from '../../core/turn/reply-parts.ts';
import type { ModelReply, RawToolCall, ReplyListener, ReplyPart } from '../../ports/language-model.ts';
import { ModelFailure } from '../failures/model-failure.ts';
import type { ProviderAccess } from '../provider/provider-access.ts';
import { endingOf } from './reply-ending.ts';

/** More than any model says in one reply; without a bound it would fill the memory, and then the log. */
const MAX_REPLY_CHARACTERS = 16 * 1024 * 1024;

export interface ReplyEnd {
  /** As the provider calls it; undefined when it did not say. */
  readonly reason: string | undefined;
  /** Whether the provider said otherwise that nothing follows. */
  readonly isDone: boolean;
  /** Whether a tool call ends in the middle of its arguments. */
  readonly hasIncompleteCall: boolean;
  readonly usage: TokenUsage | undefined;
}

/** Puts a reply together part by part, and passes on what is to be heard at once. */
export class ReplyBuilder {
  readonly #access: ProviderAccess;
  readonly #listener: ReplyListener;
  readonly #parts: ReplyPart[] = [];
  /** The part that text is added to now, and what it has so far. A long text is joined once, not for each piece. */
  #open: 'text' | 'refusal' | 'reasoning' | null = null;
  #text = '';
  #characters = 0;
  #hasBegun = false;
  #hasSpoken = false;

  constructor(access: ProviderAccess, listener: ReplyListener) {
    this.#access = access;
    this.#listener = listener;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  text(piece: string): void {
    this.#say('text', piece);
  }

  refusal(piece: string): void {
    this.#say('refusal', piece);
  }

  reasoning(piece: string): void {
    this.#say('reasoning', piece);
  }

  /** Ends the part that text is added to, so that the next text is a part of its own. @param opaque goes with a text. */
  closePart(opaque?: OpaqueData): void {
    if (this.#open === null) return;
    const part = { type: this.#open, text: this.#text };
    this.#parts.push(part.type === 'text' && opaque ? { ...part, type: 'text', opaque } : part);
    this.#open = null;
    this.#text = '';
  }

  opaque(data: OpaqueData): void {
    this.closePart();
    this.#parts.push({ type: 'opaque', data });
  }

  toolCall(call: RawToolCall): void {
    this.closePart();
    this.#parts.push({ type: 'toolCall', ...call });
  }

  /** Something of this length has come that is not passed on, such as the arguments of a tool call. */
  count(characters: number): void {
    this.#hasBegun = true;
    this.#characters += characters;
    if (this.#characters <= MAX_REPLY_CHARACTERS) return;
    throw new ModelFailure(
      this.#access,
      `Model ${this.#access.model} did not come to an end: its reply has more than ${MAX_REPLY_CHARACTERS} characters.`,
    );
  }

  /** The reply, if it is a whole one. */
  finish(end: ReplyEnd): ModelReply {
    this.closePart();
    const { reason, isDone, usage } = end;
    if (reason === undefined && !isDone)
      throw this.#failure('ended before the reply was complete. Try again', true);
    const ending = reason === undefined ? 'complete' : endingOf(reason);
    const isEmpty = !this.#parts.some(isSaid);
    switch (ending) {
      case 'filtered': {
        const why = `The content filter of ${this.#access.label} stopped the reply${shown(reason)}; rephrase the message or the system prompt.`;
        throw new ModelFailure(this.#access, why, { refused: 'content' });
      }
      case 'failed':
        throw this.#failure(`ended the reply with an error${shown(reason)}. Try again`, true);
      case 'length':
        if (isEmpty) throw this.#tooFewTokens('before it said anything');
        if (end.hasIncompleteCall) throw this.#tooFewTokens('in the middle of a tool call');
        break;
      case 'complete':
        if (isEmpty)
          throw this.#failure('sent an empty reply: neither text nor a tool call. Try again', true);
        break;
      default:
        ending satisfies never;
    }
    return {
      parts: this.#parts,
      ...(ending === 'length' && { finishReason: 'length' as const }),
      ...(usage && { usage }),
    };
  }

  #say(type: 'text' | 'refusal' | 'reasoning', piece: string): void {
    if (piece === '') return;
    this.count(piece.length);
    if (this.#open !== type) {
      this.closePart();
      this.#open = type;
    }
    this.#text += piece;
    this.#hasSpoken = true;
    if (type === 'reasoning') this.#listener.onReasoning(piece);
    else this.#listener.onText(piece);
  }

  #failure(what: string, isPassing: boolean): ModelFailure {
    return new ModelFailure(this.#access, `${this.#access.label} ${what}.`, { isPassing });
  }

  #tooFewTokens(when: string): ModelFailure {
    const reason = `Model ${this.#access.model} reached its token limit ${when}; raise llm.maxTokens, or shorten the conversation.`;
    return new ModelFailure(this.#access, reason);
  }
}

function isSaid({ type }: ReplyPart): boolean {
  return type === 'text' || type === 'refusal' || type === 'toolCall';
}

/** Only what looks like a name is repeated. */
function shown(reason: string | undefined): string {
  return reason !== undefined && /^[\w:. -]{1,64}$/.test(reason) ? ` (${reason})` : '';
}
