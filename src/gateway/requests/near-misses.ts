import type { z } from 'zod';
import { closest } from '../../config/problems/closest.ts';
import { type Path, valueAt } from '../../config/problems/path.ts';
import { knownKeys } from '../../config/problems/schema-keys.ts';
import { ServiceError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';

/** Fields that every request may have, besides those of its schema. */
const COMMON = ['agent', 'ticket'];
/**
 * By how many characters a name of so many may differ from the one that was meant. Short ones resemble too many others by
 * chance, such as `t`, with which pages keep caches off, or `type`, which is no `time`.
 */
const SHORT_TOLERANCES = [0, 0, 0, 1, 1];
/** The same where a field is missing, so that something is wrong in any case. */
const TOLERANCES_IF_MISSING = [0, 0, 0, 1];
/** Of what is no slip of the pen there may be much, and each name is compared with all that are known. */
const MAX_CHARACTERS = 60;
const MAX_COMPARED = 20;
const MAX_ITEMS = 1_000;

/** A field that is unknown, and the one that was probably meant. */
interface NearMiss {
  readonly field: string;
  readonly meant: string;
}

/**
 * Throws `INVALID_REQUEST` for an unknown field that was probably meant to be a known one, which is absent: ignored, it
 * would do something else than its client wants. Other unknown fields are ignored.
 */
export function refuseNearMiss(schema: z.ZodType, value: unknown): void {
  const miss = nearMiss(schema, value);
  if (!miss) return;
  throw new ServiceError('INVALID_REQUEST', describeMiss(miss), {
    field: miss.field,
    issue: 'the field is unknown',
    suggestion: `Write ${miss.meant} instead.`,
  });
}

/** Objects and lists in the value are looked through, too, as far as the schema lists their fields. */
function nearMiss(schema: z.ZodType, value: unknown, path: Path = []): NearMiss | undefined {
  const inner = valueAt(value, path);
  if (Array.isArray(inner)) return missInList(inner, schema, value, path);
  if (!isJsonObject(inner)) return undefined;
  const known = knownKeys(schema, value, path);
  const place = (name: string): string => [...path, name].join('.');
  const unknown = unknownFields(inner, known);
  for (const field of unknown) {
    const meant = absentMeantBy(field, known, inner);
    if (meant !== undefined) return { field: place(field), meant: place(meant) };
  }
  for (const name of known) {
    const isLookedInto = typeof inner[name] === 'object' && inner[name] !== null;
    const miss = isLookedInto ? nearMiss(schema, value, [...path, name]) : undefined;
    if (miss) return miss;
  }
  return undefined;
}

function missInList(
  items: readonly unknown[],
  schema: z.ZodType,
  value: unknown,
  path: Path,
): NearMiss | undefined {
  for (const [index, item] of items.slice(0, MAX_ITEMS).entries()) {
    const miss = isJsonObject(item) ? nearMiss(schema, value, [...path, index]) : undefined;
    if (miss) return miss;
  }
  return undefined;
}

/** The known field that the object lacks, and that was probably meant; undefined if none resembles the unknown one. */
export function absentMeantBy(field: string, known: readonly string[], around: unknown): string | undefined {
  const absent = known.filter((name) => !isJsonObject(around) || !Object.hasOwn(around, name));
  return meantBy(field, absent);
}

/** The known field that was probably meant; undefined if none resembles the unknown one. */
function meantBy(
  field: string,
  known: readonly string[],
  tolerances: readonly number[] = SHORT_TOLERANCES,
): string | undefined {
  return field.length > MAX_CHARACTERS ? undefined : closest(field, known, tolerances[field.length]);
}

function describeMiss({ field, meant }: NearMiss): string {
  return `The field ${field} is unknown; did you mean ${meant}?`;
}

/** Where the field stands that was probably meant to be the one at this path, which is missing. */
export function misspelt(schema: z.ZodType, value: unknown, missing: Path): Path | undefined {
  const place = missing.slice(0, -1);
  const name = missing.at(-1);
  const around = valueAt(value, place);
  if (!isJsonObject(around) || typeof name !== 'string') return undefined;
  const unknown = unknownFields(around, knownKeys(schema, value, place));
  const found = unknown.find((field) => meantBy(field, [name], TOLERANCES_IF_MISSING) !== undefined);
  return found === undefined ? undefined : [...place, found];
}

function unknownFields(value: object, known: readonly string[]): string[] {
  const found: string[] = [];
  for (const field of Object.keys(value)) {
    if (found.length === MAX_COMPARED) break;
    if (field.length <= MAX_CHARACTERS && !known.includes(field) && !COMMON.includes(field))
      found.push(field);
  }
  return found;
}
