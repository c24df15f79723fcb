import { pieceWriter } from '../piece-writer.ts';
import type { MessageItem, OutputItem, OutputText, ReasoningItem } from './response-items.ts';
import type { OpenAiResponse } from './response-object.ts';
import { TextPieces } from './text-pieces.ts';

/** Takes the events of a response. @param number its `sequence_number`. */
export type EventListener = (type: string, json: string, number: number) => void;

/** How far apart the numbers of two attempts are. */
const ATTEMPT = 1_000_000;

/**
 * One response as it grows, and its numbered events. What it says follows from the log alone: whoever reads it later gets
 * the same events with the same numbers.
 */
export class ResponseLog {
  readonly response: OpenAiResponse;
  readonly #listener: EventListener;
  #number = 0;
  #text: OpenText | null = null;

  constructor(response: OpenAiResponse, listener: EventListener) {
    this.response = response;
    this.#listener = listener;
  }

  /** Tells the whole response. */
  tell(type: string): void {
    this.#send(type, { response: this.response });
  }

  /**
   * What was said since the last step that is in the log was lost with the process that heard it. The numbers leave room for
   * it. Its message ends without text, also for a reader that has heard nothing of it: so the next item has the same place
   * for all of them.
   * @param lostId of the message; null if none was being said.
   */
  beginAgain(attempt: number, lostId: string | null): void {
    const lost = lostId === null ? null : newMessage(lostId);
    const index = this.#text?.index ?? (lost && this.add(lost));
    this.#text = null;
    this.#number = Math.max(this.#number, (attempt - 1) * ATTEMPT);
    if (lost && index !== null) this.end(index, { ...lost, status: 'incomplete' });
  }

  /** A piece of a message; the first one begins it. */
  say(id: string, text: string): void {
    if (text === '') return;
    this.#text ??= this.#beginMessage(id);
    for (const piece of this.#text.pieces.add(text)) this.#piece(this.#text, piece);
  }

  /** Ends the message, if one has begun. */
  endMessage(status: 'completed' | 'incomplete'): void {
    const open = this.#text;
    if (!open) return;
    this.#piece(open, open.pieces.end());
    this.#text = null;
    const place = { item_id: open.item.id, output_index: open.index, content_index: 0 };
    const part: OutputText = { type: 'output_text', text: open.said, annotations: [], logprobs: [] };
    this.#send('response.output_text.done', { ...place, text: open.said, logprobs: [] });
    this.#send('response.content_part.done', { ...place, part });
    this.end(open.index, { ...open.item, status, content: [part] });
  }

  /** Reasoning that is whole. */
  think(id: string, text: string): void {
    const item: ReasoningItem = { type: 'reasoning', id, status: 'in_progress', summary: [] };
    const index = this.add(item);
    const place = { item_id: id, output_index: index, summary_index: 0 };
    this.#send('response.reasoning_summary_part.added', {
      ...place,
      part: { type: 'summary_text', text: '' },
    });
    const pieces = new TextPieces();
    for (const delta of [...pieces.add(text), pieces.end()])
      if (delta !== '') this.#send('response.reasoning_summary_text.delta', { ...place, delta });
    const part = { type: 'summary_text' as const, text };
    this.#send('response.reasoning_summary_text.done', { ...place, text });
    this.#send('response.reasoning_summary_part.done', { ...place, part });
    this.end(index, { ...item, status: 'completed', summary: [part] });
  }

  /** @returns the index of the item. */
  add(item: OutputItem): number {
    const index = this.response.output.length;
    this.response.output.push(item);
    this.#send('response.output_item.added', { output_index: index, item });
    return index;
  }

  /** Tells the arguments of a call. @param kind such as `mcp_call`. */
  tellArguments(kind: 'mcp_call' | 'function_call', index: number, { id, name, text }: ToldCall): void {
    const place = { item_id: id, output_index: index };
    this.#send(`response.${kind}_arguments.delta`, { ...place, delta: text });
    this.#send(`response.${kind}_arguments.done`, {
      ...place,
      ...(kind === 'function_call' && { name }),
      arguments: text,
    });
  }

  /** Tells that an item has changed. */
  tellItem(type: string, index: number, id: string): void {
    this.#send(type, { item_id: id, output_index: index });
  }

  end(index: number, item: OutputItem): void {
    this.response.output[index] = item;
    this.#send('response.output_item.done', { output_index: index, item });
  }

  #beginMessage(id: string): OpenText {
    const item = newMessage(id);
    const index = this.add(item);
    const place = { item_id: id, output_index: index, content_index: 0 };
    const part: OutputText = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    this.#send('response.content_part.added', { ...place, part });
    const write = pieceWriter((delta) =>
      JSON.stringify({ type: DELTA, ...place, delta, logprobs: [] }).slice(0, -1),
    );
    return { item, index, said: '', pieces: new TextPieces(), write };
  }

  #piece(open: OpenText, piece: string): void {
    if (piece === '') return;
    open.said += piece;
    this.#deliver(DELTA, open.write(piece));
  }

  #send(type: string, fields: object): void {
    this.#deliver(type, JSON.stringify({ type, ...fields }).slice(0, -1));
  }

  /** @param json an object without its last brace. */
  #deliver(type: string, json: string): void {
    const number = this.#number;
    this.#number += 1;
    this.#listener(type, `${json},"sequence_number":${number}}`, number);
  }
}

function newMessage(id: string): MessageItem {
  return { type: 'message', id, status: 'in_progress', role: 'assistant', content: [] };
}

const DELTA = 'response.output_text.delta';

interface ToldCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** A message that is being said. */
interface OpenText {
  readonly item: MessageItem;
  readonly index: number;
  said: string;
  readonly pieces: TextPieces;
  /** Writes the event of a piece, for `#deliver`. */
  readonly write: (piece: string) => string;
}
