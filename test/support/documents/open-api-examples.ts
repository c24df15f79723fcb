import { z } from 'zod';

const Example = z.union([
  z.strictObject({ $ref: z.string() }),
  z.strictObject({ summary: z.string().optional(), value: z.unknown() }),
]);
const Examples = z.record(z.string(), Example).default({});
const Content = z.record(z.string(), z.looseObject({ schema: z.unknown(), examples: Examples }));

const Operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(
    z.looseObject({
      name: z.string(),
      in: z.enum(['path', 'query', 'header']),
      schema: z.unknown(),
      examples: Examples,
    }),
  ),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ headers: z.record(z.string(), z.unknown()), content: Content }),
  ),
});

/** As much of an OpenAPI document as its examples need. */
export const OpenApi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()), examples: Examples }),
});
export type OpenApi = z.infer<typeof OpenApi>;
type Operation = z.infer<typeof Operation>;

export interface DocumentedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A request as the document shows it, and the answer that it promises. */
export interface ReplayableExample {
  /** Such as `forkSession.taken`. */
  readonly id: string;
  readonly request: DocumentedRequest;
  readonly status: number;
  readonly mediaType: string;
  readonly headers: readonly string[];
  /** Pointer to the schema of the answer, inside the document. */
  readonly schemaPointer: string;
  readonly answer: unknown;
}

/** The examples of a document that name a request: all but those that several operations share. */
export function replayableExamples({ paths }: OpenApi): ReplayableExample[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => examplesOf(operation, method, path)),
  );
}

function examplesOf(operation: Operation, method: string, path: string): ReplayableExample[] {
  return Object.entries(operation.responses).flatMap(([status, { headers, content }]) =>
    Object.entries(content).flatMap(([mediaType, { examples }]) =>
      Object.entries(examples).flatMap(([name, example]) => {
        if ('$ref' in example) return [];
        const pointer = ['paths', path, method, 'responses', status, 'content', mediaType, 'schema'];
        return [
          {
            id: `${operation.operationId}.${name}`,
            request: requestOf(operation, name, { method, path, mediaType }),
            status: Number(status),
            mediaType,
            headers: Object.keys(headers),
            schemaPointer: `#/${pointer.map(escaped).join('/')}`,
            answer: example.value,
          },
        ];
      }),
    ),
  );
}

function requestOf(
  { parameters, requestBody }: Operation,
  name: string,
  { method, path, mediaType }: { method: string; path: string; mediaType: string },
): DocumentedRequest {
  const url = new URL(path, 'http://localhost');
  url.pathname = path;
  const headers: Record<string, string> = { Accept: mediaType };
  let filled = path;
  for (const parameter of parameters) {
    const value = exampleValue(parameter.examples[name]);
    if (value === undefined) continue;
    if (parameter.in === 'path')
      filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
    else if (parameter.in === 'query') url.searchParams.set(parameter.name, String(value));
    else headers[parameter.name] = String(value);
  }
  const body = exampleValue(requestBody?.content['application/json']?.examples[name]);
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return { method: method.toUpperCase(), path: filled + url.search, headers, body };
}

export function exampleValue(example: z.infer<typeof Example> | undefined): unknown {
  return example && 'value' in example ? example.value : undefined;
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
