import type { NodeLink, Subject } from '../../ports/node-link.ts';

/**
 * Keeps the messages of this node until the end of the turn of the event loop, and sends all of them with one write. On a
 * busy node, writes cost more than anything else that nodes do for each other.
 */
export class Outbox implements Pick<NodeLink, 'publish'>, Disposable {
  readonly #link: Pick<NodeLink, 'isUp' | 'publish'>;
  #texts: (readonly [Subject, string])[] = [];
  #works: (() => void)[] = [];
  #isScheduled = false;

  constructor(link: Pick<NodeLink, 'isUp' | 'publish'>) {
    this.#link = link;
  }

  get isUp(): boolean {
    return this.#link.isUp;
  }

  publish(subject: Subject, text: string): void {
    this.#texts.push([subject, text]);
    this.#schedule();
  }

  /** Calls `work` at the end of the turn. What it publishes is sent with the rest. */
  soon(work: () => void): void {
    this.#works.push(work);
    this.#schedule();
  }

  [Symbol.dispose](): void {
    this.#flush();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    for (let work = this.#works.shift(); work; work = this.#works.shift()) work();
    const texts = this.#texts;
    this.#texts = [];
    this.#isScheduled = false;
    for (const [subject, text] of texts) this.#link.publish(subject, text);
  }
}
