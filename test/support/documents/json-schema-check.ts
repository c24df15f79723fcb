import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const formats = {
  uri: (text: string) => URL.canParse(text),
  'date-time': (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text),
};

/** Checks values against the schemas of an OpenAPI 3.1 document, by a validator that knows nothing of zod. */
export function openApiCheck(document: object): (pointer: string, value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, formats, allErrors: true });
  ajv.addSchema(document, 'openapi');
  return (pointer, value) => {
    const validate = ajv.getSchema(`openapi${pointer}`);
    if (!validate) throw new Error(`there is no schema at ${pointer}`);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/** The same for a payload of an AsyncAPI document, whose schemas are of draft 7. */
export function payloadCheck(schema: object): (value: unknown) => string[] {
  const validate = new Ajv({ strict: false, formats, allErrors: true }).compile(schema);
  return (value) => {
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}
