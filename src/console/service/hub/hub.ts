import { errorText } from '../api-error.ts';
import { HubKey } from './hub-key.ts';
import type { FromHub, ToHub } from './hub-messages.ts';
import { MachineStates } from './machine-states.ts';
import { SharedMachines } from './shared-machines.ts';
import { SharedSession } from './shared-session.ts';
import type { Tab } from './tab.ts';
import { isCrowded, isUnauthorized } from './trouble.ts';

/**
 * Holds the streams of all tabs: one for each session that a tab shows, or one for the machines if there is none.
 * The service limits the open streams of an address, so tabs must not have their own.
 */
export class Hub {
  readonly #tabs = new Set<Tab>();
  readonly #sessions = new Map<string, SharedSession>();
  readonly #machines = new SharedMachines({
    token: () => this.#key.source(),
    onRefused: (error) => this.#refused(error),
  });
  /** The same for all tabs. */
  readonly #key = new HubKey((ended) => this.#post({ kind: 'renew', ended }));

  /** @param port leads to a tab. */
  accept(port: MessagePort): void {
    const tab: Tab = { post: (message) => port.postMessage(message) };
    this.#tabs.add(tab);
    port.addEventListener('message', ({ data }: MessageEvent<ToHub>) => this.#receive(tab, data));
    // A tab that crashes does not say so. Browsers that lack this event keep its streams until all tabs are closed.
    port.addEventListener('close', () => this.#drop(tab));
    port.start();
  }

  #receive(tab: Tab, message: ToHub): void {
    switch (message.kind) {
      case 'key':
        this.#key.take(message);
        break;
      case 'machines.join':
        this.#machines.join(tab);
        break;
      case 'machines.leave':
        this.#machines.leave(tab);
        break;
      case 'session.join':
        this.#session(message).join(tab);
        break;
      case 'session.leave':
        this.#sessions.get(message.session)?.leave(tab);
        break;
      case 'session.do':
        void this.#do(tab, message);
        break;
      default:
        message satisfies never;
    }
  }

  async #do(tab: Tab, { session, id, action }: Extract<ToHub, { kind: 'session.do' }>): Promise<void> {
    try {
      const shared = this.#sessions.get(session);
      if (!shared) throw new Error('There is no connection to the session. Reload the page.');
      tab.post({ kind: 'done', id, result: await shared.do(action) });
    } catch (error) {
      const name = error instanceof Error ? error.name : 'Error';
      tab.post({ kind: 'failed', id, name, reason: errorText(error) });
    }
  }

  #session(begin: Extract<ToHub, { kind: 'session.join' }>): SharedSession {
    const { session } = begin;
    const known = this.#sessions.get(session);
    if (known) return known;
    // A stream of the machines alone is closed first: there may be no room for both.
    const machines = new MachineStates();
    this.#machines.add(machines);
    const shared: SharedSession = new SharedSession({ ...begin, token: this.#key.source() }, machines, {
      onMachines: () => this.#machines.choose(),
      onRefused: (error) => this.#refused(error),
      onEnded: () => {
        if (this.#sessions.get(session) !== shared) return;
        this.#sessions.delete(session);
        this.#machines.remove(machines);
      },
    });
    this.#sessions.set(session, shared);
    return shared;
  }

  #drop(tab: Tab): void {
    this.#tabs.delete(tab);
    this.#machines.leave(tab);
    for (const shared of [...this.#sessions.values()]) shared.leave(tab);
  }

  #refused(error: unknown): void {
    if (isCrowded(error)) this.#post({ kind: 'crowded' });
    else if (isUnauthorized(error)) {
      this.#post({ kind: 'signed-out', key: this.#key.current, reason: errorText(error) });
    }
  }

  #post(message: FromHub): void {
    for (const tab of this.#tabs) tab.post(message);
  }
}
