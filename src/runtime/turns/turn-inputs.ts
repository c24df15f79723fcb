import { AGENT } from '../../core/log/event-metadata.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { RequestInput, WithdrawInput } from '../../core/tool-call/input-commands.ts';
import type { InputQuestion } from '../../core/tool-call/input-events.ts';
import type { TurnSession } from './turn-deps.ts';

type Call = SessionEventOf<'tool-call.requested'>;
type Answer = Pick<SessionEventOf<'input.answered'>, 'action' | 'content'>;

/** A question for a person. */
export interface PersonQuestion {
  readonly message: string;
  readonly question: InputQuestion;
  readonly expiresAfterMs: number | undefined;
}

/** When nobody waits for the answer any more. */
export interface QuestionEnds {
  /** The turn does not wait: its calls have ended, and the log says so. */
  readonly turn: AbortSignal;
  /** The tool server does not wait. */
  readonly server: AbortSignal;
}

const NOT_ANSWERED: Answer = { action: 'cancel' };

/** What tool servers ask people in one turn. A question is in the log before anybody sees it, and so is its answer. */
export class TurnInputs {
  readonly #session: TurnSession;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  #count = 0;

  constructor(session: TurnSession) {
    this.#session = session;
  }

  /** Never rejects. The action is `cancel` if nobody answers. */
  ask(
    call: Call,
    { message, question, expiresAfterMs }: PersonQuestion,
    ends: QuestionEnds,
  ): Promise<Answer> {
    const { open } = this.#session.state;
    const { turnId, callId } = call;
    if (ends.turn.aborted || ends.server.aborted || !open?.unsettled.has(callId))
      return Promise.resolve(NOT_ANSWERED);
    this.#count += 1;
    // A turn that goes on after a restart counts anew.
    const inputId = `${callId}.${open.attempt}.${this.#count}`;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(inputId, resolve);
    this.#report({ type: 'input.request', turnId, callId, inputId, message, question, expiresAfterMs }, call);
    const onTurnEnd = (): void => this.#end(inputId, NOT_ANSWERED);
    const onServerEnd = (): void => {
      // The end of the turn ends the wait of the server. The log has it already, or is to be left as it is.
      if (!ends.turn.aborted) this.#report({ type: 'input.withdraw', turnId, inputId }, call);
      this.#end(inputId, NOT_ANSWERED);
    };
    ends.turn.addEventListener('abort', onTurnEnd, { once: true });
    ends.server.addEventListener('abort', onServerEnd, { once: true });
    return promise.finally(() => {
      ends.turn.removeEventListener('abort', onTurnEnd);
      ends.server.removeEventListener('abort', onServerEnd);
    });
  }

  /** The log has the answer. */
  tell({ inputId, action, content }: SessionEventOf<'input.answered'>): void {
    this.#end(inputId, { action, ...(content && { content }) });
  }

  #end(inputId: string, answer: Answer): void {
    this.#waiting.get(inputId)?.(answer);
    this.#waiting.delete(inputId);
  }

  #report(command: RequestInput | WithdrawInput, { callId, turnId }: Call): void {
    const { causes, report } = this.#session;
    report(command, { actor: AGENT, causationId: causes.ofCall(callId) ?? turnId });
  }
}
