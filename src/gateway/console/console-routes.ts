import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { acceptedEncodings, acceptsByName } from '../http/content-negotiation.ts';
import type { Route } from '../http/router.ts';

/** A built file of the console. */
export interface ConsoleFile {
  /** Path in the URL, such as `/assets/index-a1b2.js`. The page itself is `/index.html`. */
  readonly path: string;
  /** Reads the file in this encoding; null if it was not built in this encoding. */
  read(encoding: ContentEncoding): Promise<Uint8Array | null>;
}

export type ContentEncoding = 'br' | 'gzip' | 'identity';

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export interface ConsoleParts {
  readonly files: readonly ConsoleFile[];
  /** Answers `/` for other clients than browsers, and for all clients if the console was not built. */
  readonly index: Route;
  /** Origins of an identity provider through which people sign in. */
  readonly providerOrigins?: readonly string[] | undefined;
}

/** Allows only files of this service and nothing inline, so that texts of models and tools cannot run scripts. */
function policy(providerOrigins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", ...providerOrigins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The page at `/` for browsers, and its files. Their names contain a hash, so they never change. */
export function consoleRoutes({ files, index, providerOrigins = [] }: ConsoleParts): Route[] {
  const page = files.find(({ path }) => path === '/index.html');
  if (!page) return [index];
  const assets = files.filter((file) => file !== page);
  const headers = {
    'Content-Security-Policy': policy(providerOrigins),
    'Referrer-Policy': 'no-referrer',
  };
  return [
    {
      ...index,
      handler: async (request, at) =>
        (await acceptsByName(request, 'text/html'))
          ? serve(page, request, { ...headers, 'Cache-Control': 'no-cache' })
          : index.handler(request, at),
    },
    ...assets.map(
      (file): Route => ({
        method: 'GET',
        path: file.path,
        access: 'open',
        handler: (request) =>
          serve(file, request, { ...headers, 'Cache-Control': 'public, max-age=31536000, immutable' }),
      }),
    ),
  ];
}

async function serve(
  file: ConsoleFile,
  request: HttpRequest,
  headers: Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const { encoding, body } = await bestOf(file, request);
  const extension = file.path.slice(file.path.lastIndexOf('.') + 1);
  return {
    status: 200,
    headers: {
      'Content-Type': mediaTypes[extension] ?? 'application/octet-stream',
      Vary: 'Accept-Encoding, Accept',
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      ...headers,
    },
    body,
  };
}

async function bestOf(
  file: ConsoleFile,
  request: HttpRequest,
): Promise<{ encoding: ContentEncoding; body: Uint8Array }> {
  for (const encoding of await acceptedEncodings(request, ['br', 'gzip'])) {
    const body = await file.read(encoding);
    if (body) return { encoding, body };
  }
  const body = await file.read('identity');
  if (!body) throw new Error(`the console file ${file.path} is missing`);
  return { encoding: 'identity', body };
}
