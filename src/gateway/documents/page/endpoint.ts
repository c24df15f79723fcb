import type { OpenApiDocument } from '../open-api.ts';
import type { OperationObject } from '../open-api-operation.ts';
import { nameIn } from './schema-fields.ts';

/** An operation with its method and path. */
export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** Every operation of the document, in its order. */
export function endpointsOf({ paths }: OpenApiDocument): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Names of the schemas of the request and of the answer with status 200. */
export function bodiesOf({ operation: { requestBody, responses } }: Endpoint): string[] {
  return [requestBody, responses['200']]
    .flatMap((part) => Object.values(part?.content ?? {}))
    .flatMap(({ schema }) => (schema.$ref === undefined ? [] : [nameIn(schema.$ref)]));
}
