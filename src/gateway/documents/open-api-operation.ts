import { z } from 'zod';
import type { ErrorBody, ErrorCode } from '../../core/errors.ts';
import { errorCatalogue } from '../../wire/error-catalogue.ts';
import { ErrorResponse } from '../../wire/responses.ts';
import { type JsonSchema, type NamedSchemas, parameterSchema } from './json-schema.ts';
import { errorsOf, isLimited } from './operations/error-examples.ts';
import { EXAMPLE_TIME, JSON_TYPE, type Operation, type OperationExample } from './operations/operation.ts';

export type ExampleObject =
  | { readonly summary?: string; readonly value: unknown }
  | { readonly $ref: string };
type Examples = Readonly<Record<string, ExampleObject>>;

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly examples?: Examples;
}

export interface MediaTypeObject {
  readonly schema: JsonSchema;
  readonly examples?: Examples;
}

type Content = Readonly<Record<string, MediaTypeObject>>;

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: Content;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly ParameterObject[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Absent where clients are not authenticated. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export function operationObject(operation: Operation, schemas: NamedSchemas): OperationObject {
  const { id, tag, summary, description, body, examples } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...parametersIn('path', operation.pathParameters, examples),
      ...parametersIn('query', operation.query, examples),
      ...parametersIn('header', operation.headers, examples),
    ],
    ...(body && {
      requestBody: {
        required: body.required,
        content: {
          [JSON_TYPE]: {
            schema: schemas.of(body.schema),
            examples: examplesBy(examples, (example) => example.body),
          },
        },
      },
    }),
    responses: { 200: success(operation, schemas), ...failures(operation, schemas) },
  };
}

function parametersIn(
  place: ParameterObject['in'],
  parameters: z.ZodObject | undefined,
  examples: readonly OperationExample[],
): ParameterObject[] {
  return Object.entries(parameterSchema(parameters ?? z.object({})).properties ?? {}).flatMap(
    ([name, schema]) => {
      if (typeof schema === 'boolean') return [];
      const { description, ...rest } = schema;
      const values = examplesBy(examples, (example) => example.parameters?.[name]);
      return [
        {
          name,
          in: place,
          required: place === 'path',
          ...(description !== undefined && { description }),
          schema: rest,
          ...(Object.keys(values).length > 0 && { examples: values }),
        },
      ];
    },
  );
}

function success({ path, answers, examples }: Operation, schemas: NamedSchemas): ResponseObject {
  const content = Object.entries(answers).map(([mediaType, schema]) => {
    const values = examplesBy(examples, ({ answer }) =>
      'status' in answer && (answer.mediaType ?? JSON_TYPE) === mediaType ? answer.body : undefined,
    );
    return [mediaType, { schema: schemas.of(schema), examples: values }];
  });
  return { description: 'Done.', headers: headersOf(path), content: Object.fromEntries(content) };
}

/** One response for each status, with all errors of that status. */
function failures(operation: Operation, schemas: NamedSchemas): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(errorsOf(operation), (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const retried = status === 429 || status === 503;
      const response: ResponseObject = {
        description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].condition}`).join(' '),
        headers: headersOf(operation.path, ...(retried ? ['Retry-After'] : [])),
        content: {
          [operation.errorFormat?.mediaType ?? JSON_TYPE]: {
            schema: errorSchema(operation, codes, schemas),
            examples: Object.assign({}, ...codes.map((code) => errorExamplesOf(code, operation))),
          },
        },
      };
      return [status, response];
    }),
  );
}

function errorSchema(
  { errorFormat }: Operation,
  codes: readonly ErrorCode[],
  schemas: NamedSchemas,
): JsonSchema {
  if (errorFormat) return schemas.of(errorFormat.schema);
  const code: JsonSchema = { enum: [...codes] };
  const error: JsonSchema = { type: 'object', properties: { code } };
  return { allOf: [schemas.of(ErrorResponse), { type: 'object', properties: { error } }] };
}

/** The operation's own examples of an error, or the shared example. */
function errorExamplesOf(code: ErrorCode, { examples, errorFormat }: Operation): Examples {
  const example = (error: ErrorBody) =>
    errorFormat ? { value: errorFormat.body(error) } : errorExample(error);
  const own = Object.fromEntries(
    examples.flatMap(({ name, summary, answer }) => {
      if (!('error' in answer) || answer.error !== code) return [];
      const { message, details } = answer;
      return [[name, { summary, ...example({ code, message, details }) }]];
    }),
  );
  if (Object.keys(own).length > 0 || errorFormat) return own;
  return { [code]: { $ref: `#/components/examples/${code}` } };
}

export function errorExample({ code, message, details }: ErrorBody): ExampleObject {
  return { value: { success: false, error: { code, message, details }, timestamp: EXAMPLE_TIME } };
}

function headersOf(path: string, ...more: string[]): ResponseObject['headers'] {
  const limits = isLimited(path) ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] : [];
  return Object.fromEntries(
    [...limits, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Collects one part of each example that has it, by the name of the example. */
function examplesBy(
  examples: readonly OperationExample[],
  part: (example: OperationExample) => unknown,
): Examples {
  return Object.fromEntries(
    examples.flatMap((example) => {
      const value = part(example);
      return value === undefined ? [] : [[example.name, { summary: example.summary, value }]];
    }),
  );
}
