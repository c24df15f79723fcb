import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { type Fake, firstRules } from './fake.ts';
import { FakeProvider } from './fake-provider.ts';
import type { SessionStore } from './session-store.ts';

const KEY = 'sk-fake-5d41402abc';
const LETTERS = 'abcdefgh';

export type ToolServers = Readonly<Record<string, McpServerConfig>>;

/** One store of sessions, and the providers that the services on it talk to, one after the other. */
export class Stage implements AsyncDisposable {
  readonly sessions: SessionStore;
  readonly #providers: ReadonlyMap<Fake, FakeProvider>;

  private constructor(sessions: SessionStore, providers: readonly FakeProvider[]) {
    this.sessions = sessions;
    this.#providers = new Map(providers.map((provider) => [provider.fake, provider]));
  }

  static async set(sessions: SessionStore, fakes: readonly Fake[]): Promise<Stage> {
    const listening = fakes.map((fake, place) => FakeProvider.listen(fake, LETTERS[place] ?? ''));
    return new Stage(sessions, await Promise.all(listening));
  }

  get providers(): readonly FakeProvider[] {
    return [...this.#providers.values()];
  }

  providerOf(fake: Fake): FakeProvider {
    const provider = this.#providers.get(fake);
    if (!provider) throw new Error(`${fake.name} is not on the stage`);
    return provider;
  }

  /** @param llm more fields, for this service alone. */
  service(fake: Fake, mcpServers: ToolServers, llm: object = {}): Promise<RunningService> {
    const { provider, api } = firstRules(fake);
    const { baseURL } = this.providerOf(fake);
    const { model, systemPrompt = 'You are tested.' } = fake;
    const yaml = JSON.stringify({
      systemPrompt,
      llm: { provider, api, model, baseURL, apiKey: '$FAKE_KEY', maxRetries: 0, ...fake.llm, ...llm },
      mcpServers,
      limits: { requestsPerMinute: false, messagesPerMinute: false, connectionsPerAddress: false },
      server: { drainTimeoutMs: 0 },
    });
    return RunningService.start({ yaml, environment: { FAKE_KEY: KEY }, ...this.sessions.options() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const provider of this.providers) await provider[Symbol.asyncDispose]();
    await this.sessions[Symbol.asyncDispose]();
  }
}
