import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { shorten } from '../../core/shorten.ts';
import type { SchemaVerdict } from '../../ports/schema-check.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Throws if the schema cannot be used. */
export type Compile = (schema: JsonSchema) => ValidateFunction;

/** Not strict: tool servers use their own keywords and formats, and Ajv would reject what it does not know. */
const OPTIONS = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;

export async function loadCompiler(): Promise<Compile> {
  const [{ Ajv }, { Ajv2019 }, { Ajv2020 }] = await Promise.all([
    import('ajv'),
    import('ajv/dist/2019.js'),
    import('ajv/dist/2020.js'),
  ]);
  const draft07 = compilerOf((options) => new Ajv(options));
  const draft2019 = compilerOf((options) => new Ajv2019(options));
  const draft2020 = compilerOf((options) => new Ajv2020(options));
  return (schema) => {
    // Ajv finds schemas by `$id`, and with `$async`, a word of its own, a check answers with a promise that rejects.
    const { $schema, $id: _name, $async: _mode, ...rest } = schema;
    const declared = String($schema);
    if (/\/draft-0\d\//.test(declared)) return draft07(rest);
    if (declared.includes('/2019-09/')) return draft2019(rest);
    return firstOf([draft2020, draft07], rest);
  };
}

/** MCP's version is 2020-12. Many servers write tuples of an older one, without saying so. */
function firstOf([newest, older]: readonly [Compile, Compile], schema: JsonSchema): ValidateFunction {
  try {
    return newest(schema);
  } catch (error) {
    try {
      return older(schema);
    } catch {
      throw error;
    }
  }
}

/** The compiler for one version of JSON Schema. */
function compilerOf(create: (options: Options) => Pick<Ajv, 'compile' | 'validateSchema'>): Compile {
  let metaSchema: ReturnType<typeof create> | undefined;
  return (schema) => {
    metaSchema ??= create(OPTIONS);
    metaSchema.validateSchema(schema, true);
    // An Ajv keeps all that it has compiled, even after `removeSchema`, so each schema has its own.
    return create({ ...OPTIONS, validateSchema: false }).compile(schema);
  };
}

/** Most errors, and most values of an enum, that are told. */
const MAX_ERRORS = 5;
const MAX_VALUES = 20;
const MAX_CHARACTERS = 200;

/** What is wrong with a value. @param root what the value itself is called. */
export function verdictOn(errors: readonly ErrorObject[], root: string): SchemaVerdict {
  const issue = errors
    .slice(0, MAX_ERRORS)
    .map(({ instancePath, message, params }) => {
      const where = pathOf(instancePath).join('.') || root;
      return `${where} ${message ?? 'is not valid'}${more(params)}`;
    })
    .join('; ');
  const field = errors[0] && fieldOf(errors[0]);
  return { issue, ...(field && { field }) };
}

/** What the message of Ajv leaves out. */
function more(params: ErrorObject['params']): string {
  if ('additionalProperty' in params) return ` (${String(params.additionalProperty)})`;
  if ('allowedValue' in params) return `: ${shorten(JSON.stringify(params.allowedValue), MAX_CHARACTERS)}`;
  if (!Array.isArray(params.allowedValues)) return '';
  const all: readonly unknown[] = params.allowedValues;
  const told = all.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
  return `: ${shorten(told.join(', '), MAX_CHARACTERS)}${all.length > told.length ? ' and others' : ''}`;
}

function fieldOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params;
  const name: unknown = missingProperty ?? additionalProperty;
  return [...pathOf(instancePath), ...(typeof name === 'string' ? [name] : [])].join('.');
}

/** @param pointer a JSON pointer. */
function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
