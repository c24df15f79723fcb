import type { ModelMessage, ModelTool } from '../core/conversation/model-message.ts';
import type { SessionId } from '../core/ids.ts';
import type { SessionEventOf } from '../core/log/events.ts';
import type { ApprovalPolicy } from '../core/tool-call/approval-policy.ts';
import type { ClientTool } from '../core/tool-call/client-tool.ts';
import type { Tool, ToolOutcome } from '../core/tool-call/tool.ts';
import type { RequestedCall } from '../core/tool-call/tool-call-commands.ts';
import type { Root } from '../core/tool-server/root.ts';
import type { SamplingConfig } from '../core/tool-server/sampling-config.ts';
import type { AnswerQuestion } from '../core/tool-server/server-question.ts';
import type { OutputFormat } from '../core/turn/output-format.ts';
import type { RawToolCall } from './language-model.ts';

/** A tool and the server that offers it. */
export interface ConnectedTool {
  readonly serverId: string;
  readonly toolName: string;
  readonly tool: Tool;
}

/** A tool, and whether the model may call it. */
export interface OfferedTool extends ConnectedTool {
  readonly policy: ApprovalPolicy;
  /** How long a call that needs approval waits; for ever if absent. */
  readonly expiresAfterMs?: number;
}

/** A tool under the name by which the model knows it. `byClient`: the client runs it. */
export interface NamedTool extends Pick<OfferedTool, 'tool' | 'policy' | 'expiresAfterMs'> {
  readonly serverId: string | null;
  readonly byClient?: true;
}

/** What the model is offered for one step. */
export interface ToolOffer {
  readonly tools: readonly ModelTool[];
  /**
   * Resolves the calls of the model's reply. An error in a call becomes its `problem`. `conversation` is the whole
   * conversation, because a message that the model is not shown now may be shown again.
   */
  readonly resolve: (
    raw: readonly RawToolCall[],
    conversation: readonly ModelMessage[],
    sessionId: SessionId,
  ) => Promise<RequestedCall[]>;
}

/** What a tool server is told, and may ask. */
export interface QuestionSettings {
  readonly roots: readonly Root[];
  /** Absent if the server may not ask the agent's model. */
  readonly sampling?: SamplingConfig | undefined;
  /** How long a question for a person waits; for ever if absent. */
  readonly expiresAfterMs?: number;
}

/** What a turn needs from the tools. */
export interface TurnTools {
  /** Null when tools can be offered now. Otherwise resolves when they can. */
  ready(): Promise<void> | null;
  /** @param clientTools those that the client lends to the turn. */
  forModel(clientTools?: readonly ClientTool[]): ToolOffer;
  /** @returns why the reply does not have the form that the client wants; undefined if it has. */
  outputIssue(format: OutputFormat, reply: string, sessionId: SessionId): Promise<string | undefined>;
  questionsOf(serverId: string | null): QuestionSettings;
  /** Runs a call of the model. Never rejects: the model is told how the call ended. */
  call(
    call: SessionEventOf<'tool-call.requested'>,
    signal: AbortSignal,
    onQuestion: AnswerQuestion,
  ): Promise<ToolOutcome>;
}
