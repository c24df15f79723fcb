import { createHash } from 'node:crypto';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import type { Route } from '../http/router.ts';
import type { DocumentPath, ServedDocument, ServedDocuments } from './served-documents.ts';

const paths: readonly DocumentPath[] = ['/openapi.json', '/asyncapi.json', '/docs', '/docs.css'];

/** Allows only the stylesheet of this service: no script, no frame, no other host. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface DocumentAccess {
  /** Whether the service authenticates its clients. */
  readonly isSecured: boolean;
  /** Whether it has API keys. */
  readonly hasKeys?: boolean;
  /** Whether the documents are for everybody all the same. */
  readonly isPublic?: boolean;
}

/**
 * Serves the documents of the interface. Loads them with the first request, because most instances never need
 * them.
 */
export function documentRoutes(version: string, access: DocumentAccess): Route[] {
  let documents: Promise<ServedDocuments> | undefined;
  const load = (): Promise<ServedDocuments> => {
    documents ??= import('./served-documents.ts').then(({ makeDocuments }) => makeDocuments(version, access));
    return documents;
  };
  return paths.map((path) => ({
    method: 'GET',
    path,
    access: access.isPublic ? 'open' : null,
    handler: async (request) => {
      const served = (await load())[path];
      return documentResponse(served(request.headers.get('host') ?? 'localhost'), request);
    },
  }));
}

function documentResponse({ contentType, body }: ServedDocument, { headers }: HttpRequest): HttpResponse {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const common = {
    ETag: etag,
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
  };
  const known = headers.get('if-none-match')?.split(',') ?? [];
  if (known.some((one) => one.trim().replace(/^W\//, '') === etag))
    return { status: 304, headers: common, body: null };
  return { status: 200, headers: { ...common, 'Content-Type': contentType }, body };
}
