import type { ScriptRule } from '../../config/schema/llm-config.ts';
import type { ModelTool } from '../../core/conversation/model-message.ts';
import type { ScriptStep, ScriptTurn } from './script-step.ts';
import { findTool } from './tool-lookup.ts';
import { typedArguments } from './typed-arguments.ts';

/** Decides the next step of a turn, or leaves it to the next rule. */
export type ScriptedAnswer = (turn: ScriptTurn, tools: readonly ModelTool[]) => ScriptStep | undefined;

/** The rules of `llm.script` in their order; the first that matches answers. */
export function scriptRules(rules: readonly ScriptRule[]): ScriptedAnswer {
  const answers = rules.map(scriptRule);
  return (turn, tools) => {
    for (const answer of answers) {
      const step = answer(turn, tools);
      if (step !== undefined) return step;
    }
    return undefined;
  };
}

function scriptRule(rule: ScriptRule): ScriptedAnswer {
  const pattern = new RegExp(rule.when, 'iu');
  return (turn, tools) => {
    const groups = pattern.exec(turn.user.text);
    return groups === null ? undefined : ruleStep(rule, groups, turn, tools);
  };
}

function ruleStep(
  rule: ScriptRule,
  groups: RegExpExecArray,
  { toolResults }: ScriptTurn,
  tools: readonly ModelTool[],
): ScriptStep {
  const isFirst = toolResults.length === 0;
  const callsTools = rule.toolCalls.length > 0 && (isFirst || rule.repeat);
  const pace = { chunks: rule.chunks, delayMs: rule.delayMs };
  if (!callsTools) {
    const text = isFirst
      ? fillIn(rule.reply, groups)
      : fillIn(rule.afterTools, groups, resultsText(toolResults));
    return { ...pace, text, toolCalls: [], fail: rule.fail };
  }
  return {
    ...pace,
    text: isFirst ? fillIn(rule.reply, groups) : '',
    toolCalls: rule.toolCalls.map((call) => {
      const tool = findTool(tools, call.tool);
      const values = mapValues(call.arguments, (text) => fillIn(text, groups));
      return { name: tool?.name ?? call.tool, arguments: typedArguments(values, tool) };
    }),
  };
}

function resultsText(toolResults: ScriptTurn['toolResults']): string {
  return toolResults.map((result) => result.text).join('\n');
}

/** Replaces in one pass, so that the text of a group or a tool is never taken for a placeholder. */
function fillIn(template: string, groups: RegExpExecArray, results?: string): string {
  return template.replace(/\$(\d{1,2})|\{\{results\}\}/g, (placeholder, digits: string | undefined) => {
    if (digits === undefined) return results ?? placeholder;
    const group = Number(digits);
    // `$5` is a price where the pattern has no fifth group.
    if (group >= 1 && group < groups.length) return groups[group] ?? '';
    const first = Number(digits[0]);
    if (digits.length === 2 && first >= 1 && first < groups.length) return (groups[first] ?? '') + digits[1];
    return placeholder;
  });
}

function mapValues(
  values: Readonly<Record<string, unknown>>,
  replace: (text: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, mapStrings(value, replace)]));
}

function mapStrings(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, replace)]));
}
