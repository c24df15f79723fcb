/**
 * An escaped half of a surrogate pair, not an escaped backslash before the letters. `JSON.stringify` escapes only halves
 * that stand alone, in lower case.
 */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * The JSON of a request. A text that was cut within an emoji ends with half a surrogate pair, which becomes U+FFFD:
 * Anthropic, DeepSeek, Cerebras and others refuse the whole request for it.
 * https://github.com/anthropics/claude-code/issues/8272, https://github.com/mastra-ai/mastra/issues/15573
 */
export function requestBody(body: object): string {
  const json = JSON.stringify(body);
  return json.includes('\\ud') ? json.replace(LONE_SURROGATE, '$1\ufffd') : json;
}
