import type { z } from 'zod';
import { type Path, toPath, valueAt } from '../../config/problems/path.ts';
import { knownKeys } from '../../config/problems/schema-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { FIRST_FAULT } from './first-fault.ts';
import { parseJson } from './json-text.ts';
import { absentMeantBy, misspelt, refuseNearMiss } from './near-misses.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new ServiceError(
      'INVALID_REQUEST',
      'The text is not valid UTF-8.',
      { field: 'body', issue: 'invalid UTF-8', suggestion: 'Send the text in UTF-8.' },
      error,
    );
  }
}

/** What a client sends as JSON, as messages call it. */
const TEXTS = { body: 'The request body', frame: 'The frame' };

const SEND_OBJECT = 'Send a JSON object.';

/** @param field names the text in the details of errors. */
export function parseJsonObject(text: string, field: keyof typeof TEXTS): Record<string, unknown> {
  const what = TEXTS[field];
  let value: unknown;
  try {
    value = parseJson(text, field);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ServiceError(
      'INVALID_REQUEST',
      `${what} is not valid JSON.`,
      {
        field,
        issue: text.trim() === '' ? 'it is empty' : `it cannot be parsed: ${withoutExcerpt(error)}`,
        suggestion: SEND_OBJECT,
      },
      error,
    );
  }
  if (!isJsonObject(value)) {
    const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`;
    throw new ServiceError('INVALID_REQUEST', `${what} must be a JSON object.`, {
      field,
      issue: `it is ${found}`,
      suggestion: SEND_OBJECT,
    });
  }
  return value;
}

/** Parses a value. The first issue is thrown, as `MISSING_FIELD` or as `INVALID_REQUEST`. */
export function parseFields<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const data = parseForeign(schema, value);
  refuseNearMiss(schema, value);
  return data;
}

/**
 * The same for a value to which others add fields of their own, with any name.
 * @param at where the value is in the request; empty if it is the request.
 */
export function parseForeign<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: readonly PropertyKey[] = [],
): z.output<S> {
  const parsed = schema.safeParse(value, FIRST_FAULT);
  if (parsed.success) return parsed.data;
  throw fieldError(parsed.error, value, { schema, at });
}

/** The same for a value that stands in the request in another form. @param fieldOf names the field that has a part of it. */
export function parseWritten<S extends z.ZodType>(
  schema: S,
  value: unknown,
  fieldOf: (path: string) => string,
): z.output<S> {
  const parsed = schema.safeParse(value, FIRST_FAULT);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
  throw invalidField(fieldOf(path.join('.')), message);
}

function fieldError(
  error: z.ZodError,
  value: unknown,
  { schema, at }: { readonly schema: z.ZodType; readonly at: readonly PropertyKey[] },
): ServiceError {
  const issue = innermost(error.issues[0]);
  if (!issue) return new ServiceError('INVALID_REQUEST', 'The request is not valid.', {}, error);
  const path = toPath(issue.path);
  const placed = (place: Path): string => [...at, ...place].join('.');
  const field = placed(path);
  if (issue.code === 'unrecognized_keys')
    return unknownField(issue.keys, error, { schema, value, path, placed });
  if (path.length > 0 && valueAt(value, path) === undefined) {
    const found = misspelt(schema, value, path);
    // A rule of ours, such as that the field is needed beside another one.
    const rule = issue.code === 'custom' ? issue.message : undefined;
    const why = rule === undefined ? '' : `: it ${rule}`;
    return new ServiceError('MISSING_FIELD', `The field ${field} is required${why}.`, {
      field,
      ...(rule !== undefined && { issue: rule }),
      suggestion: found ? `Write ${field} instead of ${placed(found)}.` : `Add ${field} to the request.`,
    });
  }
  return invalidField(field, issue.message);
}

function invalidField(field: string, issue: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The field ${field || 'body'} is not valid: ${issue}.`, {
    field,
    issue,
  });
}

/** Of a value that is no text, no list, or no object, or none of some words. */
const OTHER_KIND: ReadonlySet<z.core.$ZodIssue['code']> = new Set(['invalid_type', 'invalid_value'] as const);

/** An option of a union that says with this field what it is does not mean the value if it complains about it. */
const TAG = 'type';

/**
 * What is wrong inside of a list or an object that may be something else too, such as a text. The union itself says only what
 * the value may be.
 */
function innermost(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union') return issue;
  const ofKind = issue.errors.filter((issues) => !issues.some(isOfOtherKind));
  const [[inner] = []] = ofKind;
  if (ofKind.length !== 1 || !inner || inner.path.length === 0) return issue;
  return innermost({ ...inner, path: [...issue.path, ...inner.path] });
}

function isOfOtherKind({ code, path }: z.core.$ZodIssue): boolean {
  if (path.length === 0) return OTHER_KIND.has(code);
  return path.length === 1 && path[0] === TAG && (code === 'invalid_value' || code === 'custom');
}

interface UnknownPlace {
  readonly schema: z.ZodType;
  readonly value: unknown;
  readonly path: Path;
  readonly placed: (place: Path) => string;
}

/** Of a field where every field must be known. */
function unknownField(
  keys: readonly string[],
  cause: z.ZodError,
  { schema, value, path, placed }: UnknownPlace,
): ServiceError {
  const [key = ''] = keys;
  const known = knownKeys(schema, value, path);
  const meant = absentMeantBy(key, known, valueAt(value, path));
  const field = placed([...path, key]);
  const suggestion =
    meant === undefined
      ? `Remove ${field}. The known fields are ${known.join(', ')}.`
      : `Write ${placed([...path, meant])} instead of ${field}.`;
  const details = { field, issue: 'the field is unknown', suggestion };
  return new ServiceError('INVALID_REQUEST', `The field ${field} is unknown.`, details, cause);
}

/** V8 may quote what stands around the fault, which may be a part of a token. */
function withoutExcerpt({ message }: SyntaxError): string {
  return message.replace(/, (?:\.\.\.)?".*$/s, '');
}
