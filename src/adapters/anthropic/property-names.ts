import { isJsonObject } from '../../core/json-object.ts';
import {
  mapSchemas,
  oncePerSchema,
  type Schema,
  withNote,
} from '../../model-http/provider/nested-schemas.ts';

/** Anthropic refuses a request whose tools have another one: https://github.com/ComposioHQ/composio/issues/3500 */
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * The schema of a tool without the properties whose names Anthropic does not accept, such as `$filter`. Its description
 * names them instead, so that the model can still use them.
 */
export const withAcceptedNames = oncePerSchema((schema) => mapSchemas(schema, onlyAccepted));

function onlyAccepted(schema: Schema): Schema {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return schema;
  const others = Object.keys(properties).filter((name) => !ACCEPTED.test(name));
  if (others.length === 0) return schema;
  const kept = Object.entries(properties).filter(([name]) => ACCEPTED.test(name));
  const note = `It also takes: ${others.map((name) => JSON.stringify(name)).join(', ')}.`;
  return {
    ...withNote(schema, note),
    properties: Object.fromEntries(kept),
    ...(Array.isArray(required) && { required: required.filter((name) => !others.includes(name)) }),
  };
}
