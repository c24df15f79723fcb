import type { z } from 'zod';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import { percentDecoded } from '../failure/percent-decoded.ts';

export interface HttpEndpoint {
  /** Without user and password: `fetch` refuses them, and they must not show in an error. */
  readonly url: URL;
  readonly headers: Record<string, string>;
}

/** Turns the credentials of a URL into the header that says the same. A configured header wins. */
export function httpEndpoint(config: z.infer<typeof HttpServerConfig>): HttpEndpoint {
  const url = new URL(config.baseUrl);
  const headers = { ...config.headers };
  const authorized = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (!authorized && (url.username !== '' || url.password !== '')) {
    const credentials = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  url.username = '';
  url.password = '';
  return { url, headers };
}
