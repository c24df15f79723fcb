import type { RecordedReply } from '../domain/recorded-cause.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../ports/language-model.ts';

/** A call of the model that waits for what the recording says about it. */
export interface ModelCall {
  say(text: string): void;
  /** Gives the recorded answer. */
  answer(reply: RecordedReply): void;
  /** Asks this model and gives its answer; what it says that is no behaviour is taken from the recording. */
  ask(model: LanguageModel, reply: RecordedReply): void;
  fail(error: Error): void;
}

/** Stands for the model that was recorded: a call of it waits, and the replay says how it goes on. */
export class ReplayModel implements LanguageModel {
  readonly label = 'recorded';
  #waiting: ModelCall | null = null;

  /** The call that waits now. */
  get waiting(): ModelCall | null {
    return this.#waiting;
  }

  generate(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<ModelReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ModelReply>();
    const say = (text: string): void => {
      if (text !== '') onText(text);
    };
    const call: ModelCall = {
      say,
      answer: (reply) => {
        say(reply.text);
        resolve(rawReply(reply));
      },
      ask: (model, { usage }) => {
        const asked = model.generate(request, onText, signal);
        resolve(asked.then(({ text, toolCalls }) => ({ text, toolCalls, ...(usage && { usage }) })));
      },
      fail: reject,
    };
    this.#waiting = call;
    const done = (): void => {
      if (this.#waiting === call) this.#waiting = null;
    };
    signal.addEventListener('abort', done, { once: true });
    return promise.finally(done);
  }
}

function rawReply({ text, calls, usage }: RecordedReply): ModelReply {
  const toolCalls = calls.map(({ callId, name, arguments: args }) => ({
    callId,
    name,
    arguments: JSON.stringify(args),
  }));
  return { text, toolCalls, ...(usage && { usage }) };
}
