import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { ModelFailure, passingFailure } from '../../model-http/failures/model-failure.ts';
import { refusal } from '../../model-http/failures/refusal.ts';
import type { ProviderEndpoint } from '../../model-http/provider/provider-endpoint.ts';
import { EventTemplate } from '../../model-http/reply/event-template.ts';
import { parsedJson } from '../../model-http/reply/json.ts';
import { ReplyBuilder } from '../../model-http/reply/reply-builder.ts';
import { ReplyCallIds } from '../../model-http/reply/reply-call-ids.ts';
import type { ReplyProgress, ReplyReader } from '../../model-http/reply/reply-reader.ts';
import type { ModelReply, ModelRequest, ReplyListener } from '../../ports/language-model.ts';
import { ContentBlocks } from './content-blocks.ts';
import type { ThinkingBlock } from './thinking-blocks.ts';
import { TokenCounts } from './token-counts.ts';

export interface MessagesReaderOptions {
  /** The template of all replies of the model. */
  readonly template: EventTemplate;
  readonly onThinkingBlock: (block: ThinkingBlock) => void;
}

/** A template for the replies of one model. */
export function messagesTemplate(): EventTemplate {
  return new EventTemplate((data) => textDelta(parsedJson(data)));
}

/** Reads one answer in the format of Anthropic's Messages API. */
export class MessagesReader implements ReplyReader {
  readonly #access: ProviderEndpoint;
  readonly #request: ModelRequest;
  readonly #reply: ReplyBuilder;
  readonly #blocks: ContentBlocks;
  readonly #counts = new TokenCounts();
  readonly #template: EventTemplate;
  #stopReason: string | undefined;
  /** Whether an event of a message has come, and whether another event has come. */
  #isMessage = false;
  #isOther = false;

  constructor(
    access: ProviderEndpoint,
    request: ModelRequest,
    listener: ReplyListener,
    { template, onThinkingBlock }: MessagesReaderOptions,
  ) {
    this.#template = template;
    this.#access = access;
    this.#request = request;
    this.#reply = new ReplyBuilder(access, listener);
    const ids = new ReplyCallIds(request.messages, 'toolu_');
    this.#blocks = new ContentBlocks(this.#reply, { model: access.model, ids, onThinkingBlock });
  }

  get progress(): ReplyProgress {
    return this.#reply;
  }

  event(data: string, name: string | undefined): void {
    if (this.#reply.isDone) return;
    const text = this.#template.textOf(data);
    if (text !== undefined) {
      this.#isMessage = true;
      this.#reply.text(text);
      return;
    }
    const event = parsedJson(data);
    const learnt = textDelta(event);
    if (learnt !== undefined) this.#template.learn(data, learnt);
    if (isJsonObject(event)) this.#take(event, name);
    else if (name === 'error') throw this.#refusal(data);
    else if (event === undefined && /^\s*\{/.test(data))
      throw passingFailure(this.#access, 'sent a broken event');
  }

  whole(answer: unknown): void {
    if (!isJsonObject(answer)) throw this.#noMessage();
    if (Array.isArray(answer.content)) this.#takeWhole(answer, answer.content);
    else if (answer.type === 'error' || answer.error) throw this.#refusal(answer);
    else throw this.#noMessage();
  }

  finish(): ModelReply {
    if (this.#isOther && !this.#isMessage) throw this.#noMessage();
    this.#blocks.finish();
    const reason = this.#stopReason;
    return this.#reply.finish({
      // Only tools that run at Anthropic pause a turn, and none is offered, so the reply is complete.
      reason: reason === 'pause_turn' ? 'end_turn' : reason,
      hasIncompleteCall: this.#blocks.hasIncompleteCall,
      hasNamelessCall: this.#blocks.hasNamelessCall,
      usage: this.#counts.usage,
    });
  }

  #take(event: JsonObject, name: string | undefined): void {
    if (event.type === 'content_block_delta') {
      this.#isMessage = true;
      if (isJsonObject(event.delta)) this.#blocks.add(event.index, event.delta);
    } else if (!this.#takeFrame(event)) this.#takeOther(event, name);
  }

  /** @returns whether it is an event of a message. */
  #takeFrame(event: JsonObject): boolean {
    switch (event.type) {
      case 'ping':
        return true;
      case 'message_start':
        if (isJsonObject(event.message)) this.#takeFacts(event.message, event.message.usage);
        break;
      case 'content_block_start':
        this.#blocks.begin(event.index, event.content_block);
        break;
      case 'content_block_stop':
        this.#blocks.stop(event.index);
        break;
      case 'message_delta':
        this.#takeFacts(isJsonObject(event.delta) ? event.delta : {}, event.usage);
        break;
      case 'message_stop':
        this.#reply.noteDone();
        break;
      default:
        return false;
    }
    this.#isMessage = true;
    return true;
  }

  /** Skips unknown types, as Anthropic asks: https://platform.claude.com/docs/en/api/versioning */
  #takeOther(event: JsonObject, name: string | undefined): void {
    if (event.type === 'error' || event.error || name === 'error') throw this.#refusal(event);
    if (event.type === 'message' && Array.isArray(event.content)) this.#takeWhole(event, event.content);
    else this.#isOther = true;
  }

  #takeWhole(message: JsonObject, content: readonly unknown[]): void {
    this.#isMessage = true;
    content.forEach((block, index) => {
      this.#blocks.begin(index, block);
      this.#blocks.stop(index);
    });
    this.#takeFacts(message, message.usage);
    this.#reply.noteDone();
  }

  #takeFacts({ stop_reason, stop_details }: JsonObject, usage: unknown): void {
    this.#counts.report(usage);
    if (typeof stop_reason !== 'string' || stop_reason === '') return;
    // The category tells the user which rule stopped the reply.
    const category = isJsonObject(stop_details) ? stop_details.category : undefined;
    this.#stopReason = typeof category === 'string' ? `${stop_reason}: ${category}` : stop_reason;
    this.#reply.noteEnding();
  }

  #refusal(error: unknown): ModelFailure {
    return refusal(this.#access, error, { tools: this.#request.tools });
  }

  #noMessage(): ModelFailure {
    const reason = `${this.#access.label} sent no message; check that llm.baseURL is one of Anthropic's Messages API, and llm.api.`;
    return new ModelFailure(this.#access, reason);
  }
}

/** The text of an event that only adds text. It is appended to the reply, whichever block it belongs to. */
function textDelta(event: unknown): string | undefined {
  if (!isJsonObject(event) || event.type !== 'content_block_delta' || !isJsonObject(event.delta))
    return undefined;
  const { type, text } = event.delta;
  return type === 'text_delta' && typeof text === 'string' && text !== '' ? text : undefined;
}
