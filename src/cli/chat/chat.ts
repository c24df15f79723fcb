import {
  RefusedError,
  type SessionClient,
  type StreamEvent,
  UnansweredError,
} from '../../client/session-client.ts';
import type { ErrorBody } from '../../core/errors.ts';
import { visible } from '../../core/visible.ts';
import { ChatCommands, type ChatService } from './chat-commands.ts';
import { failureNote } from './event-note.ts';
import { type AskedInput, promptFor } from './input-prompt.ts';
import type { LineInput } from './line-input.ts';
import { OpenQuestions } from './open-questions.ts';
import type { Approval, Opening } from './opening.ts';
import { printable, type Screen } from './screen.ts';
import { TurnEnds } from './turn-ends.ts';

export type ChatSession = Pick<
  SessionClient,
  'send' | 'cancel' | 'approve' | 'deny' | 'answerInput' | typeof Symbol.asyncIterator
>;

export interface ChatDeps {
  readonly session: ChatSession;
  readonly lines: LineInput;
  readonly screen: Screen;
  readonly opening: Opening;
  /** What commands ask the service for; null for a script, whose lines are all messages. */
  readonly service: ChatService | null;
}

/** The exit code of shells for a command that Ctrl-C ended. */
const INTERRUPTED = 130;
/** Why a command was not done: the code of the refusal, or the connection broke first. */
type Problem = ErrorBody['code'] | 'unanswered';
const NOBODY = 'Nobody was there to answer.';

/** A conversation at the terminal: a line, its reply, the next line. */
export class Chat {
  readonly #deps: ChatDeps;
  readonly #turns = new TurnEnds();
  /** The tool calls that wait for approval, by their ids. */
  readonly #approvals = new OpenQuestions<Approval>();
  /** What tool servers ask, by the ids of the questions. */
  readonly #inputs = new OpenQuestions<AskedInput>();
  readonly #quit = Promise.withResolvers<number>();
  readonly #commands: ChatCommands | null;
  #isBusy = false;
  /** Ctrl-C was pressed, and no line was typed since. */
  #isWarned = false;
  #hasFailed = false;

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    const { approvals, inputs = [] } = deps.opening;
    for (const approval of approvals) this.#approvals.add(approval.callId, approval);
    for (const input of inputs) this.#inputs.add(input.inputId, input);
    this.#commands =
      deps.service && new ChatCommands({ ...deps, service: deps.service, cancel: () => this.#cancel() });
    deps.lines.onEarlyLine((line) => this.#commands?.runAtOnce(line) ?? false);
    deps.lines.onInterrupt(() => this.interrupt());
    deps.lines.onLeave(() => this.#quit.resolve(0));
  }

  /** @returns the exit code: 1 when a message was not answered. */
  async run(): Promise<number> {
    try {
      return await Promise.race([this.#converse(), this.#listen(), this.#quit.promise]);
    } finally {
      this.#turns.close();
    }
  }

  /** Ctrl-C: cancels the running turn; the second one in a row quits. */
  interrupt(): void {
    if (this.#isWarned) {
      this.#quit.resolve(INTERRUPTED);
    } else if (this.#isBusy) {
      this.#cancel();
      this.#deps.screen.note({ text: 'cancelling; Ctrl-C again quits', style: 'yellow' });
    } else {
      this.#deps.screen.note({ text: '\nCtrl-C again quits, and so does Ctrl-D', style: 'dim' });
      this.#deps.lines.refresh();
    }
    this.#isWarned = true;
  }

  /** Where the conversation stands after the connection was lost. */
  get standing(): string {
    return this.#isBusy ? '; the reply goes on' : '; it is your turn';
  }

  #cancel(): boolean {
    if (this.#isBusy) this.#problemOf(this.#deps.session.cancel()).catch(this.#quit.reject);
    return this.#isBusy;
  }

  /** Shows the events of the session. Resolves when the session is deleted or the chat is quit. */
  async #listen(): Promise<number> {
    const { session, screen } = this.#deps;
    for await (const event of session) {
      // Whoever has given a command shows why it was refused.
      if (event.commandId === undefined) screen.show(event);
      this.#noteQuestions(event);
      this.#turns.note(event);
      if (event.event === 'deleted') return 1;
    }
    return this.#quit.promise;
  }

  /** An approval waits until anybody decides or its turn ends, and a question of a tool server until it ends. */
  #noteQuestions({ event, data, turnId }: StreamEvent): void {
    if (event === 'toolApproval' && turnId !== undefined)
      this.#approvals.add(data.callId, { ...data, turnId });
    if (event === 'toolApproved' || event === 'toolResult') this.#approvals.close(data.callId);
    if (event === 'response' || event === 'error')
      this.#approvals.closeAll((approval) => approval.turnId === turnId);
    if (event === 'inputRequired') this.#inputs.add(data.inputId, data);
    if (event === 'inputAnswered') this.#inputs.close(data.inputId);
  }

  async #converse(): Promise<number> {
    const { lines, screen, opening } = this.#deps;
    if (opening.openTurnId !== null) {
      screen.note({ text: 'a reply is being written', style: 'dim' });
      await this.#follow(opening.openTurnId);
    }
    for (;;) {
      const line = await lines.read({ prompt: screen.styled('› ', 'bold') });
      this.#isWarned = false;
      if (line.kind !== 'line') return this.#hasFailed ? 1 : 0;
      const text = this.#commands ? await this.#commands.messageOf(line.text) : line.text;
      if (text !== null && text.trim() !== '') await this.#say(text);
    }
  }

  async #say(text: string): Promise<void> {
    this.#isBusy = true;
    try {
      const { turnId } = await this.#deps.session.send(text);
      await this.#follow(turnId);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.#hasFailed = true;
      this.#deps.screen.note(failureNote(error));
    } finally {
      this.#isBusy = false;
    }
  }

  /** Waits until the turn has ended. Meanwhile asks for the approvals and the answers that the turn needs. */
  async #follow(turnId: string): Promise<void> {
    this.#isBusy = true;
    const end = this.#turns.of(turnId);
    for (;;) {
      const ended = await Promise.race([end, this.#approvals.arrival(), this.#inputs.arrival()]);
      if (ended !== undefined) {
        this.#hasFailed ||= ended !== 'completed';
        this.#isBusy = false;
        return;
      }
      const open = this.#approvals.first();
      if (open) await this.#decide(open.question, open.signal);
      const asked = open ? undefined : this.#inputs.first();
      if (asked) await this.#answer(asked.question, asked.signal);
    }
  }

  async #answer(input: AskedInput, signal: AbortSignal): Promise<void> {
    const { session, screen } = this.#deps;
    const { inputId } = input;
    const answer = await promptFor(input, this.#deps, signal);
    if (answer === null) {
      screen.note({ text: 'the answer is no longer needed', style: 'dim' });
      return;
    }
    const problem = await this.#problemOf(session.answerInput(inputId, answer));
    if (isSettled(problem, 'INPUT_NOT_FOUND', answer.action === 'cancel')) this.#inputs.close(inputId);
  }

  /** Waits until the service has done the command. @returns null then, and otherwise why not, which is shown. */
  async #problemOf(command: Promise<void>): Promise<Problem | null> {
    try {
      await command;
      return null;
    } catch (error) {
      if (error instanceof UnansweredError) {
        this.#deps.screen.note({ text: error.message, style: 'yellow' });
        return 'unanswered';
      }
      if (!(error instanceof RefusedError)) throw error;
      this.#deps.screen.note(failureNote(error));
      return error.code;
    }
  }

  async #decide(approval: Approval, signal: AbortSignal): Promise<void> {
    const { session, lines, screen } = this.#deps;
    const { callId, toolName, argumentsHash } = approval;
    screen.note({
      text: `needs approval: ${visible(`${toolName} ${JSON.stringify(approval.arguments)}`)}`,
      style: 'yellow',
    });
    const question = screen.styled(`run ${printable(toolName)}? [y/n] `, 'yellow');
    for (;;) {
      const line = await lines.read({ prompt: question, fresh: true, signal });
      if (line.kind === 'withdrawn') {
        screen.note({ text: 'the approval is no longer needed', style: 'dim' });
        return;
      }
      const said = line.kind === 'line' ? line.text.trim() : 'no';
      if (this.#commands?.runAtOnce(said)) continue;
      const isApproved = /^y(es)?$/i.test(said);
      if (!isApproved && !/^no?$/i.test(said)) continue;
      const isUnattended = line.kind === 'end';
      const problem = await this.#problemOf(
        isApproved
          ? session.approve(callId, argumentsHash)
          : session.deny(callId, isUnattended ? NOBODY : undefined),
      );
      if (isSettled(problem, 'APPROVAL_NOT_FOUND', isUnattended)) this.#approvals.close(callId);
      return;
    }
  }
}

/**
 * Whether the question is not asked again. Where nobody is, asking again brings the same answer and the same refusal, so others
 * have to answer.
 *
 * @param gone says that nobody waits for the answer any more.
 */
function isSettled(problem: Problem | null, gone: ErrorBody['code'], isUnattended: boolean): boolean {
  if (problem === null || problem === gone) return true;
  return isUnattended && problem !== 'unanswered';
}
