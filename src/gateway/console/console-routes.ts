import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import type { Route } from '../http/router.ts';

/** A file of the page as it was built. */
export interface ConsoleFile {
  /** Below the address of the service, such as `/assets/index-a1b2.js`; the page itself is `/index.html`. */
  readonly path: string;
  /** Reads it, or its compressed twin; null when there is no such twin. */
  read(encoding: ContentEncoding): Promise<Uint8Array | null>;
}

export type ContentEncoding = 'br' | 'gzip' | 'identity';

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Nothing from anywhere else, and nothing inline: what a model or a tool says can bring no script along. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const securityHeaders = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
};

/**
 * The console: the page at `/` for browsers, its files under their hashed names, which never change.
 * @param index what `/` answers to others, and to everybody when the page was not built.
 */
export function consoleRoutes(files: readonly ConsoleFile[], index: Route): Route[] {
  const page = files.find(({ path }) => path === '/index.html');
  if (!page) return [index];
  const assets = files.filter((file) => file !== page);
  return [
    {
      ...index,
      handler: (request, at) =>
        wantsPage(request) ? serve(page, 'no-cache', request) : index.handler(request, at),
    },
    ...assets.map(
      (file): Route => ({
        method: 'GET',
        path: file.path,
        handler: (request) => serve(file, 'public, max-age=31536000, immutable', request),
      }),
    ),
  ];
}

function wantsPage({ headers }: HttpRequest): boolean {
  return headers.get('accept')?.includes('text/html') ?? false;
}

async function serve(file: ConsoleFile, caching: string, request: HttpRequest): Promise<HttpResponse> {
  const { encoding, body } = await bestOf(file, request.headers.get('accept-encoding') ?? '');
  const extension = file.path.slice(file.path.lastIndexOf('.') + 1);
  return {
    status: 200,
    headers: {
      'Content-Type': types[extension] ?? 'application/octet-stream',
      'Cache-Control': caching,
      Vary: 'Accept-Encoding, Accept',
      ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
      ...securityHeaders,
    },
    body,
  };
}

async function bestOf(
  file: ConsoleFile,
  accepted: string,
): Promise<{ encoding: ContentEncoding; body: Uint8Array }> {
  const names = accepted.split(',').map((part) => part.split(';')[0]?.trim());
  for (const encoding of ['br', 'gzip'] as const) {
    const body = names.includes(encoding) ? await file.read(encoding) : null;
    if (body) return { encoding, body };
  }
  const body = await file.read('identity');
  if (!body) throw new Error(`the file of the console ${file.path} is gone`);
  return { encoding: 'identity', body };
}
