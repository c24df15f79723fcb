import { isJsonObject, type JsonObject } from '../json-object.ts';
import { knowsAddresses, knowsForms } from './elicitation.ts';
import type { ServerQuestion } from './server-question.ts';

/**
 * What a client must declare to be asked this, as MCP's `ClientCapabilities`, if it has not.
 * Null for a client that can be asked.
 */
export function missingCapability(
  { method, params }: ServerQuestion,
  declared: JsonObject,
): JsonObject | null {
  switch (method) {
    case 'roots/list':
      return isJsonObject(declared.roots) ? null : { roots: {} };
    case 'sampling/createMessage':
      return missingForSampling(params, declared.sampling);
    case 'elicitation/create':
      if (params.mode === 'url') return knowsAddresses(declared) ? null : { elicitation: { url: {} } };
      return knowsForms(declared) ? null : { elicitation: { form: {} } };
    default:
      return method satisfies never;
  }
}

/** Since 2025-11-25, a client that has not declared tools for its model must refuse them. */
function missingForSampling(params: JsonObject, sampling: unknown): JsonObject | null {
  const hasTools = Array.isArray(params.tools) && params.tools.length > 0;
  if (hasTools)
    return isJsonObject(sampling) && isJsonObject(sampling.tools) ? null : { sampling: { tools: {} } };
  return isJsonObject(sampling) ? null : { sampling: {} };
}
