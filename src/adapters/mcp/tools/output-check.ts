import type {
  JsonSchemaValidator,
  jsonSchemaValidator as JsonSchemaValidatorProvider,
} from '@modelcontextprotocol/sdk/validation/types.js';
import { hasPattern, withoutAsync } from '../../../core/tool-call/schema-risk.ts';
import type { ToolResult } from '../../../core/tool-call/tool.ts';

type Schemas = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Checks results against the tools' output schemas. The SDK's own check knows only the last page of the tool list, and
 * rejects the whole list when it cannot compile one schema.
 */
export class OutputCheck {
  readonly #schemas: Schemas;
  readonly #onUnusable: (toolName: string, error: unknown) => void;
  /** Loaded with the first schema: most tools have none, and Ajv is an eighth of the code that a start would load. */
  #provider: Promise<JsonSchemaValidatorProvider> | null = null;
  readonly #validators = new Map<string, Promise<JsonSchemaValidator<unknown> | null>>();

  constructor(schemas: Schemas, onUnusable: (toolName: string, error: unknown) => void) {
    this.#schemas = schemas;
    this.#onUnusable = onUnusable;
  }

  /** What is wrong with the result; undefined when it matches, or when the tool has no usable schema. */
  async problem(toolName: string, result: ToolResult): Promise<string | undefined> {
    const validate = await this.#validatorOf(toolName);
    if (validate === null) return undefined;
    if (result.structuredContent === undefined)
      return 'the tool has an output schema, but gave no structured result';
    const { valid, errorMessage } = validate(result.structuredContent);
    return valid ? undefined : `the result does not match the output schema of the tool: ${errorMessage}`;
  }

  #validatorOf(toolName: string): Promise<JsonSchemaValidator<unknown> | null> {
    const known = this.#validators.get(toolName);
    if (known !== undefined) return known;
    const validator = this.#compile(toolName);
    this.#validators.set(toolName, validator);
    return validator;
  }

  async #compile(toolName: string): Promise<JsonSchemaValidator<unknown> | null> {
    const schema = this.#schemas.get(toolName);
    if (schema === undefined || hasPattern(schema)) return null;
    try {
      this.#provider ??= loadProvider();
      const provider = await this.#provider;
      return provider.getValidator(withoutAsync(schema));
    } catch (error) {
      this.#onUnusable(toolName, error);
      return null;
    }
  }
}

async function loadProvider(): Promise<JsonSchemaValidatorProvider> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/sdk/validation/ajv-provider.js');
  return new AjvJsonSchemaValidator();
}
