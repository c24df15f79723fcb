import { isJsonObject } from './body-fields.ts';

/** All patterns in the schemas of tools. No tool of the tests has a property of that name. */
export function patternsIn(tools: unknown): string[] {
  return valuesOf(tools, 'pattern').filter((value) => typeof value === 'string');
}

/** Why llama.cpp cannot make a grammar of the tools. */
export function grammarProblem(tools: unknown): string | undefined {
  if (patternsIn(tools).some((pattern) => !/^\^.*\$$/s.test(pattern)))
    return "JSON schema conversion failed:\nPattern must start with '^' and end with '$'";
  return valuesOf(tools, 'maxLength').includes(2_000)
    ? 'Failed to initialize samplers: failed to parse grammar'
    : undefined;
}

function valuesOf(value: unknown, keyword: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(one, keyword));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => (key === keyword ? [one] : valuesOf(one, keyword)));
}
