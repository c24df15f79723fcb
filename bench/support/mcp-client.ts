import { type HttpAnswer, HttpConnection } from './http-connection.ts';
import { localUrl } from './http-load.ts';

/** A minimal client of `/mcp` with its own MCP session, for one call at a time. */
export class McpClient {
  readonly #connection: HttpConnection;
  #headers: Readonly<Record<string, string>> = { Accept: 'application/json, text/event-stream' };
  #id = 0;

  private constructor(connection: HttpConnection) {
    this.#connection = connection;
  }

  static async open(port: number): Promise<McpClient> {
    const client = new McpClient(new HttpConnection(localUrl(port)));
    const clientInfo = { name: 'bench', version: '1.0.0' };
    const { head } = await client.#post('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo,
      // For `floor`, which answers every method as a tool call.
      arguments: { message: 'initialize' },
    });
    const session = /\r\nmcp-session-id: *([^\r]+)/i.exec(head)?.[1];
    if (session !== undefined)
      client.#headers = {
        ...client.#headers,
        'Mcp-Session-Id': session,
        'MCP-Protocol-Version': '2025-06-18',
      };
    return client;
  }

  async call(): Promise<void> {
    const { status, body } = await this.#post('tools/call', {
      name: 'chat_with_agent',
      arguments: { message: 'hello' },
    });
    if (status !== 200 || !body.includes('you said hello'))
      throw new Error(`a call was answered with ${body}`);
  }

  close(): void {
    this.#connection.close();
  }

  #post(method: string, params: unknown): Promise<HttpAnswer> {
    this.#id += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params });
    return this.#connection.request({ path: '/mcp', headers: this.#headers, body });
  }
}
