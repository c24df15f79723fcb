import { HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import type { BaseEvent } from '@ag-ui/core';
import { EventSchemas } from '@ag-ui/core/schemas';

/** The agent of `@ag-ui/client`, and all events that it was told, each checked against the protocol's schema. */
export class RecordedAgent {
  readonly agent: HttpAgent;
  /** Of the latest run. */
  events: BaseEvent[] = [];
  #said = 0;
  readonly #waiting = new Set<() => void>();

  constructor(agent: HttpAgent) {
    this.agent = agent;
    agent.subscribe({
      onEvent: ({ event }) => {
        EventSchemas.parse(event);
        this.events.push(event);
        for (const look of this.#waiting) look();
      },
    });
  }

  /** Adds a message of the user. */
  say(content: string): this {
    this.#said += 1;
    this.agent.addMessage({ id: `user-${this.#said}`, role: 'user', content });
    return this;
  }

  run(parameters: RunAgentParameters = {}) {
    this.events = [];
    return this.agent.runAgent(parameters);
  }

  /** The types of the events of the latest run, without those of the state. */
  get types(): string[] {
    return this.events.map(({ type }) => String(type)).filter((type) => !type.startsWith('STATE_'));
  }

  /** The first event of this type in the latest run, now or later. */
  event(type: string): Promise<BaseEvent> {
    return this.#first((event) => event.type === type);
  }

  /** The first event of the latest run, now or later, whose `delta` ends with this. */
  told(text: string): Promise<BaseEvent> {
    return this.#first((event) => 'delta' in event && String(event.delta).endsWith(text));
  }

  #first(isWanted: (event: BaseEvent) => boolean): Promise<BaseEvent> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.events.find(isWanted);
        if (!found) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  get last(): BaseEvent | undefined {
    return this.events.at(-1);
  }
}

/** @param path such as `/agents/shop/ag-ui`. */
export function recordedAgent(
  service: { readonly url: string },
  { path = '/ag-ui', threadId = 'thread-1', headers = {} }: AgentOptions = {},
): RecordedAgent {
  return new RecordedAgent(new HttpAgent({ url: service.url + path, threadId, headers }));
}

interface AgentOptions {
  readonly path?: string;
  readonly threadId?: string;
  readonly headers?: Record<string, string>;
}
