import type { Client } from '@a2a-js/sdk/client';
import { DirectedModel } from '../models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../service/running-service.ts';
import { DirectedTools } from '../tools/directed-tools.ts';
import { a2aClient, type Binding } from './a2a-client.ts';

/** An agent with the tool `pay`, which needs approval. */
export const A2A_AGENT = {
  name: 'Shop',
  description: 'Sells and buys.',
  llm: { provider: 'scripted', model: 'offline' },
  mcpServers: { bank: { type: 'stdio', command: 'none' } },
  approval: { default: 'ask' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
};

/** A service whose model and tools the test directs, for clients of A2A. */
export class A2aRig implements AsyncDisposable {
  readonly service: RunningService;
  readonly model: DirectedModel;
  readonly tools: DirectedTools;

  private constructor(service: RunningService, model: DirectedModel, tools: DirectedTools) {
    this.service = service;
    this.model = model;
    this.tools = tools;
  }

  static async start({ adapters, ...options }: ServiceOptions = {}): Promise<A2aRig> {
    const model = new DirectedModel();
    const tools = new DirectedTools({ pay: {} });
    const yaml = JSON.stringify(A2A_AGENT);
    // Several agents have models of their own.
    const directed = options.agents ? adapters : { model, connector: tools, ...adapters };
    const service = await RunningService.start({ yaml, ...(directed && { adapters: directed }), ...options });
    return new A2aRig(service, model, tools);
  }

  /** @param path of the agent, such as `/agents/shop/`. */
  client(
    binding: Binding,
    { path = '/', token }: { readonly path?: string; readonly token?: string } = {},
  ): Promise<Client> {
    return a2aClient(`${this.service.url}${path}`, binding, token);
  }

  /** A request of the JSON-RPC binding, by hand. */
  async call(body: object | string, headers: Record<string, string> = {}): Promise<Response> {
    return this.service.fetch('/a2a', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.close();
  }
}
