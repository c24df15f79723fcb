import type { SessionId } from '../../../core/ids.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { McpCall } from '../mcp-call.ts';
import { elicitationOf, noticeOf, type Question, takeAnswer } from './asked-question.ts';
import type { McpTurnPlace } from './turn-place.ts';

/** What a client of the older era is asked while its call goes on. The questions end with the call. */
export class OpenQuestions implements Disposable {
  readonly #bus: Bus;
  readonly #place: McpTurnPlace;
  readonly #call: McpCall;
  readonly #over = new AbortController();

  constructor(bus: Bus, place: McpTurnPlace, call: McpCall) {
    this.#bus = bus;
    this.#place = place;
    this.#call = call;
  }

  /** Does nothing in the newer era: there the questions are the result of the call. */
  ask(question: Question): void {
    const { ask } = this.#call;
    if (!ask) return;
    const { sessionId } = this.#place;
    const said = ask('elicitation/create', elicitationOf(question), this.#over.signal);
    const taken = said.then(({ answer, context }) =>
      'result' in answer
        ? takeAnswer(this.#bus, { sessionId, question, answer: answer.result }, { context })
        : 'open',
    );
    // Somebody else may still answer.
    const leave = (): void => {
      if (!this.#over.signal.aborted) tellOfQuestion(this.#call, sessionId, question);
    };
    taken.then((outcome) => outcome === 'answered' || leave()).catch(leave);
  }

  [Symbol.dispose](): void {
    this.#over.abort('the call is over');
  }
}

/** Tells the client with a log message that its call waits until somebody has answered. */
export function tellOfQuestion(call: McpCall, sessionId: SessionId, question: Question): void {
  const { level, logger, data } = noticeOf({ agentPath: call.context.agentPath, sessionId }, question);
  call.log(level, logger, data);
}
