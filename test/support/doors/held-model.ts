import { OpenAiUpstream, type StreamStep, type UpstreamRequest } from '../models/openai-upstream.ts';

/** A model provider that says the first half of each reply, and the rest when the test says so. It outlives the service. */
export class HeldModel implements AsyncDisposable {
  readonly #upstream: OpenAiUpstream;
  #reply: HeldReply | undefined;

  private constructor(upstream: OpenAiUpstream) {
    this.#upstream = upstream;
    upstream.otherwise = (request) => {
      if (!this.#reply) throw new Error('the story has no reply for this call of the model');
      return { stream: this.#reply.answer(request) };
    };
  }

  static async listen(): Promise<HeldModel> {
    return new HeldModel(await OpenAiUpstream.listen());
  }

  get baseURL(): string {
    return this.#upstream.baseURL;
  }

  /** What each call of the model gets from now on. */
  next(half: string, ...rest: StreamStep[]): HeldReply {
    this.#reply = new HeldReply(half, rest);
    return this.#reply;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#upstream[Symbol.asyncDispose]();
  }
}

type Shown = UpstreamRequest['body']['messages'];

/** One reply. The model is called for it again when a kill has cut it off. */
export class HeldReply {
  /** What the model was shown, by each call. */
  readonly calls: Shown[] = [];
  readonly #half: string;
  readonly #rest: readonly StreamStep[];
  readonly #gate = Promise.withResolvers<void>();

  constructor(half: string, rest: readonly StreamStep[]) {
    this.#half = half;
    this.#rest = rest;
  }

  answer({ body }: UpstreamRequest): StreamStep[] {
    this.calls.push(body.messages);
    return [{ text: this.#half }, { gate: this.#gate.promise }, ...this.#rest];
  }

  /** Lets the calls go on, those to come as well. */
  release(): void {
    this.#gate.resolve();
  }
}

/** The end of a reply that is text. */
export const endOfText = (text: string): StreamStep[] => [{ text }, { finish: 'stop' }, { done: true }];

/** The end of a reply that calls a tool without arguments. */
export const endWithCall = (id: string, name: string): StreamStep[] => [
  { toolCall: { index: 0, id, name, arguments: '{}' } },
  { finish: 'tool_calls' },
  { done: true },
];
