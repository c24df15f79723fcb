import { z } from 'zod';
import type { JsonObject } from '../../core/json-object.ts';
import { JsonRpcError, RPC } from '../../core/json-rpc.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import { InputForm } from '../../core/tool-call/input-form.ts';
import type { ServerQuestion } from '../../core/tool-server/server-question.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';
import { type PersonQuestion, type QuestionEnds, TurnInputs } from './turn-inputs.ts';
import { TurnSampling } from './turn-sampling.ts';

type Call = SessionEventOf<'tool-call.requested'>;

const FormParams = z.object({
  mode: z.literal('form').default('form'),
  message: z.string(),
  requestedSchema: InputForm,
});
/** A browser opens the address, so it must not be one that runs as a script. */
const UrlParams = z.object({
  mode: z.literal('url'),
  message: z.string(),
  url: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }),
});

/** Answers what tool servers ask while they work on the calls of one turn. */
export class TurnQuestions {
  readonly #deps: TurnDeps;
  readonly #inputs: TurnInputs;
  readonly #sampling: TurnSampling;

  constructor(session: TurnSession, deps: TurnDeps) {
    this.#deps = deps;
    this.#inputs = new TurnInputs(session);
    this.#sampling = new TurnSampling(session, deps, this.#inputs);
  }

  /** Rejects with a `JsonRpcError` to refuse the question. */
  async answer(call: Call, { method, params }: ServerQuestion, ends: QuestionEnds): Promise<JsonObject> {
    const { roots, sampling, expiresAfterMs } = this.#deps.catalog.questionsOf(call.serverId);
    switch (method) {
      case 'roots/list':
        return { roots };
      case 'sampling/createMessage':
        return this.#sampling.answer({ call, params, sampling, expiresAfterMs }, ends);
      case 'elicitation/create':
        return { ...(await this.#inputs.ask(call, personQuestion(params, expiresAfterMs), ends)) };
      default:
        return method satisfies never;
    }
  }

  /** The log has the answer to a question. */
  tell(answered: SessionEventOf<'input.answered'>): void {
    this.#inputs.tell(answered);
  }
}

/** Throws a `JsonRpcError` that names the first field that is not valid. */
function personQuestion(params: JsonObject, expiresAfterMs: number | undefined): PersonQuestion {
  const parsed = params.mode === 'url' ? UrlParams.safeParse(params) : FormParams.safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new JsonRpcError(
      RPC.invalidParams,
      `${issue?.path.join('.') || 'params'}: ${issue?.message ?? ''}`,
    );
  }
  const { data } = parsed;
  const question =
    data.mode === 'url'
      ? { mode: data.mode, url: data.url }
      : { mode: data.mode, schema: data.requestedSchema };
  return { message: data.message, question, expiresAfterMs };
}
