import { scopeOf } from '../../ports/request-rules.ts';
import type { AsyncApiDocument } from './async-api.ts';
import type { OpenApiDocument } from './open-api.ts';
import type { OperationObject } from './open-api-operation.ts';
import type { Operation } from './operations/operation.ts';
import { clientMessages } from './stream-messages.ts';

const SCHEME = 'bearer';

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key, or a token of the identity provider. Browsers, which can send no header with a WebSocket, use a ticket of `POST /api/tickets` in the query.',
} as const;

/**
 * The same document with what each operation needs. For a service that authenticates its clients.
 * @param operations of the document.
 */
export function securedOpenApi(document: OpenApiDocument, operations: readonly Operation[]): OpenApiDocument {
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        secured(operation, accessOf(operation, operations)),
      ]),
    ),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, securitySchemes: { [SCHEME]: bearer } },
  };
}

/** The scope that a client needs to connect stands at the channel, and the one that it needs for a frame at the frame. */
export function securedAsyncApi(document: AsyncApiDocument): AsyncApiDocument {
  const { channels, components, servers } = document;
  const toConnect = scopeOf('session.events');
  const messages = Object.entries(components.messages).map(([key, message]) => {
    const scope = clientMessages.find(({ name }) => key === `client.${name}`)?.scope;
    return [key, scope === undefined ? message : { ...message, 'x-required-scope': scope }];
  });
  const security = [{ $ref: `#/components/securitySchemes/${SCHEME}` }];
  return {
    ...document,
    servers: Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, { ...server, security }]),
    ),
    channels: Object.fromEntries(
      Object.entries(channels).map(([name, channel]) => [
        name,
        { ...channel, 'x-required-scope': toConnect },
      ]),
    ),
    components: {
      ...components,
      messages: Object.fromEntries(messages),
      securitySchemes: { [SCHEME]: bearer },
    },
  };
}

function secured(operation: OperationObject, scope: Operation['scope']): OperationObject {
  if (scope === 'open') return { ...operation, security: [] };
  return { ...operation, security: [{ [SCHEME]: [scope ?? []].flat() }] };
}

function accessOf({ operationId }: OperationObject, operations: readonly Operation[]): Operation['scope'] {
  const declared = operations.find(({ id }) => id === operationId);
  if (!declared) throw new Error(`the operation ${operationId} is documented nowhere`);
  return declared.scope;
}
