import type { Receipt, SendOptions } from '../../client/session-client.ts';
import type { HubLink } from './hub-link.ts';

/** What this tab can do in its session. Each promise rejects when the service refuses. */
export class SessionRemote {
  readonly #hub: HubLink;
  readonly #session: string;

  constructor(hub: HubLink, session: string) {
    this.#hub = hub;
    this.#session = session;
  }

  /** Resolves when the service has recorded the message. */
  async send(content: string, options: SendOptions = {}): Promise<Receipt> {
    const receipt = await this.#hub.do(this.#session, { name: 'send', content, options });
    if (typeof receipt !== 'object') throw new Error('the message was not recorded');
    return receipt;
  }

  /** @returns whether the message was not sent yet, and never will be. */
  async withdraw(clientMessageId: string): Promise<boolean> {
    return (await this.#hub.do(this.#session, { name: 'withdraw', clientMessageId })) === true;
  }

  async cancel(): Promise<void> {
    await this.#hub.do(this.#session, { name: 'cancel' });
  }

  async approve(callId: string, argumentsHash?: string): Promise<void> {
    await this.#hub.do(this.#session, { name: 'approve', callId, argumentsHash });
  }

  async deny(callId: string, reason?: string): Promise<void> {
    await this.#hub.do(this.#session, { name: 'deny', callId, reason });
  }

  async reset(): Promise<void> {
    await this.#hub.do(this.#session, { name: 'reset' });
  }
}
