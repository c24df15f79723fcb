import type { OpaqueData, ReasoningPart, TokenUsage } from '../../core/turn/reply-parts.ts';
import type { ModelReply, RawToolCall, ReplyListener, ReplyPart } from '../../ports/language-model.ts';
import { EmptyReply } from '../failures/empty-reply.ts';
import { adviceOn } from '../failures/failure-advice.ts';
import { ModelFailure, passingFailure } from '../failures/model-failure.ts';
import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { endedByContext, endingOf } from './reply-ending.ts';
import type { ReplyProgress } from './reply-reader.ts';

/** More than any model writes in one reply. Without a bound a reply could fill the memory and the log. */
const MAX_REPLY_CHARACTERS = 16 * 1024 * 1024;

export interface ReplyEnd {
  /** The provider's finish reason; undefined if it sent none. */
  readonly reason: string | undefined;
  /** Whether a tool call ends in the middle of its arguments, or has no name. */
  readonly hasIncompleteCall: boolean;
  readonly hasNamelessCall: boolean;
  readonly usage: TokenUsage | undefined;
}

type SpokenPart = 'text' | 'refusal' | 'reasoning';

/** Builds a reply part by part, and passes its text and reasoning on to the listener at once. */
export class ReplyBuilder implements ReplyProgress {
  readonly #access: ProviderEndpoint;
  readonly #listener: ReplyListener;
  readonly #parts: ReplyPart[] = [];
  /** The type of the open part, and its text so far. */
  #open: SpokenPart | null = null;
  #text = '';
  /** White space with which the next part may begin, and its type. */
  #blank: { readonly type: SpokenPart; readonly text: string } | null = null;
  #characters = 0;
  #hasBegun = false;
  #hasSpoken = false;
  #isDone = false;
  /** The characters of the reply when its first finish reason came. */
  #endingAt: number | undefined;

  constructor(access: ProviderEndpoint, listener: ReplyListener) {
    this.#access = access;
    this.#listener = listener;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /**
   * Whether the reply is done, or a finish reason came and nothing after it. Some servers send one with each piece, where it
   * ends nothing.
   */
  get hasEnding(): boolean {
    return this.#isDone || (this.#hasBegun && this.#endingAt === this.#characters);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** A finish reason came, after the pieces that were added so far. */
  noteEnding(): void {
    this.#endingAt ??= this.#characters;
  }

  /** The provider said that nothing follows. */
  noteDone(): void {
    this.#isDone = true;
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

  /** Ends the open part, so that the next text begins a new one. @param opaque data to keep with a text. */
  closePart(opaque?: OpaqueData): void {
    this.#blank = null;
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

  /** Counts characters that are not passed on, such as a tool call's arguments. Throws if the reply is too long. */
  count(characters: number): void {
    this.#hasBegun = true;
    this.#characters += characters;
    if (this.#characters <= MAX_REPLY_CHARACTERS) return;
    throw new ModelFailure(
      this.#access,
      `Model ${this.#access.model} did not end its reply within ${MAX_REPLY_CHARACTERS} characters.`,
    );
  }

  /** The reply. Throws if it is incomplete, empty or filtered. */
  finish(end: ReplyEnd): ModelReply {
    this.closePart();
    const { reason, usage } = end;
    if (reason === undefined && !this.#isDone)
      throw passingFailure(this.#access, 'ended before the reply was complete');
    const ending = reason === undefined ? 'complete' : endingOf(reason);
    const isEmpty = !this.#parts.some(isContent);
    switch (ending) {
      case 'filtered': {
        const why = `The content filter of ${this.#access.label} stopped the reply${shown(reason)}; rephrase the message or the system prompt.`;
        throw new ModelFailure(this.#access, why, { refused: 'content' });
      }
      case 'failed':
        throw passingFailure(this.#access, `ended the reply with an error${shown(reason)}`);
      case 'length':
        if (isEmpty) throw this.#tooFewTokens('before it said anything', end);
        if (end.hasIncompleteCall) throw this.#tooFewTokens('in the middle of a tool call', end);
        break;
      case 'complete':
        if (end.hasNamelessCall) throw passingFailure(this.#access, 'sent a tool call without a name');
        if (isEmpty) throw new EmptyReply(this.#access, this.#parts.filter(isThought));
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

  #say(type: SpokenPart, piece: string): void {
    if (piece === '') return;
    this.count(piece.length);
    if (this.#open === type) this.#pass(type, piece);
    else this.#begin(type, piece);
  }

  /** A part begins with what can be seen: some servers send line breaks around tool calls, which are no text. */
  #begin(type: SpokenPart, piece: string): void {
    const text = this.#blank?.type === type ? this.#blank.text + piece : piece;
    if (piece.trim() === '') {
      this.#blank = { type, text };
      return;
    }
    this.closePart();
    this.#open = type;
    this.#pass(type, text);
  }

  #pass(type: SpokenPart, piece: string): void {
    this.#text += piece;
    this.#hasSpoken = true;
    if (type === 'reasoning') this.#listener.onReasoning(piece);
    else this.#listener.onText(piece);
  }

  #tooFewTokens(when: string, { reason: ending, usage }: ReplyEnd): ModelFailure {
    if (endedByContext(ending, this.#hasBegun ? undefined : usage)) {
      const advice = adviceOn('context', this.#access, undefined, undefined);
      return new ModelFailure(this.#access, `${advice}.`, { refused: 'context' });
    }
    const reason = `Model ${this.#access.model} reached its token limit ${when}; raise llm.maxTokens, or shorten the conversation.`;
    return new ModelFailure(this.#access, reason);
  }
}

function isContent({ type }: ReplyPart): boolean {
  return type === 'text' || type === 'refusal' || type === 'toolCall';
}

function isThought(part: ReplyPart): part is ReasoningPart {
  return part.type === 'reasoning';
}

/** Repeats a reason only if it looks like a name. */
function shown(reason: string | undefined): string {
  return reason !== undefined && /^[\w:. -]{1,64}$/.test(reason) ? ` (${reason})` : '';
}
