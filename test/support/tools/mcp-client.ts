import { EventEmitter, once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  type Progress,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** The SDK's client, with short words for what the agent offers. */
export class McpClient<T extends Transport = Transport> implements AsyncDisposable {
  readonly sdk = new Client({ name: 'test client', version: '1.0.0' });
  readonly transport: T;

  private constructor(transport: T) {
    this.transport = transport;
  }

  static async over<T extends Transport>(transport: T): Promise<McpClient<T>> {
    const client = new McpClient(transport);
    await client.sdk.connect(transport);
    return client;
  }

  async call(name: string, args: object = {}, options?: RequestOptions): Promise<CallToolResult> {
    const result = await this.sdk.callTool({ name, arguments: { ...args } }, CallToolResultSchema, options);
    return CallToolResultSchema.parse(result);
  }

  /** The reply; rejects when the result is an error. */
  async chat(message: string, more: { sessionId?: string } = {}, options?: RequestOptions): Promise<string> {
    const result = await this.call('chat_with_agent', { message, ...more }, options);
    if (result.isError) throw new Error(textOf(result));
    return textOf(result);
  }

  /**
   * The reply, and the progress that was reported meanwhile. It is heard at the transport, because the client drops what
   * comes in the same read as the result.
   */
  async chatWithProgress(message: string): Promise<{ reply: string; progress: Progress[] }> {
    const progress: Progress[] = [];
    const { transport } = this;
    const { onmessage } = transport;
    transport.onmessage = (heard, extra) => {
      const report = ProgressNotificationSchema.safeParse(heard);
      if (report.success) progress.push(report.data.params);
      onmessage?.(heard, extra);
    };
    try {
      const reply = await this.chat(message, {}, { onprogress: () => undefined });
      return { reply, progress };
    } finally {
      transport.onmessage = onmessage;
    }
  }

  /** Goes away without a word. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.sdk.close();
  }
}

export type McpHttpClient = McpClient<ObservedTransport>;

export function mcpClient({ url }: { readonly url: string }): Promise<McpHttpClient> {
  return McpClient.over(new ObservedTransport(new URL(`${url}/mcp`)));
}

/** The SDK's transport, which also tells when the service has taken a message. */
class ObservedTransport extends StreamableHTTPClientTransport {
  readonly #taken: string[];
  readonly #news: EventEmitter;

  constructor(url: URL) {
    const taken: string[] = [];
    const news = new EventEmitter();
    super(url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method === 'POST') taken.push(Message.parse(JSON.parse(String(init.body))).method);
        news.emit('taken');
        return response;
      },
    });
    this.#taken = taken;
    this.#news = news;
  }

  /** Resolves when the service has begun to answer so many messages of this method. */
  async taken(method: string, count = 1): Promise<void> {
    while (this.#taken.filter((name) => name === method).length < count) await once(this.#news, 'taken');
  }
}

const Message = z.looseObject({ method: z.string() });

/** The one text that a result holds. */
export function textOf({ content }: CallToolResult): string {
  const [block, ...rest] = content;
  if (block?.type !== 'text' || rest.length > 0) throw new Error(`not one text: ${JSON.stringify(content)}`);
  return block.text;
}
