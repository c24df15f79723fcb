import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { UserMessage } from '../../core/conversation/model-message.ts';
import type { ServiceError } from '../../core/errors.ts';
import type { ModelSource } from '../../core/turn/reply-parts.ts';
import { spokenText } from '../../core/turn/step-parts.ts';
import { ADD, ADDITION, toolCallCheck, toolResultCheck, withResults } from './addition.ts';
import type { Asked, Asker } from './asker.ts';
import { blameOf, isInability, settingsOf } from './blame.ts';
import type { Check, CheckName } from './check.ts';
import { refusedAtOnce, settingRefused } from './refused-at-once.ts';
import { yellowImage } from './yellow-image.ts';

export interface ModelCheckDeps {
  readonly asker: Asker;
  readonly llm: LlmConfig;
  readonly hasKey: boolean;
  readonly source: ModelSource | null;
}

/** Tests a model, one request after the other. */
export class ModelCheck {
  readonly #deps: ModelCheckDeps;
  /** The refusal of a setting. It may come after other checks, because some settings are sent with tools only. */
  #settingFailure: ServiceError | null = null;
  #endedAtOnce = false;

  constructor(deps: ModelCheckDeps) {
    this.#deps = deps;
  }

  /** Whether the first request failed, so that no other was made. */
  get endedAtOnce(): boolean {
    return this.#endedAtOnce;
  }

  /** Yields each check as soon as it is done. Makes no further request if the first one fails. */
  async *run(): AsyncGenerator<Check, void, undefined> {
    const { asker, hasKey, llm } = this.#deps;
    const first = await asker.ask([user('Say hello.')]);
    if (first.failure) {
      this.#endedAtOnce = true;
      yield* refusedAtOnce(first.failure, first.facts, llm);
      return;
    }
    const outcome = hasKey ? 'answers and takes the key' : 'answers; no key is set';
    yield { name: 'provider', finding: 'yes', outcome, request: first.facts };
    yield { name: 'model', finding: 'yes', outcome: 'answers' };
    yield await this.#streaming();
    yield* this.#tools();
    yield await this.#image();
    yield this.#settings();
  }

  async #streaming(): Promise<Check> {
    // Long enough for providers that send a few dozen tokens at a time.
    const asked = await this.#deps.asker.ask([user('Write the numbers from one to fifty as words.')]);
    if (asked.failure) return this.#unanswered('streaming', asked, 'refuses the request');
    const { pieces, spreadMs, reply, facts: request } = asked;
    if (pieces > 1) {
      const outcome = `${pieces} pieces within ${spreadMs} ms`;
      return { name: 'streaming', finding: 'yes', outcome, request };
    }
    if (reply.finishReason === 'length') {
      const advice = 'The reply reached the token limit after one piece; raise llm.maxTokens.';
      return { name: 'streaming', finding: 'unknown', outcome: 'not known', advice, request };
    }
    return {
      name: 'streaming',
      finding: 'no',
      outcome: 'the reply came in one piece',
      advice:
        'Users see each reply only when it is complete. The server does not stream, or a proxy at llm.baseURL holds its pieces back.',
      request,
    };
  }

  async *#tools(): AsyncGenerator<Check, void, undefined> {
    const asked = await this.#deps.asker.ask([ADDITION], [ADD]);
    const called = asked.failure
      ? this.#unanswered('tool call', asked, 'takes no tools')
      : { ...toolCallCheck(asked.reply), request: asked.facts };
    yield called;
    if (asked.failure || called.finding !== 'yes') {
      yield { name: 'tool result', finding: 'unknown', outcome: 'not tried: there was no call' };
      return;
    }
    const conversation = withResults(asked.reply, this.#deps.source);
    const answer = await this.#deps.asker.ask(conversation, [ADD]);
    if (answer.failure) yield this.#unanswered('tool result', answer, 'refuses the result');
    else yield { ...toolResultCheck(answer.reply), request: answer.facts };
  }

  async #image(): Promise<Check> {
    const text = 'Which colour is this image? Answer with one word.';
    const asked = await this.#deps.asker.ask([{ role: 'user', text, images: [yellowImage()] }]);
    if (asked.failure) return this.#unanswered('image', asked, 'takes no images');
    if (/yellow/i.test(spokenText(asked.reply.parts)))
      return { name: 'image', finding: 'yes', outcome: 'sees it', request: asked.facts };
    return {
      name: 'image',
      finding: 'no',
      outcome: 'does not see it',
      advice:
        'The image was accepted, but the reply does not name its colour. Use a model that sees where users send images.',
      request: asked.facts,
    };
  }

  #settings(): Check {
    const names = settingsOf(this.#deps.llm);
    if (this.#settingFailure) return settingRefused(this.#settingFailure);
    if (names.length === 0) return { name: 'settings', finding: 'unknown', outcome: 'none is set' };
    return { name: 'settings', finding: 'yes', outcome: `taken: ${names.join(', ')}` };
  }

  /** @param inability the outcome if the model lacks the ability. */
  #unanswered(
    name: CheckName,
    { failure, facts: request }: Extract<Asked, { failure: ServiceError }>,
    inability: string,
  ): Check {
    const advice = String(failure.details.reason);
    const error = failure.details;
    if (blameOf(failure) === 'setting') {
      this.#settingFailure ??= failure;
      return { name, finding: 'unknown', outcome: 'not known: a setting is refused', request, error };
    }
    if (isInability(failure)) return { name, finding: 'no', outcome: inability, advice, request, error };
    return { name, finding: 'unknown', outcome: 'no reply', advice, isFailure: true, request, error };
  }
}

function user(text: string): UserMessage {
  return { role: 'user', text };
}
