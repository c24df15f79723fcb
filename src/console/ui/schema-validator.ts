import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { type RJSFSchema, type RJSFValidationError, toErrorSchema, type ValidatorType } from '@rjsf/utils';

/**
 * Validates forms against JSON Schema. The usual validator compiles schemas to functions, which the page's
 * Content-Security-Policy forbids. The service checks the arguments again.
 */
export const schemaValidator: ValidatorType = {
  isValid: (schema, formData, rootSchema) => errorsOf({ ...rootSchema, ...schema }, formData).length === 0,
  rawValidation: () => ({}),
  validateFormData(formData, schema) {
    const errors = errorsOf(schema, formData);
    return { errors, errorSchema: toErrorSchema(errors) };
  },
};

function errorsOf(schema: RJSFSchema, formData: unknown): RJSFValidationError[] {
  try {
    const validator = new Validator(JSON.parse(JSON.stringify(schema)), '2020-12', false);
    return validator
      .validate(formData ?? {})
      .errors.filter(isOwnError)
      .map(formError);
  } catch {
    return []; // A schema for another validator, such as a pattern in the words of Python: the service decides.
  }
}

/** False for an error that only says that a nested value is wrong: the nested error is in the list, too. */
function isOwnError({ keyword }: OutputUnit): boolean {
  return !['properties', 'items', 'prefixItems', 'additionalProperties', '$ref', 'allOf'].includes(keyword);
}

function formError({ instanceLocation, keyword, error }: OutputUnit): RJSFValidationError {
  const missing = keyword === 'required' ? /property "(.+)"/.exec(error)?.[1] : undefined;
  const path = [...instanceLocation.split('/').slice(1), ...(missing === undefined ? [] : [missing])];
  const message = missing === undefined ? error : 'is required';
  return { name: keyword, message, property: path.map((part) => `.${part}`).join(''), stack: message };
}
