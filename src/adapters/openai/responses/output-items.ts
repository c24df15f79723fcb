import type { JsonObject } from '../../../core/json-object.ts';
import { stringIn } from '../../../model-http/reply/json.ts';
import type { ReplyBuilder } from '../../../model-http/reply/reply-builder.ts';
import type { CallItems } from './call-items.ts';
import { canBeReturned } from './input-items.ts';
import { PARTING } from './parting.ts';
import { objectsIn } from './response-event.ts';

/**
 * The items of a response: messages, reasoning and tool calls. An item is identified by its place in the output,
 * because some gateways give it another id in every event:
 * https://github.com/vercel/ai/tree/main/packages/openai/src/responses
 */
export class OutputItems {
  readonly calls: CallItems;
  readonly #reply: ReplyBuilder;
  readonly #phases = new Map<number, string>();
  /** Places of the items of which a piece has come. */
  readonly #heard = new Set<number>();
  readonly #done = new Set<number>();
  #doneCount = 0;
  /** The place of the open message, and of the last message with text. */
  #speaking: number | undefined;
  #spoken: number | undefined;
  #thinking: string | undefined;
  #latest = -1;

  constructor(reply: ReplyBuilder, calls: CallItems) {
    this.#reply = reply;
    this.calls = calls;
  }

  /** The place of the item that was begun last; -1 before the first one. */
  get latest(): number {
    return this.#latest;
  }

  text(place: number, piece: string): void {
    if (piece === '') return;
    this.#reply.text(place === this.#speaking ? piece : this.#beginMessage(place) + piece);
  }

  refusal(place: number, piece: string): void {
    if (piece === '') return;
    this.#reply.refusal(place === this.#speaking ? piece : this.#beginMessage(place) + piece);
  }

  /** @param part names the part of the item; a summary has several. */
  reasoning(place: number, part: string, piece: string): void {
    if (piece === '') return;
    this.#endMessage();
    const now = `${place} ${part}`;
    const parting = this.#thinking === undefined || this.#thinking === now ? '' : PARTING;
    this.#thinking = now;
    this.#heard.add(place);
    this.#reply.reasoning(parting + piece);
  }

  /** A piece of the arguments of a tool call. */
  argumentsPiece(place: number, { length }: string): void {
    this.#heard.add(place);
    this.#reply.count(length);
  }

  /** Runs `take`, which takes an item as a whole, only if no pieces of it came. Not all servers send pieces. */
  unlessHeard(place: number, take: () => void): void {
    if (!this.#heard.has(place)) take();
  }

  begin(place: number, item: JsonObject): void {
    this.#latest = place;
    this.#learnPhase(place, item);
    if (item.type === 'function_call') this.calls.begin(place, item);
  }

  end(place: number, item: JsonObject): void {
    this.#done.add(place);
    this.#doneCount += 1;
    this.#take(place, item);
  }

  /**
   * Takes the items that began and did not end.
   *
   * @param output the items of the final response; some servers send none.
   */
  settle(output: readonly JsonObject[]): void {
    if (output.length > this.#doneCount) {
      for (const [place, item] of output.entries()) {
        if (!this.#done.has(place) && !this.calls.isKnown(item)) this.#take(place, item);
      }
    }
    for (const [place, item] of this.calls.openWithArguments()) this.#call(place, item);
    this.#endMessage();
  }

  #take(place: number, item: JsonObject): void {
    switch (item.type) {
      case 'message':
        this.#learnPhase(place, item);
        this.unlessHeard(place, () => this.#sayAll(place, item));
        if (place === this.#speaking) this.#endMessage();
        return;
      case 'reasoning':
        this.unlessHeard(place, () => this.#thinkAll(place, item));
        this.#endMessage();
        if (canBeReturned(item)) this.#reply.opaque({ ...item });
        return;
      case 'function_call':
        this.#call(place, item);
    }
  }

  #sayAll(place: number, { content }: JsonObject): void {
    for (const { type, text, refusal } of objectsIn(content)) {
      if (type === 'refusal') this.refusal(place, stringIn(refusal));
      else this.text(place, stringIn(text));
    }
  }

  #thinkAll(place: number, { summary, content }: JsonObject): void {
    for (const [part, { text }] of objectsIn(summary).entries()) {
      this.reasoning(place, `summary ${part}`, stringIn(text));
    }
    for (const [part, { text }] of objectsIn(content).entries()) {
      this.reasoning(place, `text ${part}`, stringIn(text));
    }
  }

  #call(place: number, item: JsonObject): void {
    const call = this.calls.end(place, item);
    if (call === undefined) return;
    this.unlessHeard(place, () => this.argumentsPiece(place, call.arguments));
    this.#endMessage();
    this.#reply.toolCall(call);
  }

  #learnPhase(place: number, { phase }: JsonObject): void {
    if (typeof phase === 'string' && phase !== '') this.#phases.set(place, phase);
  }

  /** @returns the separator from the message before. */
  #beginMessage(place: number): string {
    this.#endMessage();
    const parting = this.#spoken === undefined || this.#spoken === place ? '' : PARTING;
    this.#speaking = place;
    this.#spoken = place;
    this.#heard.add(place);
    return parting;
  }

  /** Keeps the phase of the message with its text, because the provider wants both back. */
  #endMessage(): void {
    if (this.#speaking === undefined) return;
    const phase = this.#phases.get(this.#speaking);
    this.#reply.closePart(phase === undefined ? undefined : { phase });
    this.#speaking = undefined;
  }
}
