import type { TurnId } from '../../core/ids.ts';
import type { AgUiEvent } from './ag-ui-events.ts';
import { KnownReasoning } from './known-reasoning.ts';
import { reasoningMessageId, stepMessageId } from './message-ids.ts';
import type { InputMessage } from './run-input.ts';

/** Tells what the model says and thinks in the steps of a turn. One of its messages is open at a time. */
export class ToldStep {
  readonly #turnId: TurnId;
  readonly #tell: (event: AgUiEvent) => void;
  readonly #messages: readonly InputMessage[];
  #stepName: string | null = null;
  #messageId = '';
  #open: { readonly kind: 'text' | 'reasoning'; readonly id: string } | null = null;
  #hasSpoken = false;
  #hasThought = false;
  /** How many messages with reasoning the step has. */
  #reasonings = 0;
  /** What of the reasoning of the step is in the messages. */
  #known = KnownReasoning.in([], '');

  /** @param messages that the client has. */
  constructor(turnId: TurnId, messages: readonly InputMessage[], tell: (event: AgUiEvent) => void) {
    this.#turnId = turnId;
    this.#messages = messages;
    this.#tell = tell;
  }

  /** The message that has the text and the calls of the step. */
  get messageId(): string {
    return this.#messageId;
  }

  /** Whether the client has something of what the step says. */
  get hasTold(): boolean {
    return this.#hasSpoken || this.#hasThought;
  }

  begin(step: number, attempt: number): void {
    this.end();
    this.#stepName = `step-${step}`;
    this.beginMessage(step, attempt);
    this.#tell({ type: 'STEP_STARTED', stepName: this.#stepName });
  }

  /** What is said from here on is another message. */
  beginMessage(step: number, attempt: number): void {
    this.endMessage();
    this.#messageId = stepMessageId(this.#turnId, step, attempt);
    this.#hasSpoken = false;
    this.#hasThought = false;
    this.#known = KnownReasoning.in(this.#messages, this.#messageId);
    this.#reasonings = this.#known.messages;
  }

  say(delta: string): void {
    if (delta === '') return;
    const messageId = this.#openMessage('text');
    this.#tell({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
  }

  think(piece: string): void {
    const delta = this.#known.rest(piece);
    if (delta === '') return;
    const messageId = this.#openMessage('reasoning');
    this.#tell({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
  }

  endMessage(): void {
    const open = this.#open;
    this.#open = null;
    if (open?.kind === 'text') this.#tell({ type: 'TEXT_MESSAGE_END', messageId: open.id });
    if (open?.kind !== 'reasoning') return;
    this.#tell({ type: 'REASONING_MESSAGE_END', messageId: open.id });
    this.#tell({ type: 'REASONING_END', messageId: open.id });
  }

  end(): void {
    this.endMessage();
    if (this.#stepName !== null) this.#tell({ type: 'STEP_FINISHED', stepName: this.#stepName });
    this.#stepName = null;
  }

  #openMessage(kind: 'text' | 'reasoning'): string {
    if (this.#open?.kind === kind) return this.#open.id;
    this.endMessage();
    const goesOn = this.#known.close();
    if (kind === 'reasoning' && !goesOn) this.#reasonings += 1;
    const id = kind === 'text' ? this.#messageId : reasoningMessageId(this.#messageId, this.#reasonings - 1);
    this.#open = { kind, id };
    if (kind === 'text') {
      this.#hasSpoken = true;
      this.#tell({ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' });
    } else {
      this.#hasThought = true;
      this.#tell({ type: 'REASONING_START', messageId: id });
      this.#tell({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' });
    }
    return id;
  }
}
