import { readFile } from 'node:fs/promises';
import { asyncApiDocument } from './async-api.ts';
import { openApiDocument } from './open-api.ts';
import { extendedCardOperation } from './operations/a2a-operations.ts';
import { auditOperation } from './operations/audit-operation.ts';
import { grantOperations } from './operations/grant-operations.ts';
import { keyOperations } from './operations/key-operations.ts';
import { operations } from './operations/operations.ts';
import { signInOperation } from './operations/sign-in-operation.ts';
import { ticketOperations } from './operations/ticket-operations.ts';
import { whoamiOperation } from './operations/whoami-operation.ts';
import { docsPage } from './page/page.ts';
import { securedAsyncApi, securedOpenApi } from './security-schemes.ts';

export interface ServedDocument {
  readonly contentType: string;
  readonly body: string;
}

/** The document at each path. Its parameter is the host under which the client reaches the service. */
export type ServedDocuments = Readonly<Record<DocumentPath, (host: string) => ServedDocument>>;

export type DocumentPath = '/openapi.json' | '/asyncapi.json' | '/docs' | '/docs.css';

/** What a service has besides what every service has. */
export interface DocumentedParts {
  /** Whether it authenticates its clients. */
  readonly isSecured: boolean;
  /** Whether it has API keys. */
  readonly hasKeys?: boolean;
}

/** Builds all documents. They never change, so build them once. */
export async function makeDocuments(
  version: string,
  { isSecured, hasKeys = false }: DocumentedParts,
): Promise<ServedDocuments> {
  const served = [
    ...operations,
    ...(isSecured
      ? [
          ...[signInOperation, ...ticketOperations, whoamiOperation, auditOperation],
          ...[...grantOperations, extendedCardOperation],
        ]
      : []),
    ...(hasKeys ? keyOperations : []),
  ];
  const plain = openApiDocument(version, served);
  const openApi = isSecured ? securedOpenApi(plain, served) : plain;
  const asyncApi = isSecured ? securedAsyncApi(asyncApiDocument(version)) : asyncApiDocument(version);
  const openApiJson = { contentType: 'application/json', body: JSON.stringify(openApi) };
  const asyncApiJson = { contentType: 'application/json', body: JSON.stringify(asyncApi) };
  const page = docsPage({ openApi, asyncApi });
  const css = {
    contentType: 'text/css; charset=utf-8',
    body: await readFile(new URL('docs.css', import.meta.url), 'utf8'),
  };
  return {
    '/openapi.json': () => openApiJson,
    '/asyncapi.json': () => asyncApiJson,
    '/docs': (host) => ({ contentType: 'text/html; charset=utf-8', body: page(host) }),
    '/docs.css': () => css,
  };
}
