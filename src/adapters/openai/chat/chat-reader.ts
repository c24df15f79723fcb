import { isJsonObject } from '../../../core/json-object.ts';
import type { TokenUsage } from '../../../core/turn/reply-parts.ts';
import { ModelFailure, passingFailure } from '../../../model-http/failures/model-failure.ts';
import { refusal } from '../../../model-http/failures/refusal.ts';
import type { ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import { EventTemplate } from '../../../model-http/reply/event-template.ts';
import { countIn, objectIn } from '../../../model-http/reply/json.ts';
import { ReplyBuilder } from '../../../model-http/reply/reply-builder.ts';
import { ReplyCallIds } from '../../../model-http/reply/reply-call-ids.ts';
import type { ReplyProgress, ReplyReader } from '../../../model-http/reply/reply-reader.ts';
import type { ModelReply, ModelRequest, ReplyListener } from '../../../ports/language-model.ts';
import { type ChatEvent, type ChoiceDelta, readChatEvent, readChatValue } from './chat-event.ts';
import { ReturnedFields } from './returned-fields.ts';
import { type SplitPiece, ThoughtSplitter } from './thought-splitter.ts';
import { ToolCallCollector } from './tool-call-collector.ts';

/** Reads one answer in the format of OpenAI's chat completions, with the deviations of other servers. */
export class ChatReader implements ReplyReader {
  readonly #access: ProviderEndpoint;
  readonly #request: ModelRequest;
  readonly #reply: ReplyBuilder;
  readonly #template: EventTemplate;
  /** The last of the chunks in a row that were not parsed. Its usage counts if no later chunk has one. */
  #unparsed: string | undefined;
  readonly #toolCalls = new ToolCallCollector();
  readonly #returned = new ReturnedFields();
  readonly #thoughts = new ThoughtSplitter();
  /** Whether an event of a chat has come, and whether another event has come. */
  #isChat = false;
  #isOther = false;
  #finishReason: string | undefined;
  #usage: TokenUsage | undefined;

  /** @param template of all replies of the model. */
  constructor(
    access: ProviderEndpoint,
    request: ModelRequest,
    listener: ReplyListener,
    template: EventTemplate,
  ) {
    this.#template = template;
    this.#access = access;
    this.#request = request;
    this.#reply = new ReplyBuilder(access, listener);
  }

  get progress(): ReplyProgress {
    return this.#reply;
  }

  event(data: string, name: string | undefined): void {
    if (this.#reply.isDone) return;
    const text = this.#template.textOf(data);
    if (text !== undefined) {
      this.#isChat = true;
      this.#unparsed = data;
      this.#addContent(text);
      return;
    }
    if (data.trim() === '[DONE]') {
      this.#reply.noteDone();
      return;
    }
    // The next event that is not parsed may have other fields, so none may be the only one to hold the usage.
    this.#countUnparsed();
    const event = readChatEvent(data, name);
    if (event.kind === 'text') this.#template.learn(data, event.text);
    this.#take(event);
  }

  whole(answer: unknown): void {
    this.#take(readChatValue(answer));
    this.#reply.noteDone();
  }

  finish(): ModelReply {
    this.#countUnparsed();
    if (this.#isOther && !this.#isChat) throw this.#noChat();
    this.#toolCalls.end();
    this.#addSplit(this.#thoughts.end());
    this.#reply.closePart();
    const { reasoningBack } = this.#access.rules;
    const withReasoning =
      reasoningBack === 'always' || (reasoningBack === 'with-tool-calls' && !this.#toolCalls.isEmpty);
    const returned = this.#returned.collected(withReasoning);
    if (returned) this.#reply.opaque(returned);
    const ids = new ReplyCallIds(this.#request.messages, 'call_');
    for (const call of this.#toolCalls.finish(ids)) this.#reply.toolCall(call);
    return this.#reply.finish({
      reason: this.#finishReason,
      hasIncompleteCall: this.#toolCalls.hasIncomplete(),
      hasNamelessCall: this.#toolCalls.hasNameless(),
      usage: this.#usage,
    });
  }

  #take(event: ChatEvent): void {
    switch (event.kind) {
      case 'text':
        this.#isChat = true;
        this.#countTokens(event.usage);
        this.#addContent(event.text);
        return;
      case 'chunk':
        this.#isChat = true;
        this.#countTokens(event.usage);
        if (event.delta) this.#addDelta(event.delta);
        if (event.finishReason !== undefined) this.#endWith(event.finishReason);
        return;
      case 'error':
        throw refusal(this.#access, event.error, { tools: this.#request.tools });
      case 'broken':
        throw passingFailure(this.#access, 'sent an event that is not complete JSON');
      case 'other':
        this.#isOther = true;
        return;
      default:
        event satisfies never;
    }
  }

  #endWith(finishReason: string): void {
    this.#finishReason = finishReason;
    this.#reply.noteEnding();
  }

  #countUnparsed(): void {
    const last = this.#unparsed === undefined ? undefined : readChatEvent(this.#unparsed);
    if (last?.kind === 'text') this.#countTokens(last.usage);
    this.#unparsed = undefined;
  }

  /** If counts come with every chunk, they are cumulative. */
  #countTokens(usage: unknown): void {
    this.#usage = usageOf(usage) ?? this.#usage;
  }

  #addDelta(delta: ChoiceDelta): void {
    // MiniMax repeats the whole reply in its last event.
    if (delta.isWhole && this.#reply.hasBegun) return;
    this.#reply.reasoning(delta.reasoning);
    this.#addContent(delta.text, delta.isThought);
    // Some servers repeat the refusal in the text.
    if (delta.text === '') this.#reply.refusal(delta.refusal);
    this.#returned.add(delta.fields);
    for (const call of delta.toolCalls) this.#reply.count(call.arguments.length);
    this.#toolCalls.add(delta.toolCalls);
  }

  #addContent(content: string, isThought = false): void {
    if (this.#thoughts.isPast) this.#reply.text(content);
    else if (content !== '') this.#addSplit(this.#thoughts.take(content, isThought));
  }

  #addSplit({ reasoning, text }: SplitPiece): void {
    this.#reply.reasoning(reasoning);
    this.#reply.text(text);
  }

  #noChat(): ModelFailure {
    const reason = `${this.#access.label} sent nothing that is a chat completion; check that llm.baseURL is an OpenAI-compatible API, and llm.api.`;
    return new ModelFailure(this.#access, reason);
  }
}

/** A template for the replies of one model. */
export function chatTemplate(): EventTemplate {
  return new EventTemplate(plainText);
}

function plainText(data: string): string | undefined {
  const event = readChatEvent(data);
  return event.kind === 'text' ? event.text : undefined;
}

/**
 * Undefined if the counts have an unexpected shape, which must not fail the reply. DeepSeek has its own name for
 * cached tokens.
 */
function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_cache_hit_tokens, cached_tokens } = usage;
  const prompt = countIn(usage.prompt_tokens);
  const completion = countIn(usage.completion_tokens);
  if (prompt === undefined || completion === undefined) return undefined;
  const cachedTokens =
    countIn(objectIn(usage.prompt_tokens_details).cached_tokens) ??
    countIn(prompt_cache_hit_tokens) ??
    countIn(cached_tokens);
  const reasoningTokens = countIn(objectIn(usage.completion_tokens_details).reasoning_tokens);
  // xAI leaves the cached tokens out of the prompt if they are the larger part.
  const inputTokens = cachedTokens !== undefined && cachedTokens > prompt ? prompt + cachedTokens : prompt;
  return {
    inputTokens,
    // Google and xAI count the tokens of the reasoning in the total, but not in the completion.
    outputTokens: Math.max(completion, (countIn(usage.total_tokens) ?? 0) - inputTokens),
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}
