import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import type {
  JsonSchemaType,
  JsonSchemaValidator,
  jsonSchemaValidator as JsonSchemaValidatorProvider,
} from '@modelcontextprotocol/sdk/validation/types.js';

/** The SDK's validator, made for the first schema: most tools promise nothing, and it takes milliseconds and half a megabyte. */
export class LateValidator implements JsonSchemaValidatorProvider {
  #validator: AjvJsonSchemaValidator | null = null;

  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    this.#validator ??= new AjvJsonSchemaValidator();
    return this.#validator.getValidator(schema);
  }
}
