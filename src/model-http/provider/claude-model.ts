/** What a model accepts in a request, as far as its name tells. */
export interface ClaudeModel {
  readonly isClaude: boolean;
  /**
   * `adaptive`: the model decides how long it thinks, guided by an effort. `budget`: the request limits the tokens for
   * thinking. Newer models refuse a budget, older ones refuse `adaptive`.
   */
  readonly thinking: 'adaptive' | 'budget';
  /** The value that switches thinking off; `never` if the model always thinks. Models refuse a wrong value. */
  readonly thinkingOff: 'disabled' | 'between_tools' | 'never';
  /** Whether the model accepts the effort `xhigh`. */
  readonly takesXhigh: boolean;
  /** Whether the model accepts `temperature` and `top_p` at all. */
  readonly takesSampling: boolean;
  /**
   * The default of `max_tokens`, which is mandatory. All models of the kind accept it. Thinking counts too, so a
   * smaller default would cut replies off.
   */
  readonly maxTokens: number;
}

/**
 * Sources: https://platform.claude.com/docs/en/build-with-claude/thinking, and the page of each model under
 * https://platform.claude.com/docs/en/models. An unknown Claude model is treated as a newer one.
 */
export function claudeModel(model: string): ClaudeModel {
  const name = model.toLowerCase();
  const isClaude = name.includes('claude');
  const isOld = BEFORE_4.test(name);
  const hasBudget = !isClaude || isOld || BEFORE_4_6.test(name);
  return {
    isClaude,
    thinking: hasBudget ? 'budget' : 'adaptive',
    thinkingOff:
      hasBudget || CAN_BE_DISABLED.test(name)
        ? 'disabled'
        : BETWEEN_TOOLS.test(name)
          ? 'between_tools'
          : 'never',
    takesXhigh: !WITHOUT_XHIGH.test(name),
    takesSampling: hasBudget || VERSION_4_6.test(name),
    maxTokens: !isClaude || isOld ? 8_192 : hasBudget ? 32_000 : 64_000,
  };
}

const BEFORE_4 = /claude-(?:instant|[23](?!\d))/;
/** The first one is `claude-opus-4-20250514`, where a date follows the 4. */
const BEFORE_4_6 = /(?:opus|sonnet|haiku)-4(?![.-][6-9]\b)/;
const VERSION_4_6 = /-4[.-]6\b/;
/** Haiku 5.5: https://github.com/OnesoftQwQ/opencode-go-copilot/releases/tag/v1.12.1 */
const CAN_BE_DISABLED = /(?:opus|sonnet)-4[.-][6-8]\b|(?:opus|sonnet)-5(?![.-]\d\b)|haiku-5[.-]5\b/;
/** https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5 */
const BETWEEN_TOOLS = /sonnet-5[.-]5\b/;
const WITHOUT_XHIGH = /-4[.-]6\b|mythos-preview/;
