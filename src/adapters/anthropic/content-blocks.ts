import { isJsonObject, type JsonObject } from '../../core/json-object.ts';
import { claudeModel } from '../../model-http/provider/claude-model.ts';
import { isJson, stringIn } from '../../model-http/reply/json.ts';
import type { ReplyBuilder } from '../../model-http/reply/reply-builder.ts';
import type { ReplyCallIds } from '../../model-http/reply/reply-call-ids.ts';
import { isReturned, isThinkingBlock, type ThinkingBlock } from './thinking-blocks.ts';

interface Block {
  /** The block as it began, including unknown fields. */
  readonly begin: JsonObject;
  thinking: string;
  signature: string;
  json: string;
}

export interface BlockOptions {
  /** The name of the model. */
  readonly model: string;
  readonly ids: ReplyCallIds;
  onThinkingBlock(block: ThinkingBlock): void;
}

/** Turns the content blocks of a message into parts of a reply, in their order. Each block has an index. */
export class ContentBlocks {
  readonly #reply: ReplyBuilder;
  readonly #options: BlockOptions;
  readonly #open = new Map<unknown, Block>();
  #hasIncompleteCall = false;
  #hasNamelessCall = false;
  /** Whether the last block is a tool call without any arguments so far. */
  #endsWithBareCall = false;

  constructor(reply: ReplyBuilder, options: BlockOptions) {
    this.#reply = reply;
    this.#options = options;
  }

  /** Whether a call may lack arguments, if the reply was cut off. */
  get hasIncompleteCall(): boolean {
    return this.#hasIncompleteCall || this.#endsWithBareCall;
  }

  get hasNamelessCall(): boolean {
    return this.#hasNamelessCall;
  }

  begin(index: unknown, begin: unknown): void {
    if (!isJsonObject(begin)) return;
    this.#stopOthers(index);
    const block = { begin, thinking: '', signature: stringIn(begin.signature), json: '' };
    this.#open.set(index, block);
    if (begin.type === 'text') this.#reply.text(stringIn(begin.text));
    if (begin.type === 'thinking') this.#think(block, stringIn(begin.thinking));
    if (begin.type === 'redacted_thinking') this.#reply.count(stringIn(begin.data).length);
  }

  /** Adds a piece to a block. Unknown types are ignored. */
  add(index: unknown, delta: JsonObject): void {
    switch (delta.type) {
      case 'text_delta':
        this.#reply.text(stringIn(delta.text));
        return;
      case 'thinking_delta':
        this.#think(this.#block(index, 'thinking'), stringIn(delta.thinking));
        return;
      case 'signature_delta':
        // A signature comes whole. A second one replaces the first, as in the official SDK.
        this.#block(index, 'thinking').signature = stringIn(delta.signature);
        this.#reply.count(stringIn(delta.signature).length);
        return;
      case 'input_json_delta':
        this.#block(index, 'tool_use').json += stringIn(delta.partial_json);
        this.#reply.count(stringIn(delta.partial_json).length);
        return;
    }
  }

  stop(index: unknown): void {
    const block = this.#open.get(index);
    if (!block) return;
    this.#open.delete(index);
    // Texts stay separate parts, because the thinking between them is bound to the blocks before it.
    this.#reply.closePart();
    this.#endsWithBareCall = false;
    if (block.begin.type === 'tool_use') this.#call(block);
    const thinking = thinkingBlockOf(block);
    if (!thinking || !isReturned(thinking, claudeModel(this.#options.model))) return;
    this.#reply.opaque({ ...thinking });
    this.#options.onThinkingBlock(thinking);
  }

  /** Ends the blocks that were not stopped. */
  finish(): void {
    for (const index of [...this.#open.keys()]) this.stop(index);
  }

  /** Ends other blocks, because some servers never stop one. Several tool calls may be open at once. */
  #stopOthers(index: unknown): void {
    for (const [other, { begin }] of [...this.#open]) {
      if (other === index || begin.type !== 'tool_use') this.stop(other);
    }
  }

  #think(block: Block, thinking: string): void {
    block.thinking += thinking;
    this.#reply.reasoning(thinking);
  }

  /** Some servers leave out the beginning of a block. */
  #block(index: unknown, type: string): Block {
    const known = this.#open.get(index);
    if (known) return known;
    const block = { begin: { type }, thinking: '', signature: '', json: '' };
    this.#open.set(index, block);
    return block;
  }

  #call({ begin, json }: Block): void {
    const args = json || (isJsonObject(begin.input) ? JSON.stringify(begin.input) : '{}');
    const name = stringIn(begin.name);
    if (name === '') this.#hasNamelessCall = true;
    if (name === '' || !isJson(args)) this.#hasIncompleteCall = true;
    this.#endsWithBareCall = args === '{}';
    if (json === '') this.#reply.count(args.length);
    this.#reply.toolCall({ callId: this.#options.ids.take(stringIn(begin.id)), name, arguments: args });
  }
}

/** The whole block as the model sent it; undefined if it is none of thinking. */
function thinkingBlockOf({ begin, thinking, signature }: Block): ThinkingBlock | undefined {
  const signed = signature !== '' && { signature };
  const block = begin.type === 'thinking' ? { ...begin, thinking, ...signed } : begin;
  return isThinkingBlock(block) ? block : undefined;
}
