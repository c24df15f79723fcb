import type { RequestContext } from '../../../core/request/request-context.ts';
import type { ReplyChunk, SessionSignal } from '../../../core/session/session-signal.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import type { RecordedTurn } from '../../turns/recorded-turn.ts';
import { askedIn, keyOf, noticeOf } from '../agent/asked-question.ts';
import { chatResult } from '../agent/chat-result.ts';
import { toolError } from '../agent/tool-result.ts';
import { McpTurnState } from '../agent/turn-state.ts';
import type { McpObject } from '../mcp-object.ts';
import { ToldText } from '../told-text.ts';
import type { ChatStream } from './chat-stream.ts';
import { encodeEventId } from './event-id.ts';

/** A call of `chat_with_agent` that is told from the log, to a client that has a part of it. */
export class ToldCall {
  readonly #chat: ChatStream;
  /** Of the stream, in the ids of its events. */
  readonly #name: string;
  readonly #state: McpTurnState;
  /** The keys of the questions of the turn that were over before the client came back. */
  readonly #answered: ReadonlySet<string>;
  readonly #text: ToldText;
  readonly #agentPath: RequestContext['agentPath'];
  #isOver = false;

  constructor(chat: ChatStream, name: string, { told, recorded, agentPath }: Begun) {
    this.#chat = chat;
    this.#name = name;
    this.#agentPath = agentPath;
    this.#text = new ToldText(told);
    this.#state = new McpTurnState(chat.turnId);
    this.#answered = answeredIn(recorded, chat);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @returns the events that tell the client of it; empty if there is nothing to tell. */
  take(signal: SessionSignal): string {
    if ('event' in signal) {
      this.#state.note(signal);
      const { outcome } = this.#state;
      if (outcome) return this.#end(outcome);
      const question = askedIn(signal);
      if (!question || this.#answered.has(keyOf(question))) return '';
      const params = noticeOf({ agentPath: this.#agentPath, sessionId: this.#chat.sessionId }, question);
      return this.#event({ method: 'notifications/message', params });
    }
    if (signal.type === 'session.fault') return this.#end({ status: 'failed', error: signal.error });
    if (signal.type === 'reply.chunk' && signal.turnId === this.#chat.turnId) return this.#say(signal);
    return '';
  }

  /** The conversation was deleted. */
  lost(): string {
    this.#isOver = true;
    return lostAnswer(this.#chat, this.#name);
  }

  #say(chunk: ReplyChunk): string {
    const message = this.#text.add(chunk);
    const { progressToken } = this.#chat;
    if (message === '' || progressToken === null) return '';
    const params = { progressToken, progress: this.#text.told, message };
    return this.#event({ method: 'notifications/progress', params });
  }

  #end(outcome: TurnOutcome): string {
    this.#isOver = true;
    return answerEvent(this.#chat, this.#name, chatResult(outcome, this.#chat.sessionId));
  }

  #event(message: McpObject): string {
    return encoded(encodeEventId({ stream: this.#name, told: this.#text.told }), message);
  }
}

interface Begun {
  readonly told: number;
  /** What the log has of the turn when the client comes back. */
  readonly recorded: RecordedTurn;
  readonly agentPath: RequestContext['agentPath'];
}

const LOST =
  'Nothing is there of this call: its message was not taken, or its conversation was deleted. If the conversation does not have the message, send it again.';

/** The answer of a call that has left nothing. */
export function lostAnswer(chat: ChatStream, name: string): string {
  return answerEvent(chat, name, toolError(LOST));
}

function answerEvent({ requestId }: ChatStream, name: string, result: McpObject): string {
  return encoded(encodeEventId({ stream: name, told: 'end' }), { id: requestId, result });
}

function encoded(id: string, message: McpObject): string {
  return `event: message\nid: ${id}\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}

function answeredIn({ since }: RecordedTurn, { turnId }: ChatStream): ReadonlySet<string> {
  const state = new McpTurnState(turnId);
  for (const envelope of since) state.note(envelope);
  const waiting = new Set(state.questions.map(keyOf));
  const asked = since.flatMap((envelope) => askedIn(envelope) ?? []);
  return new Set(asked.map(keyOf).filter((key) => !waiting.has(key)));
}
