import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ProviderShapes } from './wire-shape.ts';

/** What a user of the SDK gets: the text and the tool calls, or an error. */
export type SdkReading =
  | { readonly text: string; readonly toolCalls: readonly { name: string; arguments: unknown }[] }
  | { readonly threw: true };

/** Reads a shape with the vendor's own SDK, as its documentation shows it. */
export async function readWithSdk(
  api: ProviderShapes['api'],
  baseURL: string,
  shape: number,
): Promise<SdkReading> {
  try {
    return await readers[api](baseURL, `shape ${shape}`);
  } catch {
    return { threw: true };
  }
}

const readers = { chat: readChat, responses: readResponse, messages: readMessage } as const;

function openAi(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'sk-sdk', maxRetries: 0, logLevel: 'off' });
}

async function readChat(baseURL: string, content: string): Promise<SdkReading> {
  const stream = await openAi(baseURL).chat.completions.create({
    model: 'wire-model',
    messages: [{ role: 'user', content }],
    stream: true,
  });
  let text = '';
  const calls: { name: string; arguments: string }[] = [];
  let finishReason: string | null | undefined;
  for await (const { choices } of stream) {
    const choice = choices[0];
    text += choice?.delta.content ?? choice?.delta.refusal ?? '';
    finishReason = choice?.finish_reason ?? finishReason;
    for (const { index, function: part } of choice?.delta.tool_calls ?? []) {
      calls[index] ??= { name: '', arguments: '' };
      const call = calls[index];
      call.name += part?.name ?? '';
      call.arguments += part?.arguments ?? '';
    }
  }
  // The documentation has the caller look at the end: the loop ends normally on a stream that was cut.
  if (!finishReason || finishReason === 'content_filter') return { threw: true };
  return { text, toolCalls: calls.map(({ name, arguments: args }) => ({ name, arguments: parsed(args) })) };
}

async function readResponse(baseURL: string, input: string): Promise<SdkReading> {
  const stream = await openAi(baseURL).responses.create({ model: 'wire-model', input, stream: true });
  let [text, isComplete] = ['', false];
  const toolCalls: { name: string; arguments: unknown }[] = [];
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta') {
      text += event.delta;
    }
    if (event.type === 'response.output_item.done' && event.item.type === 'function_call') {
      toolCalls.push({ name: event.item.name, arguments: parsed(event.item.arguments) });
    }
    if (event.type === 'error' || event.type === 'response.failed') return { threw: true };
    if (event.type === 'response.completed') isComplete = true;
    if (event.type === 'response.incomplete') {
      isComplete = event.response.incomplete_details?.reason === 'max_output_tokens';
    }
  }
  return isComplete ? { text, toolCalls } : { threw: true };
}

async function readMessage(baseURL: string, content: string): Promise<SdkReading> {
  const client = new Anthropic({
    baseURL: baseURL.replace(/\/v1$/, ''),
    apiKey: 'sk-sdk',
    maxRetries: 0,
    logLevel: 'off',
  });
  const stream = client.messages.stream({
    model: 'wire-model',
    max_tokens: 100,
    messages: [{ role: 'user', content }],
  });
  const message = await stream.finalMessage();
  if (message.stop_reason === null || message.stop_reason === 'refusal') return { threw: true };
  let text = '';
  const toolCalls: { name: string; arguments: unknown }[] = [];
  for (const block of message.content) {
    if (block.type === 'text') text += block.text;
    if (block.type === 'tool_use') toolCalls.push({ name: block.name, arguments: block.input });
  }
  return { text, toolCalls };
}

function parsed(args: string): unknown {
  if (args.trim() === '') return {};
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}
