import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';

/** A single event of more characters than this is no reply; without a bound it would fill the memory. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export interface AnswerHandlers {
  /** Something arrived: an event, a piece of one, or only a comment that keeps the connection alive. */
  onBytes(): void;
  /** @param name of the event, where the provider names it. */
  onEvent(data: string, name: string | undefined): void;
}

/** The connection broke; what `onEvent` throws is something else. */
export class StreamCutError extends Error {}

/** An event was longer than any reply is. */
export class EventTooLargeError extends Error {}

/** The body is neither a stream of events nor JSON. */
export class UnreadableAnswerError extends Error {}

/** What a body is, told by its first characters: content types are often wrong or missing. */
type BodyKind = 'events' | 'json' | 'neither';

/**
 * Reads the body of an answer to its end: server-sent events one by one, and JSON as a whole. Done by hand because the
 * SDKs' iterators cost five times as much for each event, and end normally on errors inside the stream.
 *
 * @returns the JSON of a body that is no stream of events.
 * @throws StreamCutError when the connection breaks, EventTooLargeError, UnreadableAnswerError, and what `onEvent` throws.
 */
export function readAnswer(body: Readable, handlers: AnswerHandlers): Promise<unknown> {
  const reader = new AnswerReader(handlers);
  return new Promise((resolve, reject) => {
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        reject(error);
        body.destroy();
      }
    };
    const cut = (cause?: Error): void => reject(new StreamCutError('the answer broke', { cause }));
    // Listeners, not an iterator, which costs a promise and a turn of the microtasks for each read.
    body.on('data', (text: string) => attempt(() => reader.take(text)));
    body.once('end', () => attempt(() => resolve(reader.end())));
    body.once('error', cut);
    body.once('close', () => {
      if (!body.readableEnded) cut();
    });
    // If the stream has already ended, no event will fire.
    if (body.destroyed) cut();
  });
}

class AnswerReader {
  readonly #handlers: AnswerHandlers;
  readonly #parser;
  #kind: BodyKind | undefined;
  /** What has come before the kind is known; of JSON, everything. */
  #text = '';

  constructor(handlers: AnswerHandlers) {
    this.#handlers = handlers;
    this.#parser = createParser({
      onEvent: ({ data, event }) => handlers.onEvent(data, event),
      onError: ({ type, field, value = '', message }) => {
        if (type === 'max-buffer-size-exceeded') throw new EventTooLargeError(message);
        // llama.cpp sends errors in a field of this name. Other unknown fields are to be ignored.
        if (type === 'unknown-field' && field === 'error') handlers.onEvent(value, 'error');
        // Some gateways forget the name of the field in front of the last event.
        if (type === 'unknown-field' && field?.trim() === '[DONE]') handlers.onEvent('[DONE]', undefined);
      },
      maxBufferSize: MAX_EVENT_CHARACTERS,
    });
  }

  take(text: string): void {
    this.#handlers.onBytes();
    if (this.#kind === 'events') {
      this.#parser.feed(text);
      return;
    }
    this.#text += text;
    if (this.#text.length > MAX_EVENT_CHARACTERS) throw new EventTooLargeError('the answer is too long');
    this.#kind ??= kindOf(this.#text);
    if (this.#kind === 'events') {
      this.#parser.feed(this.#text);
      this.#text = '';
    } else if (this.#kind === 'neither') throw new UnreadableAnswerError();
  }

  /** The last event may lack the blank line that ends it. */
  end(): unknown {
    if (this.#kind === 'events') this.#parser.feed('\n\n');
    return this.#kind === 'json' ? parseJson(this.#text) : undefined;
  }
}

const EVENT_FIELD = /^(?:data|event|id|retry|error)?:/;
/** As long as the longest name of a field and its colon. */
const ENOUGH = 6;

function kindOf(text: string): BodyKind | undefined {
  const begin = text.slice(0, 4_096).replace(/^[\s\uFEFF]+/, '');
  if (begin === '') return undefined;
  if (begin.startsWith('{') || begin.startsWith('[')) return 'json';
  if (EVENT_FIELD.test(begin)) return 'events';
  return begin.length < ENOUGH ? undefined : 'neither';
}

function parseJson(text: string): unknown {
  try {
    // Some gateways put the end of a stream behind a whole reply.
    return JSON.parse(text.replace(/\s*data:\s*\[DONE\]\s*$/, ''));
  } catch {
    throw new UnreadableAnswerError();
  }
}
