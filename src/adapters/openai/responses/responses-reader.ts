import type { JsonObject } from '../../../core/json-object.ts';
import type { TokenUsage } from '../../../core/turn/reply-parts.ts';
import { ModelFailure, passingFailure } from '../../../model-http/failures/model-failure.ts';
import { refusal } from '../../../model-http/failures/refusal.ts';
import type { ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import type { EventTemplate } from '../../../model-http/reply/event-template.ts';
import { objectIn, stringIn } from '../../../model-http/reply/json.ts';
import { ReplyBuilder } from '../../../model-http/reply/reply-builder.ts';
import { ReplyCallIds } from '../../../model-http/reply/reply-call-ids.ts';
import type { ReplyProgress, ReplyReader } from '../../../model-http/reply/reply-reader.ts';
import type { ModelReply, ModelRequest, ReplyListener } from '../../../ports/language-model.ts';
import { CallItems } from './call-items.ts';
import { DeltaTemplates } from './delta-templates.ts';
import { OutputItems } from './output-items.ts';
import { objectsIn, outputIndexOf, parsedData, TEXT_DELTA, usageIn } from './response-event.ts';

const COMPLETED = 'completed';
/** The final states of a response. */
const ENDED: ReadonlySet<string> = new Set([COMPLETED, 'incomplete', 'failed', 'cancelled']);

/** Reads one answer of the Responses API. */
export class ResponsesReader implements ReplyReader {
  readonly #access: ProviderEndpoint;
  readonly #request: ModelRequest;
  readonly #reply: ReplyBuilder;
  readonly #items: OutputItems;
  readonly #templates: DeltaTemplates;
  /** The template of the text deltas of the open message, and their `output_index`. */
  #template: EventTemplate | undefined;
  #textIndex: number | undefined;
  #textPlace = 0;
  /** Whether an event of a response has come, and whether another event has come. */
  #isResponse = false;
  #isOther = false;
  #ending: string | undefined;
  #usage: TokenUsage | undefined;

  /** @param templates of all replies of the model. */
  constructor(
    access: ProviderEndpoint,
    request: ModelRequest,
    listener: ReplyListener,
    templates = new DeltaTemplates(),
  ) {
    this.#templates = templates;
    this.#access = access;
    this.#request = request;
    this.#reply = new ReplyBuilder(access, listener);
    const calls = new CallItems(new ReplyCallIds(request.messages, 'call_'));
    this.#items = new OutputItems(this.#reply, calls);
  }

  get progress(): ReplyProgress {
    return this.#reply;
  }

  event(data: string, name: string | undefined): void {
    if (this.#reply.isDone) return;
    // An event of this name is an error, whatever its data.
    const text = name === 'error' ? undefined : this.#template?.textOf(data);
    if (text !== undefined) {
      this.#items.text(this.#textPlace, text);
      return;
    }
    this.#read(data, name);
  }

  #read(data: string, name: string | undefined): void {
    const parsed = parsedData(data);
    if (parsed.kind === 'object') this.#learn(data, parsed.value);
    switch (parsed.kind) {
      case 'object':
        this.#take(parsed.value, name === 'error' ? name : stringIn(parsed.value.type) || (name ?? ''));
        return;
      case 'done':
        this.#items.settle([]);
        this.#reply.noteDone();
        return;
      case 'broken':
        throw passingFailure(this.#access, 'sent a broken event');
      case 'other':
        if (name === 'error') throw this.#refusal(data);
        this.#isOther = true;
        return;
      default:
        parsed satisfies never;
    }
  }

  whole(answer: unknown): void {
    const response = objectIn(answer);
    if (response.error || response.object === 'error' || response.type === 'error')
      throw this.#refusal(answer);
    this.#isOther = response.object !== 'response' && !Array.isArray(response.output);
    if (this.#isOther) return;
    this.#isResponse = true;
    this.#end(response, stringIn(response.status) || COMPLETED);
  }

  finish(): ModelReply {
    if (this.#isOther && !this.#isResponse) throw this.#noResponse();
    const isComplete = this.#ending === COMPLETED || (this.#ending === undefined && this.#reply.isDone);
    const { hasOpen, hasBroken, hasNameless } = this.#items.calls;
    if (isComplete && hasOpen) throw passingFailure(this.#access, 'sent a tool call without its end');
    return this.#reply.finish({
      reason: this.#ending,
      hasIncompleteCall: hasOpen || hasBroken,
      hasNamelessCall: hasNameless,
      usage: this.#usage,
    });
  }

  /** Text deltas of one message are alike. Any other event drops the template, because it may begin another item. */
  #learn(data: string, event: JsonObject): void {
    const index = outputIndexOf(event);
    if (event.type !== TEXT_DELTA || index !== this.#textIndex) this.#template = undefined;
    if (event.type !== TEXT_DELTA) return;
    this.#textIndex = index;
    this.#textPlace = this.#placeOf(event);
    this.#template ??= this.#templates.of(index);
    const text = stringIn(event.delta);
    if (text !== '') this.#template.learn(data, text);
  }

  #take(event: JsonObject, type: string): void {
    // The most frequent case comes first.
    if (type === TEXT_DELTA) {
      this.#isResponse = true;
      this.#items.text(this.#placeOf(event), stringIn(event.delta));
    } else if (type === 'error' || type === 'response.error') throw this.#refusal(event);
    else if (type.startsWith('response.')) {
      this.#isResponse = true;
      this.#takePiece(event, type);
    } else if (event.error) throw this.#refusal(event);
    else this.#isOther = true;
  }

  #takePiece(event: JsonObject, type: string): void {
    const items = this.#items;
    const place = this.#placeOf(event);
    switch (type) {
      case 'response.reasoning_summary_text.delta':
        items.reasoning(place, `summary ${event.summary_index}`, stringIn(event.delta));
        return;
      case 'response.reasoning_text.delta':
        items.reasoning(place, `text ${event.content_index}`, stringIn(event.delta));
        return;
      case 'response.function_call_arguments.delta':
        items.argumentsPiece(place, stringIn(event.delta));
        return;
      case 'response.function_call_arguments.done':
        items.calls.setArguments(place, event.arguments);
        return;
      case 'response.refusal.delta':
        items.refusal(place, stringIn(event.delta));
        return;
      case 'response.output_text.done':
        items.unlessHeard(place, () => items.text(place, stringIn(event.text)));
        return;
      case 'response.refusal.done':
        items.unlessHeard(place, () => items.refusal(place, stringIn(event.refusal)));
        return;
      default:
        this.#takeState(event, type);
    }
  }

  #takeState(event: JsonObject, type: string): void {
    switch (type) {
      case 'response.output_item.added':
        this.#items.begin(this.#placeOf(event, 1), objectIn(event.item));
        return;
      case 'response.output_item.done':
        this.#items.end(this.#placeOf(event), objectIn(event.item));
        return;
      case 'response.completed':
      case 'response.done':
        this.#end(objectIn(event.response), COMPLETED);
        return;
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#end(objectIn(event.response), type.slice('response.'.length));
    }
  }

  /** @param ending the state of the response if the response itself does not have a final one. */
  #end(response: JsonObject, ending: string): void {
    const status = stringIn(response.status);
    const state = ENDED.has(status) ? status : ending;
    if (state === 'failed') throw this.#refusal({ error: response.error });
    this.#items.settle(objectsIn(response.output));
    this.#usage = usageIn(response.usage);
    this.#ending =
      state === 'incomplete' ? stringIn(objectIn(response.incomplete_details).reason) || state : state;
    this.#reply.noteDone();
  }

  /** @param ahead offset from the latest item, for an event without an `output_index`. */
  #placeOf(event: JsonObject, ahead = 0): number {
    return outputIndexOf(event) ?? Math.max(0, this.#items.latest + ahead);
  }

  #refusal(body: unknown): ModelFailure {
    return refusal(this.#access, body, { tools: this.#request.tools });
  }

  #noResponse(): ModelFailure {
    const reason = `${this.#access.label} sent no response; check that llm.baseURL is the address of a Responses API, and llm.api.`;
    return new ModelFailure(this.#access, reason);
  }
}
