import type { ProviderRule, Refusal } from '../provider-rules.ts';
import { valuesOf } from './body-fields.ts';

/** All patterns in the schemas of tools. */
export function patternsIn(tools: unknown): string[] {
  return valuesOf(tools, 'pattern').filter((value) => typeof value === 'string');
}

/** The rule of llama.cpp, and of what is built on it. @param refusedBecause makes the answer of the server. */
export function grammarRule(refusedBecause: (problem: string) => Refusal): ProviderRule {
  return {
    name: 'a pattern in the schema of a tool is anchored, and no text is bounded to 2,000 characters',
    source:
      'https://github.com/ggml-org/llama.cpp/issues/26930 and https://github.com/ggml-org/llama.cpp/issues/27087',
    refusal(body) {
      const problem = grammarProblem(body.tools);
      return problem === undefined ? undefined : refusedBecause(problem);
    },
  };
}

/** Why llama.cpp cannot make a grammar of the tools. */
function grammarProblem(tools: unknown): string | undefined {
  if (patternsIn(tools).some((pattern) => !/^\^.*\$$/s.test(pattern)))
    return "JSON schema conversion failed:\nPattern must start with '^' and end with '$'";
  return valuesOf(tools, 'maxLength').includes(2_000)
    ? 'Failed to initialize samplers: failed to parse grammar'
    : undefined;
}
