import type { ModelSource } from '../core/turn/reply-parts.ts';
import { spokenText } from '../core/turn/step-parts.ts';
import type {
  LanguageModel,
  ModelReply,
  ModelRequest,
  ReplyListener,
  ReplyPart,
} from '../ports/language-model.ts';
import type { RecordedReply } from './recorded-input.ts';

/** A call of the model, which waits until the replay continues it. */
export interface ReplayCall {
  /** Streams text. */
  say(text: string): void;
  /** Gives the recorded answer. */
  answer(reply: RecordedReply): void;
  /** Asks a live model, and gives its answer as `comparableParts` makes it. */
  ask(model: LanguageModel, reply: RecordedReply): void;
  fail(error: Error): void;
}

/** Takes the place of the recorded model. Each call waits until the replay gives it the recorded answer. */
export class ReplayModel implements LanguageModel {
  readonly label = 'recorded';
  #waiting: ReplayCall | null = null;
  #source: ModelSource | null = null;

  /** The source of the latest reply, as recorded. */
  get source(): ModelSource | null {
    return this.#source;
  }

  /** The call that waits now; null if none does. */
  get waiting(): ReplayCall | null {
    return this.#waiting;
  }

  generate(request: ModelRequest, listener: ReplyListener, signal: AbortSignal): Promise<ModelReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ModelReply>();
    const say = (text: string): void => {
      if (text !== '') listener.onText(text);
    };
    const call: ReplayCall = {
      say,
      answer: (reply) => {
        this.#source = reply.source;
        say(spokenText(reply.parts));
        resolve(replyOf(reply, rawParts(reply)));
      },
      ask: (model, reply) => {
        this.#source = reply.source;
        const asked = model.generate(request, listener, signal);
        resolve(asked.then(({ parts }) => replyOf(reply, comparableParts(parts, rawParts(reply)))));
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

function replyOf({ finishReason, usage }: RecordedReply, parts: readonly ReplyPart[]): ModelReply {
  return { parts, ...(finishReason && { finishReason }), ...(usage && { usage }) };
}

function rawParts({ parts, calls }: RecordedReply): ReplyPart[] {
  const byId = new Map(calls.map((call) => [call.callId, call]));
  return parts.map((part): ReplyPart => {
    if (part.type !== 'toolCall') return part;
    const { callId, opaque } = part;
    const { name = '', arguments: args = {} } = byId.get(callId) ?? {};
    return { type: 'toolCall', callId, name, arguments: JSON.stringify(args), ...(opaque && { opaque }) };
  });
}

/**
 * A live reply in the form in which it is compared: only its text and its calls count. If the text and the number of
 * calls are as recorded, reasoning, opaque parts and the division into parts are taken from the recording. Otherwise
 * reasoning and opaque parts are left out.
 */
function comparableParts(live: readonly ReplyPart[], recorded: readonly ReplyPart[]): ReplyPart[] {
  const calls = live.filter((part) => part.type === 'toolCall');
  const isAlike = spokenText(live) === spokenText(recorded) && calls.length === callsIn(recorded);
  if (!isAlike) {
    return live.filter(({ type }) => type === 'text' || type === 'refusal' || type === 'toolCall');
  }
  return recorded.map((part) => {
    if (part.type !== 'toolCall') return part;
    const call = calls.shift();
    return call ? { ...part, name: call.name, arguments: call.arguments } : part;
  });
}

function callsIn(parts: readonly ReplyPart[]): number {
  return parts.filter(({ type }) => type === 'toolCall').length;
}
