import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ModelMessage } from '../../core/conversation/model-message.ts';
import { ServiceError } from '../../core/errors.ts';
import type { LanguageModel, ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { defaultAnswer } from './default-answer.ts';
import { cutIntoPieces, streamPieces } from './reply-stream.ts';
import { scriptRules } from './script-rules.ts';
import { currentTurn, type ScriptStep } from './script-step.ts';

/** Answers from a script: offline, and always the same for the same conversation. */
export function scriptedModel(config: LlmConfig): LanguageModel {
  const rules = scriptRules(config.script);
  return {
    label: `scripted ${config.model}`,
    source: { api: 'scripted', provider: 'scripted', model: config.model },
    async generate(request, listener, signal) {
      const onText = (text: string): void => listener.onText(text);
      const turn = currentTurn(request);
      const step = rules(turn, request.tools) ?? defaultAnswer(turn, request.tools);
      await streamPieces(cutIntoPieces(step.text, step.chunks), step.delayMs ?? 0, onText, signal);
      if (step.fail !== undefined) throw scriptedFailure(step.fail);
      return replyOf(step, request);
    },
  };
}

function replyOf({ text, toolCalls }: ScriptStep, request: ModelRequest): ModelReply {
  // The length of the conversation numbers the calls: it grows with every step, and is the same in a replay.
  const step = request.messages.length;
  const calls = toolCalls.map((call, index) => ({
    type: 'toolCall' as const,
    callId: `call_${step}_${index + 1}`,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  return {
    parts: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
    usage: { inputTokens: roughTokens(requestLength(request)), outputTokens: roughTokens(text.length) },
  };
}

function requestLength({ systemPrompt, messages }: ModelRequest): number {
  let length = systemPrompt.length;
  for (const message of messages) length += textLength(message);
  return length;
}

function textLength(message: ModelMessage): number {
  if (message.role !== 'assistant') return message.text.length;
  let length = 0;
  for (const part of message.parts) if (part.type === 'text') length += part.text.length;
  return length;
}

/** English has about four characters per token. */
function roughTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function scriptedFailure(reason: string): ServiceError {
  return new ServiceError('AGENT_ERROR', 'The language model could not answer.', {
    reason,
    provider: 'scripted',
  });
}
