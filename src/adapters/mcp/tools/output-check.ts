import type {
  JsonSchemaValidator,
  jsonSchemaValidator as JsonSchemaValidatorProvider,
} from '@modelcontextprotocol/sdk/validation/types.js';
import type { ToolResult } from '../../../core/tool-call/tool.ts';

type Schemas = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Holds results against the schemas the tools promised. The SDK's own check forgets all pages but the
 * last, and lets one schema it cannot compile make the whole tool list unreadable.
 */
export class OutputCheck {
  readonly #schemas: Schemas;
  readonly #onUnusable: (toolName: string, error: unknown) => void;
  /** Ajv is loaded with the first schema: most tools promise nothing, and it is an eighth of all the code that a start would load. */
  #provider: Promise<JsonSchemaValidatorProvider> | null = null;
  readonly #validators = new Map<string, Promise<JsonSchemaValidator<unknown> | null>>();

  constructor(schemas: Schemas, onUnusable: (toolName: string, error: unknown) => void) {
    this.#schemas = schemas;
    this.#onUnusable = onUnusable;
  }

  /** What is wrong with the result, if anything is. */
  async problem(toolName: string, result: ToolResult): Promise<string | undefined> {
    const validate = await this.#validatorOf(toolName);
    if (validate === null) return undefined;
    if (result.structuredContent === undefined) return 'the tool promised a structured result and gave none';
    const { valid, errorMessage } = validate(result.structuredContent);
    return valid ? undefined : `the result is not what the tool promised: ${errorMessage}`;
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
    if (schema === undefined) return null;
    try {
      this.#provider ??= loadProvider();
      const provider = await this.#provider;
      return provider.getValidator(schema);
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
