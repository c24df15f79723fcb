import type { Client as A2aClient } from '@a2a-js/sdk/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { connect, type SessionClient } from '../../../src/client/session-client.ts';
import { a2aClient } from '../a2a/a2a-client.ts';
import { type RecordedAgent, recordedAgent } from '../ag-ui/recorded-agent.ts';
import type { KilledService } from '../crash/killed-service.ts';
import { Chat, StatelessClient } from '../tools/stateless-client.ts';

/** Who comes in at which door. Each has an API key of this name. */
export const DOORS = ['websocket', 'openai', 'a2a', 'mcp', 'ag-ui'] as const;
export type Door = (typeof DOORS)[number];
export type Keys = Readonly<Record<Door, string>>;

/** The session as its owner, who comes by WebSocket, names it, and as everybody else does. */
export const SESSION = 'trip';
export const SHARED_SESSION = `default/key:websocket/${SESSION}`;

const model = 'default';
/** Each message is said once in the story. */
const keyOf = (message: string): string => message.replaceAll(' ', '-');
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** The clients of five protocols, each with its own key. They do what they do through the kills of the service. */
export class FiveDoors implements Disposable {
  readonly websocket: SessionClient;
  readonly #service: KilledService;
  readonly #keys: Keys;
  readonly #openai: OpenAI;

  constructor(service: KilledService, keys: Keys) {
    this.#service = service;
    this.#keys = keys;
    this.websocket = this.openSocket();
    this.#openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: keys.openai, maxRetries: 0 });
  }

  get conversations(): OpenAI['conversations'] {
    return this.#openai.conversations;
  }

  /** Another client of the owner, which reads from the beginning. */
  openSocket(): SessionClient {
    return connect({ url: this.#service.url, session: SESSION, token: this.#keys.websocket });
  }

  /** A request of the owner. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...bearer(this.#keys.websocket), 'Content-Type': 'application/json' };
    return this.#service.throughKills(() => this.#service.fetch(path, { headers, ...init }));
  }

  /** Reads the stream of a response, and goes on where a kill has cut it off. */
  async respond(input: string): Promise<OpenAiResponse> {
    let response: OpenAiResponse | undefined;
    let last = -1;
    await this.#service.throughKills(async () => {
      const stream = response
        ? await this.#openai.responses.retrieve(response.id, { stream: true, starting_after: last })
        : await this.#openai.responses.create(
            { model, input, conversation: SHARED_SESSION, stream: true },
            { headers: { 'Idempotency-Key': keyOf(input) } },
          );
      for await (const event of stream) {
        response = accumulateResponse(event, response);
        last = event.sequence_number;
      }
      if (response?.status !== 'completed') throw new Error('the stream ended before the response');
    });
    if (!response) throw new Error('there was no response');
    return response;
  }

  /** Asks again, with the same key, when a kill has cut it off. */
  async complete(content: string): Promise<string> {
    const request = {
      model,
      messages: [{ role: 'user' as const, content }],
      metadata: { session_id: SHARED_SESSION },
    };
    const headers = { 'Idempotency-Key': keyOf(content) };
    const answer = await this.#service.throughKills(() =>
      this.#openai.chat.completions.create(request, { headers }),
    );
    return answer.choices[0]?.message.content ?? '';
  }

  /** Calls again, with the same key, when a kill has cut it off. @param onAsked when the client is asked to approve. */
  async callAgent(message: string, onAsked: () => Promise<void>): Promise<string> {
    const params = {
      name: 'chat_with_agent',
      arguments: { message, sessionId: SHARED_SESSION },
      _meta: { 'agent-service/idempotencyKey': keyOf(message) },
    };
    return this.#service.throughKills(async () => {
      await using client = await this.#mcpClient();
      client.sdk.setRequestHandler('elicitation/create', async () => {
        await onAsked();
        return { action: 'accept', content: { approve: true } };
      });
      // Without it, the SDK waits for the answer on a stream that is broken.
      const broken = new AbortController();
      client.sdk.onerror = (error) => broken.abort(error);
      const { signal } = broken;
      const { structuredContent, isError, content } = await client.sdk.callTool(params, { signal });
      if (isError) throw new Error(JSON.stringify(content));
      return Chat.parse(structuredContent).reply;
    });
  }

  a2a(): Promise<A2aClient> {
    return this.#service.throughKills(() => a2aClient(`${this.#service.url}/`, 'JSONRPC', this.#keys.a2a));
  }

  /** A page that has nothing of the conversation yet. */
  page(): RecordedAgent {
    return recordedAgent(this.#service, { threadId: SHARED_SESSION, headers: bearer(this.#keys['ag-ui']) });
  }

  [Symbol.dispose](): void {
    this.websocket.close();
  }

  #mcpClient(): Promise<StatelessClient> {
    const url = new URL(`${this.#service.url}/mcp`);
    const requestInit = { headers: bearer(this.#keys.mcp) };
    return StatelessClient.over(new StreamableHTTPClientTransport(url, { requestInit }), {
      capabilities: { elicitation: { form: {} } },
    });
  }
}
