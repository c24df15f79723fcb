import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';

/** The longest event or JSON body. Without a bound an answer could fill the memory. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;

export interface AnswerHandlers {
  /** Something arrived: an event, a piece of one, or only a comment that keeps the connection alive. */
  onBytes(): void;
  /** @param name of the event, where the provider names it. */
  onEvent(data: string, name: string | undefined): void;
}

/** The connection broke before the end of the body. */
export class StreamCutError extends Error {}

/** An event or a JSON body has more than `MAX_EVENT_CHARACTERS`. */
export class EventTooLargeError extends Error {}

/** The body is neither a stream of events nor JSON. */
export class UnreadableAnswerError extends Error {}

/** The kind of a body by its first characters, because content types are often wrong or missing. */
type BodyKind = 'events' | 'json' | 'neither';

/**
 * Reads the body of an answer to its end: server-sent events one by one, JSON as a whole. The iterators of the SDKs
 * are not used: they cost five times as much for each event, and end normally on errors inside the stream.
 *
 * @returns the JSON of a body that is no stream of events.
 * @throws StreamCutError when the connection breaks, EventTooLargeError, UnreadableAnswerError, and what `onEvent`
 * throws.
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
    const cut = (cause?: Error): void => reject(new StreamCutError('the answer was cut off', { cause }));
    // Listeners, because an iterator costs a promise and a microtask for each read.
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
  /** The text that came before the kind was known; for JSON, the whole body so far. */
  #text = '';

  constructor(handlers: AnswerHandlers) {
    this.#handlers = handlers;
    this.#parser = createParser({
      onEvent: ({ data, event }) => handlers.onEvent(data, event),
      onError: ({ type, field, value = '', message }) => {
        if (type === 'max-buffer-size-exceeded') throw new EventTooLargeError(message);
        // llama.cpp sends errors in a field of this name. Other unknown fields are ignored.
        if (type === 'unknown-field' && field === 'error') handlers.onEvent(value, 'error');
        // Some gateways omit the field name `data` of the last event.
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
/** Length of the longest field name with its colon. */
const MAX_FIELD_LENGTH = 6;

function kindOf(text: string): BodyKind | undefined {
  const begin = text.slice(0, 4_096).replace(/^[\s\uFEFF]+/, '');
  if (begin === '') return undefined;
  if (begin.startsWith('{') || begin.startsWith('[')) return 'json';
  if (EVENT_FIELD.test(begin)) return 'events';
  return begin.length < MAX_FIELD_LENGTH ? undefined : 'neither';
}

function parseJson(text: string): unknown {
  try {
    // Some gateways append the end mark of a stream to a JSON reply.
    return JSON.parse(text.trim().replace(/\s*data:\s*\[DONE\]\s*$/, ''));
  } catch {
    throw new UnreadableAnswerError();
  }
}
