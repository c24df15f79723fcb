import type { z } from 'zod';
import { isJsonObject } from '../../core/json-object.ts';
import { shorten } from '../../core/shorten.ts';
import { redactArg } from '../export/redact.ts';
import { spelledScalar } from '../reading/spelled-scalar.ts';
import { parseTemplate } from '../reading/template.ts';
import { closest } from './closest.ts';
import { describeRule, type Issue } from './describe-expected.ts';
import { type Path, toPath, valueAt } from './path.ts';
import { knownKeys } from './schema-keys.ts';
import { mayHoldSecret } from './secret-place.ts';

/** The validated data and its schema, to look up values and keys. */
export interface Validated {
  readonly schema: z.ZodType;
  readonly data: unknown;
  /** The text at a path as written in the file, if it contained variables. */
  writtenAt(path: Path): string | undefined;
}

export interface Explanation {
  readonly path: Path;
  readonly text: string;
}

/** Describes in words what was found and what is expected. Never shows a secret. */
export function explainIssue(issue: Issue, validated: Validated): Explanation[] {
  const path = toPath(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        text: explainUnknownKey(key, path, validated),
      }));
    case 'invalid_union': {
      const branch = issue.errors.find((issues) => issues.some((inner) => inner.path.length > 0));
      if (branch === undefined) break;
      return branch.flatMap((inner) => explainIssue({ ...inner, path: [...path, ...inner.path] }, validated));
    }
    case 'invalid_key':
      return [{ path, text: `the name is not allowed; it ${issue.issues[0]?.message ?? 'must be another'}` }];
    case 'custom':
      // Not about the value, but about the key.
      if (issue.params?.isWhole === true) return [{ path, text: issue.message }];
      break;
    default:
      break;
  }
  const found = describeFound(path, validated);
  return [{ path, text: `${found}; ${describeRule(issue)}${hint(issue, path, validated)}` }];
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the text names the references
const VS_CODE_INPUTS = 'write ${NAME} where VS Code has ${input:…}, and remove inputs';

function explainUnknownKey(key: string, path: Path, { schema, data }: Validated): string {
  if (path.length === 0 && key === 'inputs') return `unknown key; ${VS_CODE_INPUTS}`;
  const known = knownKeys(schema, data, path);
  const present = valueAt(data, path);
  const free = known.filter((candidate) => !isJsonObject(present) || !Object.hasOwn(present, candidate));
  const meant = closest(key, free);
  if (meant !== undefined) return `unknown key; did you mean "${meant}"?`;
  return known.length === 0 ? 'unknown key' : `unknown key; expected one of ${known.join(', ')}`;
}

function describeFound(path: Path, { data, writtenAt }: Validated): string {
  const value = valueAt(data, path);
  if (value === undefined) return 'missing';
  if (value === null) return 'found nothing';
  if (Array.isArray(value)) return 'found a list';
  if (typeof value === 'object') return 'found a map';
  if (value === '') return 'found an empty string';
  const written = writtenAt(path);
  if (mayHoldSecret(path)) return `found a ${typeof value}`;
  // The value of a variable may be a secret at any path.
  if (written !== undefined) return `found a ${typeof value} from ${quote(written)}`;
  return `found ${typeof value === 'string' ? quote(value) : value}`;
}

function quote(text: string): string {
  return JSON.stringify(shorten(redactArg(text), 60));
}

function hint(issue: Issue, path: Path, { data, writtenAt }: Validated): string {
  const value = valueAt(data, path);
  if (
    issue.code === 'invalid_type' &&
    issue.expected === 'string' &&
    ['number', 'boolean'].includes(typeof value)
  ) {
    return ' (put it in quotes)';
  }
  if (typeof value === 'string' && readsAsExpected(value, issue)) return unquoted(writtenAt(path));
  if (issue.code !== 'invalid_value' || typeof value !== 'string' || writtenAt(path) !== undefined) return '';
  const meant = closest(
    value,
    issue.values.filter((option) => typeof option === 'string'),
  );
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}

/** @param written the text in the file, if it has variables. Where other text is beside them, quotes are not what is wrong. */
function unquoted(written: string | undefined): string {
  if (written !== undefined && parseTemplate(written).length > 1) return '';
  // Within {…}, YAML takes the brace of the reference for that of a map.
  return written?.includes('{')
    ? ' (write it without quotes, on a line of its own)'
    : ' (write it without quotes)';
}

/** Whether the text spells the number or the boolean that is expected, so that only its quotes are wrong. */
function readsAsExpected(text: string, issue: Issue): boolean {
  if (issue.code === 'invalid_union')
    return issue.errors.some(([first]) => first !== undefined && readsAsExpected(text, first));
  const scalar = spelledScalar(text);
  if (issue.code === 'invalid_value')
    return scalar !== text && issue.values.some((value) => value === scalar);
  if (issue.code !== 'invalid_type') return false;
  if (issue.expected === 'int') return Number.isInteger(scalar);
  return typeof scalar === issue.expected;
}
