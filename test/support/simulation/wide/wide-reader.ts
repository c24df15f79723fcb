import { asServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { Bus } from '../../../../src/ports/bus.ts';
import { ask, type ChooseNode, isTransient } from '../asking.ts';
import type { World } from '../world.ts';
import type { Life, Lives } from './lives.ts';

const ALL = 10_000;

export interface WideReaderDeps {
  readonly world: World;
  readonly lives: Lives;
  readonly choose: ChooseNode;
}

/** Reads at any node what was acknowledged before. */
export class WideReader {
  readonly #deps: WideReaderDeps;

  constructor(deps: WideReaderDeps) {
    this.#deps = deps;
  }

  async expectMessage(sessionId: string, content: string): Promise<void> {
    const events = await this.#read('read', (bus) =>
      bus.send('session.events', { sessionId, afterSeq: 0, limit: ALL }, ANYONE),
    );
    if (!events) return;
    const life = this.#throughout(sessionId, events.askedAt);
    const has = (all: readonly { readonly event: object }[]): boolean =>
      all.some(({ event }) => 'text' in event && event.text === content);
    if (life && has(life.events) && !has(events.answer))
      this.#fault(`${content} was acknowledged, and the events do not have it`);
  }

  async expectListed(sessionId: string): Promise<void> {
    const found = await this.#list();
    if (!found || !this.#throughout(sessionId, found.askedAt)) return;
    if (!found.answer.some((item) => item.sessionId === sessionId)) this.#fault(`${sessionId} is not listed`);
  }

  async expectTitle(sessionId: string): Promise<void> {
    const found = await this.#list();
    const life = found && this.#throughout(sessionId, found.askedAt);
    if (!life) return;
    const title = found.answer.find((item) => item.sessionId === sessionId)?.title;
    const titles = titlesSince(life, found.askedAt);
    // The session that was renamed may have been deleted since.
    if (titles.length > 0 && (title === undefined || !titles.includes(title)))
      this.#fault(`${sessionId} was renamed, and is listed as ${title}`);
  }

  /** Nobody may read a session that was deleted, unless another one has begun. */
  async expectGone(sessionId: string): Promise<void> {
    const { lives, world } = this.#deps;
    const list = await this.#list();
    const isGone = (askedAt: number): boolean => lives.noneThroughout(sessionId, askedAt, world.now);
    if (list && isGone(list.askedAt) && list.answer.some((item) => item.sessionId === sessionId))
      this.#fault(`${sessionId} was deleted, and is listed`);
    const view = await this.#read('view', (bus) => bus.send('session.view', { sessionId }, ANYONE));
    if (view && isGone(view.askedAt)) this.#fault(`${sessionId} was deleted, and is shown`);
  }

  #list() {
    return this.#read('list', (bus) => bus.send('session.list', { limit: ALL }, ANYONE));
  }

  async #read<T>(
    what: string,
    send: (bus: Bus) => Promise<T>,
  ): Promise<{ answer: T; askedAt: number } | null> {
    const { world, choose } = this.#deps;
    const node = choose();
    if (!node) return null;
    const askedAt = world.now;
    const outcome = await ask(world, node, `is asked: ${what}`, send);
    if (outcome === 'lost') return null;
    if ('answer' in outcome) return { answer: outcome.answer, askedAt };
    const { code, body } = asServiceError(outcome.error);
    if (!isTransient(outcome.error) && code !== 'SESSION_NOT_FOUND')
      this.#fault(`${what} was refused: ${JSON.stringify(body)}`);
    return null;
  }

  #throughout(sessionId: string, askedAt: number): Life | undefined {
    return this.#deps.lives.throughout(sessionId, askedAt, this.#deps.world.now);
  }

  #fault(fault: string): void {
    this.#deps.world.faults.push(fault);
  }
}

/** The title that the session had then, and those that it had later. */
function titlesSince(life: Life, time: number): (string | null)[] {
  const renamed = life.events.flatMap(({ event, seq }) =>
    event.type === 'session.renamed' ? [{ title: event.title, at: life.timeOf(seq) }] : [],
  );
  const before = renamed.findLastIndex(({ at }) => at <= time);
  return renamed.slice(Math.max(0, before)).map(({ title }) => title);
}
