import type { Answer, Call, WorkerRequest } from './worker-protocol.ts';

/** The calls that the thread has not answered yet. */
export class ThreadCalls {
  readonly #post: (request: WorkerRequest) => void;
  readonly #pending = new Map<number, PromiseWithResolvers<Answer>>();
  readonly #running = new Set<Promise<unknown>>();
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

  /** No answer will come any more. */
  abandon(error: Error): void {
    for (const answer of this.#pending.values()) answer.reject(error);
    this.#pending.clear();
  }

  /** What takes several calls is drained as a whole. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Resolves when all that is tracked so far is settled. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #take(id: number): PromiseWithResolvers<Answer> | undefined {
    const answer = this.#pending.get(id);
    this.#pending.delete(id);
    return answer;
  }
}
