import type { CompleteStep } from '../../core/turn/turn-commands.ts';
import type { LanguageModel, ModelReply, ModelRequest, ReplyListener } from '../../ports/language-model.ts';
import type { ToolOffer } from '../../ports/turn-tools.ts';

/**
 * The first reply of a turn, requested while the log still writes the message. What comes is held back until `deliver`,
 * which is called when the message is in the log. A message that could not be written leaves an aborted request. A reply
 * that is whole before the message is written goes into the log together with it.
 */
export class EarlyReply {
  readonly offer: ToolOffer;
  /** Ends the request. Who gets the reply delivered may end it, too. */
  readonly abort = new AbortController();
  readonly #reply: Promise<ModelReply>;
  readonly #held: ((listener: ReplyListener) => void)[] = [];
  #listener: ReplyListener | null = null;
  #step: CompleteStep | null = null;

  /** @param completed what a reply that asks for no tools means for the turn; null if that is not known at once. */
  constructor(
    model: LanguageModel,
    request: ModelRequest,
    offer: ToolOffer,
    completed: ((reply: ModelReply) => CompleteStep) | null,
  ) {
    this.offer = offer;
    this.#reply = model.generate(
      request,
      {
        onText: (text) => {
          if (this.#listener) this.#listener.onText(text);
          else this.#held.push((listener) => listener.onText(text));
        },
        onReasoning: (text) => {
          if (this.#listener) this.#listener.onReasoning(text);
          else this.#held.push((listener) => listener.onReasoning(text));
        },
      },
      this.abort.signal,
    );
    this.#reply.then(
      (reply) => {
        if (completed && !reply.parts.some(({ type }) => type === 'toolCall')) this.#step = completed(reply);
      },
      // The caller of `deliver` handles a failure. Without that call, nobody needs the reply.
      () => undefined,
    );
  }

  /** The step as the whole reply makes it. Null before that, and if tools are to be called. */
  get step(): CompleteStep | null {
    return this.#step;
  }

  /** Tells the listener at once what was held back, and later what follows. Call it once. */
  deliver(listener: ReplyListener): Promise<ModelReply> {
    for (const tell of this.#held.splice(0)) tell(listener);
    this.#listener = listener;
    return this.#reply;
  }

  /** Aborts the request. Instead of `deliver`. */
  abandon(): void {
    this.abort.abort(NOT_WRITTEN);
  }
}

/** One for all calls: an abort without a reason makes an error with its stack each time. */
const NOT_WRITTEN = new DOMException('the message of the turn was not written', 'AbortError');
