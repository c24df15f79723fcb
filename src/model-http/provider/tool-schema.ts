import type { ModelTool } from '../../core/conversation/model-message.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { beginningOf } from '../../core/shorten.ts';
import { acceptedSchema, type SchemaRules } from './accepted-schema.ts';
import { corrected } from './corrected-schema.ts';
import { mapSchemas, oncePerSchema, type Schema } from './nested-schemas.ts';
import { resolved } from './references.ts';

/** OpenAI refuses a request with a longer description. */
const MAX_DESCRIPTION_CHARACTERS = 1_024;

/** Keywords that providers refuse at the top of a schema, or that are of no use to a model. */
const DROPPED = [
  '$schema',
  '$id',
  '$comment',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'enum',
  'if',
  'then',
  'else',
];

/**
 * Makes a tool acceptable to every provider: its schema becomes an object with `properties`, without alternatives at the
 * top, and each schema in it is one of JSON Schema 2020-12. No check is lost, because the arguments are validated against
 * the tool's own schema before the call.
 */
export function acceptableTool({ name, description, inputSchema }: ModelTool, rules: SchemaRules): ModelTool {
  return {
    name,
    description: shortened(description),
    inputSchema: acceptedSchema(acceptableSchema(inputSchema), rules),
  };
}

const acceptableSchema = oncePerSchema((schema) => mapSchemas(objectSchema(schema), corrected));

function shortened(text: string): string {
  if (text.length <= MAX_DESCRIPTION_CHARACTERS) return text;
  return `${beginningOf(text, MAX_DESCRIPTION_CHARACTERS - 1).trimEnd()}…`;
}

function objectSchema(schema: Schema): Schema {
  const whole = resolved(schema, schema);
  const { properties, required } = fieldsOf(whole, schema);
  const kept = Object.entries(whole).filter(([key]) => !DROPPED.includes(key) && key !== '$ref');
  const { required: _, ...others } = Object.fromEntries(kept);
  const known = required.filter((name) => Object.hasOwn(properties, name));
  return {
    ...others,
    type: 'object',
    properties,
    ...(known.length > 0 && { required: known }),
  };
}

interface Fields {
  readonly properties: Schema;
  readonly required: readonly string[];
}

const NO_FIELDS: Fields = { properties: {}, required: [] };

/**
 * The properties of a schema and its alternatives. Required are those of the schema, `allOf` and every alternative.
 *
 * @param known those of the parts that were looked at before. Each part is looked at once, because references can make few
 * lines a schema of any size. A part within itself adds nothing.
 */
function fieldsOf(schema: Schema, root: Schema, known = new Map<Schema, Fields>()): Fields {
  const ofPart = (part: Schema): Fields => {
    const before = known.get(part);
    if (before) return before;
    known.set(part, NO_FIELDS);
    const fields = fieldsOf(resolved(part, root), root, known);
    known.set(part, fields);
    return fields;
  };
  const partsOf = (key: string): Fields[] => schemasIn(schema[key]).map(ofPart);
  const all = partsOf('allOf');
  const alternatives = [partsOf('anyOf'), partsOf('oneOf')];
  const properties: Record<string, unknown> = {};
  for (const part of [...alternatives.flat(), ...all]) Object.assign(properties, part.properties);
  const own = isJsonObject(schema.properties) ? schema.properties : {};
  const required = [
    ...namesIn(schema.required),
    ...all.flatMap((part) => part.required),
    ...alternatives.flatMap(requiredInEach),
  ];
  return { properties: Object.assign(properties, own), required: [...new Set(required)] };
}

function requiredInEach(alternatives: readonly Fields[]): string[] {
  const [first, ...others] = alternatives;
  return first?.required.filter((name) => others.every(({ required }) => required.includes(name))) ?? [];
}

function schemasIn(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
