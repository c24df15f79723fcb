import { isJsonObject } from '../../core/json-object.ts';
import { DEEPEST, mapInner, type Schema } from './nested-schemas.ts';

/** Follows a reference within the same schema. Other references stay as they are. */
export function resolved(schema: Schema, root: Schema, depth = 0): Schema {
  const { $ref, ...beside } = schema;
  const target = depth > 8 ? undefined : targetOf($ref, root);
  return target ? { ...resolved(target, root, depth + 1), ...beside } : schema;
}

/** Far more than a model could fill in. Without a bound, references can make few lines a schema of any size. */
const MOST_REFERENCES = 256;

/**
 * The schema with the targets in place of its references. A schema within itself is any object, and so is what exceeds
 * the bound.
 */
export function withoutReferences(root: Schema): Schema {
  let followed = 0;
  const without = (schema: Schema, open: readonly unknown[], depth: number): Schema => {
    const { $ref, $defs, definitions, ...shown } = schema;
    if (depth === DEEPEST) return shown;
    const target = targetOf($ref, root);
    if (!target) return mapInner(shown, (inner) => without(inner, open, depth + 1));
    followed += 1;
    if (open.includes($ref) || followed > MOST_REFERENCES) return { ...shown, type: 'object' };
    return without({ ...target, ...shown }, [...open, $ref], depth + 1);
  };
  return without(root, [], 0);
}

function targetOf($ref: unknown, root: Schema): Schema | undefined {
  if (typeof $ref !== 'string' || !/^#(\/|$)/.test($ref)) return undefined;
  const target = $ref
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => fieldOf(value, step), root);
  return isJsonObject(target) ? target : undefined;
}

function fieldOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return value[Number(step)];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
