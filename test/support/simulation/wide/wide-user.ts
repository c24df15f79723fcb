import { asServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { IdempotencyKey } from '../../../../src/core/request/request-events.ts';
import type { Bus } from '../../../../src/ports/bus.ts';
import { ask, type ChooseNode, isForEver, isTransient, KEY_MS, type Outcome } from '../asking.ts';
import type { World } from '../world.ts';
import type { Command, Deeds, Message } from './deeds.ts';
import type { Lives } from './lives.ts';
import { WideReader } from './wide-reader.ts';

const AGAIN_MS = 300;
/** Longest that the database takes to answer. */
const UNHEARD_MS = 3_000;
/** How often a request has no key. Then it is sent once. */
const KEYLESS = 0.2;
/** How often a request that was answered is sent again, to any node. */
const REPEATED = 0.3;
/** How often a request is sent to two nodes at the same time. */
const DOUBLED = 0.1;

export interface WideUserDeps {
  readonly world: World;
  readonly lives: Lives;
  readonly choose: ChooseNode;
  readonly deeds: Deeds;
  /** The sessions of all users. Forks are added. */
  readonly sessions: string[];
}

interface AskedFork {
  readonly from: string;
  readonly at: number | undefined;
  readonly to: string;
  readonly askedAt: number;
}

interface Wanted<T> {
  readonly what: string;
  readonly key: IdempotencyKey | null;
  readonly send: (bus: Bus, key: { readonly key?: IdempotencyKey }) => Promise<T>;
  /** Errors that are answers, too. */
  readonly mayFail: (code: string, askedAt: number) => boolean;
  readonly onAnswer: (answer: T) => void;
}

/** Does all that clients do to sessions, each thing at any node, and with a key until it is answered. */
export class WideUser {
  readonly #name: string;
  readonly #deps: WideUserDeps;
  readonly #reader: WideReader;
  #number = 0;

  constructor(name: string, deps: WideUserDeps) {
    this.#name = name;
    this.#deps = deps;
    this.#reader = new WideReader(deps);
  }

  async work(deeds: number, pauseMs: number): Promise<void> {
    const { world, sessions } = this.#deps;
    for (let done = 0; done < deeds; done += 1) {
      await world.wait(world.random() * pauseMs);
      const sessionId = world.pick(sessions);
      await this.#pick()(sessionId);
    }
  }

  #pick(): (sessionId: string) => Promise<void> {
    const { world } = this.#deps;
    const part = world.random();
    if (part < 0.5) return (id) => this.#say(id);
    if (part < 0.6) return (id) => this.#cancel(id);
    if (part < 0.68) return (id) => this.#reset(id);
    if (part < 0.82) return (id) => this.#delete(id);
    if (part < 0.92) return (id) => this.#fork(id);
    return (id) => this.#rename(id);
  }

  async #say(sessionId: string): Promise<void> {
    const { world, deeds } = this.#deps;
    const content = `${world.chance(0.4) ? 'ask' : 'work'} ${this.#nextId()}`;
    const message: Message = { sessionId, content, turnIds: new Set(), isRefused: false };
    deeds.messages.push(message);
    const outcome = await this.#do({
      what: content,
      key: this.#newKey(content),
      send: (bus, key) =>
        bus.send('turn.start', { sessionId, turnId: crypto.randomUUID(), text: content, ...key }, ANYONE),
      mayFail: () => false,
      onAnswer: ({ turnId }) => void message.turnIds.add(turnId),
    });
    message.isRefused = outcome === null;
    if (message.turnIds.size > 0) await this.#reader.expectMessage(sessionId, content);
  }

  async #cancel(sessionId: string): Promise<void> {
    const command = this.#command('cancel', sessionId);
    const reason = 'the user cancelled';
    await this.#do({
      what: `cancel ${command.key}`,
      key: this.#keyOf(command),
      send: (bus, key) => bus.send('turn.cancel', { sessionId, reason, ...key }, ANYONE),
      mayFail: () => false,
      onAnswer: (isCancelled) => {
        if (isCancelled) this.#done(command);
      },
    });
  }

  async #reset(sessionId: string): Promise<void> {
    const command = this.#command('reset', sessionId);
    await this.#do({
      what: `reset ${command.key}`,
      key: this.#keyOf(command),
      send: (bus, key) => bus.send('session.reset', { sessionId, ...key }, ANYONE),
      mayFail: () => false,
      onAnswer: () => this.#done(command),
    });
  }

  /** Often, the next session begins at once. */
  async #delete(sessionId: string): Promise<void> {
    const { world } = this.#deps;
    const command = { ...this.#command('delete', sessionId), key: null };
    this.#deps.deeds.commands.push(command);
    await this.#do({
      what: `delete ${sessionId}`,
      key: null,
      send: (bus) => bus.send('session.delete', { sessionId }, ANYONE),
      mayFail: (code, askedAt) => code === 'SESSION_NOT_FOUND' && this.#mayBeMissing(sessionId, askedAt),
      onAnswer: () => this.#done(command),
    });
    if (command.doneAt !== null) await this.#reader.expectGone(sessionId);
    if (world.chance(0.6)) await this.#say(sessionId);
  }

  async #rename(sessionId: string): Promise<void> {
    const command = this.#command('rename', sessionId);
    const title = this.#nextId();
    await this.#do({
      what: `rename to ${title}`,
      key: null,
      send: (bus) => bus.send('session.rename', { sessionId, title }, ANYONE),
      mayFail: (code, askedAt) => code === 'SESSION_NOT_FOUND' && this.#mayBeMissing(sessionId, askedAt),
      onAnswer: () => this.#done(command),
    });
    if (command.doneAt !== null) await this.#reader.expectTitle(sessionId);
  }

  /** After any event that the session may have, or after the last one. */
  async #fork(from: string): Promise<void> {
    const { world, lives, deeds, sessions } = this.#deps;
    const to = `fork-${this.#nextId()}`;
    const head = lives.now(from)?.stream.rows.length ?? 0;
    const at = head > 0 && world.chance(0.7) ? 1 + world.below(head) : undefined;
    const deed = { from, to, askedAt: world.now, answers: [] };
    deeds.forks.push(deed);
    const answers: (typeof deeds.forks)[number]['answers'] = deed.answers;
    await this.#do({
      what: `fork ${from} at ${at} to ${to}`,
      key: this.#newKey(to),
      send: (bus, key) => bus.send('session.fork', { from, at, to, ...key }, ANYONE),
      mayFail: (code, askedAt) => this.#mayRefuseFork(code, { from, at, to, askedAt }),
      onAnswer: (answer) => void answers.push(answer),
    });
    if (answers.length === 0) return;
    await this.#reader.expectListed(to);
    sessions.push(to);
    if (world.chance(0.5)) await this.#say(to);
  }

  #mayRefuseFork(code: string, { from, at = 1, to, askedAt }: AskedFork): boolean {
    const { lives, world } = this.#deps;
    if (code === 'SESSION_NOT_FOUND') return this.#mayBeMissing(from, askedAt);
    const life = lives.throughout(from, askedAt, world.now);
    if (code !== 'INVALID_REQUEST') return false;
    // The session may be another one, with fewer events. The node hears a moment later than the database what it has recorded.
    const isUnsure = !life || life.timeOf(at) > askedAt - UNHEARD_MS;
    // An attempt whose answer was lost may have made it.
    return isUnsure || !lives.noneThroughout(to, 0, world.now);
  }

  /**
   * Sends it until it is answered, if it has a key.
   * @returns the last outcome; null: the user was told that nothing was done, or nothing was sent.
   */
  async #do<T>(wanted: Wanted<T>): Promise<Outcome<T> | null> {
    const { world } = this.#deps;
    if (wanted.key === null) {
      const outcome = await this.#attempt(wanted);
      return isRefusal(outcome) ? null : (outcome ?? null);
    }
    for (;;) {
      if (world.chance(DOUBLED)) void this.#attempt(wanted);
      const outcome = await this.#attempt(wanted);
      if (outcome && outcome !== 'lost') {
        if ('answer' in outcome && world.chance(REPEATED)) await this.#attempt(wanted);
        if ('answer' in outcome || !isTransient(outcome.error) || isForEver(outcome.error)) return outcome;
      }
      await world.wait(50 + world.random() * AGAIN_MS);
    }
  }

  async #attempt<T>({ what, key, send, mayFail, onAnswer }: Wanted<T>): Promise<Outcome<T> | undefined> {
    const { world, choose } = this.#deps;
    const node = choose();
    if (!node) return undefined;
    const askedAt = world.now;
    const outcome = await ask(world, node, `is asked: ${what}`, (bus) => send(bus, key ? { key } : {}));
    if (outcome === 'lost') return outcome;
    if ('answer' in outcome) {
      world.note(`${what}: ${JSON.stringify(outcome.answer)}`);
      onAnswer(outcome.answer);
      return outcome;
    }
    const { code, body } = asServiceError(outcome.error);
    world.note(`${what}: ${code}`);
    if (!isTransient(outcome.error) && !mayFail(code, askedAt))
      world.faults.push(
        `${what} was refused: ${JSON.stringify(body)} ${String((outcome.error as Error).stack)}`,
      );
    return outcome;
  }

  #mayBeMissing(sessionId: string, askedAt: number): boolean {
    const { lives, world } = this.#deps;
    return lives.throughout(sessionId, askedAt - UNHEARD_MS, world.now) === undefined;
  }

  #command(type: Command['type'], sessionId: string): Command {
    const { world, deeds } = this.#deps;
    const key = type !== 'rename' && type !== 'delete' && !world.chance(KEYLESS) ? this.#nextId() : null;
    const command = { type, sessionId, key, askedAt: world.now, doneAt: null };
    deeds.commands.push(command);
    return command;
  }

  #done(command: Command): void {
    command.doneAt ??= this.#deps.world.now;
  }

  #keyOf({ key }: Command): IdempotencyKey | null {
    return key === null ? null : { id: key, fingerprint: key, expiresAt: Date.now() + KEY_MS };
  }

  #newKey(id: string): IdempotencyKey | null {
    if (this.#deps.world.chance(KEYLESS)) return null;
    return { id, fingerprint: id, expiresAt: Date.now() + KEY_MS };
  }

  #nextId(): string {
    this.#number += 1;
    return `${this.#name}-${String(this.#number).padStart(2, '0')}`;
  }
}

/** Whether nothing was done, or nothing was even sent. */
function isRefusal(outcome: Outcome<unknown> | undefined): boolean {
  if (outcome === undefined) return true;
  return (
    outcome !== 'lost' && 'error' in outcome && asServiceError(outcome.error).code === 'SERVICE_UNAVAILABLE'
  );
}
