import { EventEmitter, once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

export interface GatedCall {
  readonly name: string;
  answer(text: string): void;
}

/** Tools that answer when the test says so: they run in the test's process, whatever becomes of the service's. */
export class GatedTools {
  readonly calls: GatedCall[] = [];
  readonly #readOnly: ReadonlyMap<string, boolean>;
  readonly #arrivals = new EventEmitter();

  /** @param tools whether each is annotated read-only. */
  constructor(tools: Readonly<Record<string, { readOnly: boolean }>>) {
    this.#readOnly = new Map(Object.entries(tools).map(([name, { readOnly }]) => [name, readOnly]));
  }

  /** A server for one client. */
  readonly server = (): McpServer => {
    const server = new McpServer({ name: 'gated', version: '1.0.0' });
    for (const [name, readOnlyHint] of this.#readOnly) {
      server.registerTool(name, { description: '', annotations: { readOnlyHint } }, async () => ({
        content: [{ type: 'text', text: await this.#answer(name) }],
      }));
    }
    return server;
  };

  /** The call of that tool of this number, the first being 0, as soon as it has come. */
  async call(name: string, index = 0): Promise<GatedCall> {
    for (;;) {
      const call = this.callsOf(name)[index];
      if (call) return call;
      await once(this.#arrivals, 'call');
    }
  }

  callsOf(name: string): GatedCall[] {
    return this.calls.filter((call) => call.name === name);
  }

  #answer(name: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.calls.push({ name, answer: resolve });
    this.#arrivals.emit('call');
    return promise;
  }
}
