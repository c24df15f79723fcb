import type { Answer, Call, WorkerRequest } from './worker-protocol.ts';

/** Sends calls to the thread and matches its answers to them. */
export class ThreadCalls {
  readonly #post: (request: WorkerRequest) => void;
  readonly #pending = new Map<number, PromiseWithResolvers<Answer>>();
  #lastId = 0;

  constructor(post: (request: WorkerRequest) => void) {
    this.#post = post;
  }

  send(call: Call): Promise<Answer> {
    this.#lastId += 1;
    const answer = Promise.withResolvers<Answer>();
    this.#pending.set(this.#lastId, answer);
    this.#post({ type: 'call', id: this.#lastId, call });
    return answer.promise;
  }

  accept(id: number, answer: Answer): void {
    this.#take(id)?.resolve(answer);
  }

  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** Rejects all calls. Call it when the thread has ended. */
  abandon(error: Error): void {
    for (const answer of this.#pending.values()) answer.reject(error);
    this.#pending.clear();
  }

  #take(id: number): PromiseWithResolvers<Answer> | undefined {
    const answer = this.#pending.get(id);
    this.#pending.delete(id);
    return answer;
  }
}
