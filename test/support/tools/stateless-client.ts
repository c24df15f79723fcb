import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';

/** What `chat_with_agent` answers. */
export const Chat = z.object({ reply: z.string(), sessionId: z.string() });
export type Chat = z.infer<typeof Chat>;

/** A client that speaks the newer era of MCP, which has no sessions. */
export class StatelessClient implements AsyncDisposable {
  readonly sdk: Client;

  private constructor(sdk: Client) {
    this.sdk = sdk;
  }

  static async over(transport: Transport, options: ClientOptions = {}): Promise<StatelessClient> {
    const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
    const sdk = new Client({ name: 'test client', version: '1.0.0' }, { versionNegotiation, ...options });
    await sdk.connect(transport);
    return new StatelessClient(sdk);
  }

  async call(name: string, args: object = {}, options?: RequestOptions): Promise<CallToolResult> {
    return this.sdk.callTool({ name, arguments: { ...args } }, options);
  }

  /** What `chat_with_agent` answers; rejects when the result is an error. */
  async chat(message: string, more: { sessionId?: string } = {}, options?: RequestOptions): Promise<Chat> {
    const result = await this.call('chat_with_agent', { message, ...more }, options);
    if (result.isError) throw new Error(JSON.stringify(result.content));
    return Chat.parse(result.structuredContent);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sdk.close();
  }
}

export function statelessClient(
  { url }: { readonly url: string },
  options?: ClientOptions,
): Promise<StatelessClient> {
  return StatelessClient.over(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)), options);
}
