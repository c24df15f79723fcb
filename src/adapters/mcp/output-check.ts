import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { ToolResult } from '../../contract/tool.ts';
import { LateValidator } from './late-validator.ts';

type Schemas = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/**
 * Holds results against the schemas the tools promised. The SDK's own check forgets all pages but the
 * last, and lets one schema it cannot compile make the whole tool list unreadable.
 */
export class OutputCheck {
  readonly #schemas: Schemas;
  readonly #onUnusable: (toolName: string, error: unknown) => void;
  readonly #provider = new LateValidator();
  readonly #validators = new Map<string, JsonSchemaValidator<unknown> | null>();

  constructor(schemas: Schemas, onUnusable: (toolName: string, error: unknown) => void) {
    this.#schemas = schemas;
    this.#onUnusable = onUnusable;
  }

  /** What is wrong with the result, if anything is. */
  problem(toolName: string, result: ToolResult): string | undefined {
    const validate = this.#validatorOf(toolName);
    if (validate === null) return undefined;
    if (result.structuredContent === undefined) return 'the tool promised a structured result and gave none';
    const { valid, errorMessage } = validate(result.structuredContent);
    return valid ? undefined : `the result is not what the tool promised: ${errorMessage}`;
  }

  #validatorOf(toolName: string): JsonSchemaValidator<unknown> | null {
    const known = this.#validators.get(toolName);
    if (known !== undefined) return known;
    const validator = this.#compile(toolName);
    this.#validators.set(toolName, validator);
    return validator;
  }

  #compile(toolName: string): JsonSchemaValidator<unknown> | null {
    const schema = this.#schemas.get(toolName);
    if (schema === undefined) return null;
    try {
      return this.#provider.getValidator(schema);
    } catch (error) {
      this.#onUnusable(toolName, error);
      return null;
    }
  }
}
