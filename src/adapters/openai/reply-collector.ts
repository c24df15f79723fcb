import type { ModelReply } from '../../ports/language-model.ts';
import { type ChatChunk, parseEvent, textOf } from './chat-chunk.ts';
import { ChunkTemplate } from './chunk-template.ts';
import { inBandFailure, modelFailure } from './model-failure.ts';
import type { ProviderAccess } from './provider-access.ts';
import { ToolCallCollector } from './tool-call-collector.ts';

/** More than any model says in one reply; without a bound it would fill the memory, and then the log. */
const MAX_REPLY_CHARACTERS = 16 * 1024 * 1024;

/** Folds the events of one stream into the reply; text is passed on as it comes. */
export class ReplyCollector {
  readonly #access: ProviderAccess;
  readonly #onText: (text: string) => void;
  readonly #template = new ChunkTemplate();
  readonly #toolCalls = new ToolCallCollector();
  #text = '';
  /** Of the text, and of what the tool calls are made of. */
  #characters = 0;
  #finishReason = '';
  #usage: ModelReply['usage'];
  #isDone = false;

  constructor(access: ProviderAccess, onText: (text: string) => void) {
    this.#access = access;
    this.#onText = onText;
  }

  /** The provider said that nothing follows. */
  get isDone(): boolean {
    return this.#isDone;
  }

  add(data: string): void {
    if (this.#isDone) return;
    if (data === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const text = this.#template.textOf(data);
    if (text === undefined) this.#addEvent(data);
    else this.#addText(text);
  }

  /** What was collected, if it is a whole reply. A stream that just stops is the silent way to fail. */
  finish(isTaken: (callId: string) => boolean): ModelReply {
    const problem = this.#problem();
    if (problem !== undefined) throw modelFailure(this.#access, problem);
    return {
      text: this.#text,
      toolCalls: this.#toolCalls.finish(isTaken),
      ...(this.#usage && { usage: this.#usage }),
    };
  }

  #addEvent(data: string): void {
    const event = parseEvent(data);
    switch (event.kind) {
      case 'text':
        this.#template.learn(data, event.text);
        this.#addText(event.text);
        return;
      case 'chunk':
        this.#addChunk(event.chunk);
        return;
      case 'error':
        throw inBandFailure(this.#access, event.error);
      case 'malformed':
        throw modelFailure(
          this.#access,
          `${this.#access.label} sent an event that is no chat completion chunk; check that llm.baseURL is an OpenAI-compatible API.`,
        );
      default:
        event satisfies never;
    }
  }

  #addChunk({ choices, usage }: ChatChunk): void {
    if (usage) this.#usage = { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    const choice = choices?.[0];
    if (choice === undefined) return;
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    if (!choice.delta) return;
    const text = textOf(choice.delta);
    if (text !== '') this.#addText(text);
    for (const delta of choice.delta.tool_calls ?? []) {
      this.#count(delta.function?.arguments?.length ?? 0);
      this.#toolCalls.add(delta);
    }
  }

  #addText(text: string): void {
    this.#count(text.length);
    this.#text += text;
    this.#onText(text);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters <= MAX_REPLY_CHARACTERS) return;
    throw modelFailure(
      this.#access,
      `Model ${this.#access.model} did not come to an end: its reply has more than ${MAX_REPLY_CHARACTERS} characters.`,
    );
  }

  #problem(): string | undefined {
    const { label } = this.#access;
    if (this.#finishReason === '' && !this.#isDone) {
      return `The stream of ${label} ended before the reply was complete. Try again.`;
    }
    switch (this.#finishReason) {
      case 'content_filter':
        return `The content filter of ${label} stopped the reply; rephrase the message or the system prompt.`;
      case 'error':
        return `${label} reported an error at the end of the reply. Try again.`;
      case 'length':
        if (this.#toolCalls.hasIncomplete()) {
          return `Model ${this.#access.model} reached its token limit in the middle of a tool call; shorten the conversation.`;
        }
        if (this.#text === '' && this.#toolCalls.isEmpty) {
          return `Model ${this.#access.model} reached its token limit before it said anything; shorten the conversation.`;
        }
    }
    return this.#toolCalls.hasNameless() ? `${label} sent a tool call without a name.` : undefined;
  }
}
