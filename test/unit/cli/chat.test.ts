import { PassThrough } from 'node:stream';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Chat, type ChatSession } from '../../../src/cli/chat/chat.ts';
import type { ChatService } from '../../../src/cli/chat/chat-commands.ts';
import { LineInput } from '../../../src/cli/chat/line-input.ts';
import type { Opening } from '../../../src/cli/chat/opening.ts';
import { Screen } from '../../../src/cli/chat/screen.ts';
import { EventQueue } from '../../../src/client/event-queue.ts';
import { RefusedError, type StreamEvent, UnansweredError } from '../../../src/client/session-client.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const UP = '\x1b[A';
const NEW: Opening = { head: 0, openTurnId: null, approvals: [], history: [] };

/** A session of which the test is the service. */
class DirectedSession implements ChatSession {
  readonly #events = new EventQueue<StreamEvent>(100);
  /** What the chat has asked for. */
  readonly wishes: string[] = [];
  /** What becomes of the next commands, instead of being done. */
  readonly failures: (RefusedError | UnansweredError)[] = [];

  async send(content: string) {
    const turnId = `turn ${content}`;
    this.wishes.push(content);
    return { clientMessageId: content, turnId };
  }
  cancel() {
    return this.#command('CANCEL');
  }
  approve(callId: string, hash?: string) {
    return this.#command(`APPROVE ${callId} ${hash}`);
  }
  deny(callId: string, reason?: string) {
    return this.#command(`DENY ${callId} ${reason}`);
  }
  answerInput(inputId: string, answer: object) {
    return this.#command(`ANSWER ${inputId} ${JSON.stringify(answer)}`);
  }
  /** As the client does: a refusal is an event, too. */
  async #command(wish: string) {
    this.wishes.push(wish);
    const failure = this.failures.shift();
    if (failure instanceof RefusedError) {
      const { code, message, details } = failure;
      this.say({ event: 'error', data: { code, message, details }, commandId: wish });
    }
    if (failure) throw failure;
  }
  say(...events: StreamEvent[]): void {
    for (const event of events) this.#events.push(event);
  }
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, undefined> {
    return { next: () => this.#events.next() };
  }
}

function question(turnId: string): StreamEvent {
  const properties = {
    size: { type: 'string', enum: ['small', 'large'] },
    sugar: { type: 'integer', title: 'Spoons of sugar' },
    hot: { type: 'boolean', default: true },
  } as const;
  const data = {
    callId: 'c1',
    toolName: 'order',
    serverId: 'asking',
    inputId: 'c1.1.1',
    message: 'Which tea?',
    question: { mode: 'form', schema: { type: 'object', properties } },
  } as const;
  return { event: 'inputRequired', data: structuredClone(data), turnId };
}

function formWithoutFields(turnId: string): StreamEvent {
  const data = {
    callId: 'c1',
    toolName: 'order',
    serverId: 'asking',
    inputId: 'c1.1.1',
    message: 'Go on?',
    question: { mode: 'form', schema: { type: 'object', properties: {} } },
  } as const;
  return { event: 'inputRequired', data: structuredClone(data), turnId };
}

const service: ChatService = {
  sessionId: 'mine',
  sessions: async () => [
    { sessionId: 'old', status: 'idle', updatedAt: '2026-01-01' },
    { sessionId: 'mine', status: 'busy', updatedAt: '2026-02-02' },
  ],
  history: async () => [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'Hello!' },
  ],
};

/** A chat at a terminal, or of a script, with the test at the keyboard. */
function startChat({ isTerminal = true, opening = NEW }: { isTerminal?: boolean; opening?: Opening } = {}) {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: 'utf8' });
  const notes = isTerminal ? output : new PassThrough({ encoding: 'utf8' });
  const session = new DirectedSession();
  const history = opening.history.map(({ content }) => content).toReversed();
  const lines = new LineInput({ input, terminal: isTerminal ? output : null, history });
  const screen = new Screen({ replies: output, notes, isTerminal, hasColours: false });
  const shown = { replies: '', notes: '' };
  output.on('data', (text: string) => {
    shown.replies += text;
  });
  if (!isTerminal)
    notes.on('data', (text: string) => {
      shown.notes += text;
    });
  const exit = new Chat({ session, lines, screen, opening, service: isTerminal ? service : null }).run();
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await nextLoop();
  };
  return {
    input,
    session,
    shown,
    exit,
    shows: (text: string) => until(() => shown.replies.includes(text)),
    wishes: (count: number) => until(() => session.wishes.length >= count),
  };
}

const chunk = (turnId: string, content: string): StreamEvent => ({
  event: 'chunk',
  data: { content },
  turnId,
});
const response = (turnId: string): StreamEvent => ({ event: 'response', data: { content: '' }, turnId });
const cancelled = (turnId: string): StreamEvent => ({
  event: 'error',
  data: { code: 'TURN_CANCELLED', message: 'The turn was cancelled.', details: {} },
  turnId,
});
const refused = (code: RefusedError['code']) => new RefusedError({ code, message: 'Not now.', details: {} });
const call = { callId: 'c1', toolName: 'write', serverId: 's' };
const approval = (turnId: string, path = 'a'): StreamEvent => ({
  event: 'toolApproval',
  data: { ...call, arguments: { path }, argumentsHash: 'h1' },
  turnId,
});

describe('a chat at a terminal', () => {
  it('shows a reply as it is streamed, tool calls with their result, and then asks again', async () => {
    const chat = startChat();
    chat.input.write('hi\r');
    await chat.wishes(1);
    chat.session.say(
      chunk('turn hi', 'Let me '),
      chunk('turn hi', 'see.'),
      { event: 'toolCall', data: { ...call, arguments: { path: 'a' } }, turnId: 'turn hi' },
      { event: 'toolResult', data: { ...call, result: { content: [{ type: 'text', text: 'one\ntwo' }] } } },
      { event: 'toolResult', data: { ...call, error: 'no\x1b[2Jsuch' } },
      chunk('turn hi', 'Done\x1b]0;title\x07'),
      response('turn hi'),
    );
    await chat.shows('Done]0;title\n');
    expect(chat.shown.replies).toMatch(/› .*hi\r?\nLet me/s);
    expect(chat.shown.replies).toContain(
      'Let me see.\n→ write {"path":"a"}\n← one two\n← write failed: no[2Jsuch\nDone]0;title\n',
    );
    chat.input.write(CTRL_D);
    expect(await chat.exit).toBe(0);
  });

  it('has commands, which are no messages', async () => {
    const chat = startChat();
    chat.input.write('/help\r');
    await chat.shows('/cancel    cancels the reply that is being written');
    chat.input.write('/sessions\r');
    await chat.shows('mine  busy, last used 2026-02-02  this one\nold  idle, last used 2026-01-01\n');
    chat.input.write('/history\r');
    await chat.shows('› hi\nHello!\n');
    chat.input.write('/cancel\r');
    await chat.shows('there is no reply to cancel');
    chat.input.write('/quit now\r');
    await chat.shows('there is no command /quit\n/cancel');
    chat.input.write('//slash\r');
    await chat.wishes(1);
    expect(chat.session.wishes).toEqual(['/slash']);
    chat.input.write('/cancel\r');
    await chat.wishes(2);
    expect(chat.session.wishes).toEqual(['/slash', 'CANCEL']);
    chat.session.say(cancelled('turn /slash'));
    await chat.shows('cancelled');
    chat.input.write(CTRL_D);
    expect(await chat.exit).toBe(0);
  });

  it('cancels the running turn at Ctrl-C and goes on', async () => {
    const chat = startChat();
    chat.input.write('long\r');
    await chat.wishes(1);
    chat.input.write(CTRL_C);
    await chat.wishes(2);
    expect(chat.session.wishes).toEqual(['long', 'CANCEL']);
    chat.session.say(cancelled('turn long'));
    await chat.shows('cancelled\n');
    chat.input.write('next\r');
    await chat.wishes(3);
    expect(chat.session.wishes.at(-1)).toBe('next');
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('quits at the second Ctrl-C, while a turn runs and between turns', async () => {
    const running = startChat();
    running.input.write('long\r');
    await running.wishes(1);
    running.input.write(CTRL_C);
    await running.shows('Ctrl-C again quits');
    running.input.write(CTRL_C);
    expect(await running.exit).toBe(130);
    expect(running.session.wishes).toEqual(['long', 'CANCEL']);

    const idle = startChat();
    await idle.shows('› ');
    idle.input.write(CTRL_C);
    await idle.shows('Ctrl-C again quits, and so does Ctrl-D');
    idle.input.write(CTRL_C);
    expect(await idle.exit).toBe(130);
    expect(idle.session.wishes).toEqual([]);
  });

  it('does not quit at a Ctrl-C long after the one before', async () => {
    const chat = startChat();
    await chat.shows('› ');
    chat.input.write(CTRL_C);
    await chat.shows('Ctrl-C again quits');
    chat.input.write('hi\r');
    await chat.wishes(1);
    chat.input.write(CTRL_C);
    await chat.wishes(2);
    expect(chat.session.wishes).toEqual(['hi', 'CANCEL']);
    chat.input.write(CTRL_D);
    expect(await chat.exit).toBe(0);
  });

  it('asks what a tool server wants to know, one field after the other', async () => {
    const chat = startChat();
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(question('turn do it'));
    await chat.shows('order asks: Which tea?\n');
    await chat.shows('size (small | large): ');
    chat.input.write('large\r');
    await chat.shows('Spoons of sugar (integer): ');
    chat.input.write('2\r');
    await chat.shows('hot (yes or no) [true]: ');
    chat.input.write('\r');
    await chat.wishes(2);
    expect(chat.session.wishes.at(-1)).toBe(
      'ANSWER c1.1.1 {"action":"accept","content":{"size":"large","sugar":2}}',
    );
  });

  it('asks y or n about a form without fields', async () => {
    const chat = startChat();
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(formWithoutFields('turn do it'));
    await chat.shows('accept? [y/n] ');
    chat.input.write('n\r');
    await chat.wishes(2);
    expect(chat.session.wishes.at(-1)).toBe('ANSWER c1.1.1 {"action":"decline"}');
  });

  it('declines for who says so', async () => {
    const chat = startChat();
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(question('turn do it'));
    await chat.shows('size (small | large): ');
    chat.input.write('/decline\r');
    await chat.wishes(2);
    expect(chat.session.wishes.at(-1)).toBe('ANSWER c1.1.1 {"action":"decline"}');
  });

  it('asks about a tool call with its arguments until it is told y or n', async () => {
    for (const [answer, wish] of [
      ['y', 'APPROVE c1 h1'],
      ['n', 'DENY c1 undefined'],
    ]) {
      const chat = startChat();
      chat.input.write('do it\r');
      await chat.wishes(1);
      // Typed before the question could be seen: no answer.
      chat.input.write('y\r');
      chat.session.say(approval('turn do it'));
      await chat.shows('needs approval: write {"path":"a"}\n');
      await chat.shows('run write? [y/n] ');
      expect(chat.session.wishes).toHaveLength(1);
      chat.input.write('what?\r');
      await nextLoop();
      chat.input.write(`${answer}\r`);
      await chat.wishes(2);
      expect(chat.session.wishes.at(-1)).toBe(wish);
      // The answer is no line to bring back; what was typed early is one, and goes out now.
      chat.session.say(response('turn do it'));
      await chat.shows('› y\n');
      await chat.wishes(3);
      chat.shown.replies = '';
      chat.session.say(response('turn y'));
      await chat.shows('› ');
      chat.input.write(`${UP}${UP}\r`);
      await chat.wishes(4);
      expect(chat.session.wishes.slice(2)).toEqual(['y', 'do it']);
      chat.input.write(CTRL_D);
      await chat.exit;
    }
  });

  it('asks about a call again when the service has not answered the decision, or refused it', async () => {
    for (const [failure, said] of [
      [new UnansweredError('the connection broke'), 'the connection broke\n'],
      [refused('SERVICE_UNAVAILABLE'), 'Not now. (SERVICE_UNAVAILABLE)\n'],
    ] as const) {
      const chat = startChat();
      chat.input.write('do it\r');
      await chat.wishes(1);
      chat.session.say(approval('turn do it'));
      for (const [answer, wish] of [
        ['y', 'APPROVE c1 h1'],
        ['n', 'DENY c1 undefined'],
      ]) {
        await chat.shows('run write? [y/n] ');
        chat.session.failures.push(failure);
        chat.shown.replies = '';
        chat.input.write(`${answer}\r`);
        await chat.shows(said);
        expect(chat.session.wishes.at(-1)).toBe(wish);
        await chat.shows('run write? [y/n] ');
        expect(chat.shown.replies.split(said)).toHaveLength(2);
      }
      chat.input.write('y\r');
      await chat.wishes(4);
      chat.session.say(response('turn do it'));
      await chat.shows('› ');
      chat.input.write(CTRL_D);
      expect(await chat.exit).toBe(0);
      expect(chat.session.wishes).toEqual(['do it', 'APPROVE c1 h1', 'DENY c1 undefined', 'APPROVE c1 h1']);
    }
  });

  it('asks no more about a call that the service no longer knows', async () => {
    const chat = startChat();
    chat.session.failures.push(refused('APPROVAL_NOT_FOUND'));
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(approval('turn do it'));
    await chat.shows('run write? [y/n] ');
    chat.input.write('y\r');
    await chat.shows('(APPROVAL_NOT_FOUND)\n');
    chat.shown.replies = '';
    chat.session.say(response('turn do it'));
    await chat.shows('› ');
    expect(chat.shown.replies).not.toContain('run write?');
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('asks a question of a tool server again when the service has not answered', async () => {
    const chat = startChat();
    chat.session.failures.push(new UnansweredError('the connection broke'));
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(formWithoutFields('turn do it'));
    for (const wishes of [2, 3]) {
      await chat.shows('accept? [y/n] ');
      chat.shown.replies = '';
      chat.input.write('n\r');
      await chat.wishes(wishes);
    }
    expect(chat.session.wishes.slice(1)).toEqual(Array(2).fill('ANSWER c1.1.1 {"action":"decline"}'));
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('says once why a reply was not cancelled', async () => {
    const chat = startChat();
    chat.session.failures.push(refused('SERVICE_UNAVAILABLE'));
    chat.input.write('long\r');
    await chat.wishes(1);
    chat.input.write('/cancel\r');
    await chat.shows('Not now. (SERVICE_UNAVAILABLE)\n');
    chat.session.say(response('turn long'));
    await chat.shows('› ');
    expect(chat.shown.replies.split('Not now.')).toHaveLength(2);
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('shows what nobody would see in the arguments of a call', async () => {
    const chat = startChat();
    chat.input.write('do it\r');
    await chat.wishes(1);
    chat.session.say(approval('turn do it', '/\u202Ea\u200B\u009B'));
    await chat.shows(String.raw`needs approval: write {"path":"/\u202ea\u200b\u009b"}`);
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('takes a question back that somebody else has answered, or whose turn has ended', async () => {
    const answered: StreamEvent = {
      event: 'toolApproved',
      data: { ...call, argumentsHash: 'h1' },
      turnId: 'turn a',
    };
    for (const event of [answered, cancelled('turn a')]) {
      const chat = startChat();
      chat.input.write('a\r');
      await chat.wishes(1);
      chat.session.say(approval('turn a'));
      await chat.shows('run write? [y/n] ');
      chat.session.say(event);
      await chat.shows('the approval is no longer needed\n');
      chat.input.write(CTRL_D);
      await chat.exit;
      expect(chat.session.wishes).toEqual(['a']);
    }
  });

  it('brings back what was said before in the session with the arrow keys', async () => {
    const history = ['first', 'second'].map((content) => ({ role: 'user', content }));
    const chat = startChat({ opening: { ...NEW, history } });
    await chat.shows('› ');
    chat.input.write(`${UP}${UP}\r`);
    await chat.wishes(1);
    expect(chat.session.wishes).toEqual(['first']);
    chat.input.write(CTRL_D);
    await chat.exit;
  });

  it('joins the turn that runs, and asks what it has asked', async () => {
    const waiting = { ...call, turnId: 't', arguments: { path: 'a' }, argumentsHash: 'h1' };
    const chat = startChat({ opening: { ...NEW, openTurnId: 't', approvals: [waiting] } });
    await chat.shows('run write? [y/n] ');
    chat.input.write('y\r');
    await chat.wishes(1);
    expect(chat.session.wishes).toEqual(['APPROVE c1 h1']);
    chat.session.say(chunk('t', 'the rest'), response('t'));
    await chat.shows('the rest\n');
    await chat.shows('› ');
    chat.input.write(CTRL_D);
    expect(await chat.exit).toBe(0);
  });
});

describe('a chat of a script', () => {
  it('answers line after line, replies apart from all else, and ends with the input', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.end('one\n\ntwo\n');
    await chat.wishes(1);
    chat.session.say(
      { event: 'toolCall', data: { ...call, arguments: {} }, turnId: 'turn one' },
      chunk('turn one', '1\x1b[0m'),
      response('turn one'),
    );
    await chat.wishes(2);
    chat.session.say(chunk('turn two', '2\n'), response('turn two'));
    expect(await chat.exit).toBe(0);
    expect(chat.session.wishes).toEqual(['one', 'two']);
    expect(chat.shown).toEqual({ replies: '1\x1b[0m\n2\n', notes: '→ write {}\n' });
  });

  it('denies a call that needs approval, and sends every line as a message', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.end('one\ny\n');
    await chat.wishes(1);
    chat.session.say(approval('turn one'));
    await chat.wishes(2);
    chat.session.say(response('turn one'));
    await chat.wishes(3);
    chat.session.say(response('turn y'));
    expect(await chat.exit).toBe(0);
    expect(chat.session.wishes).toEqual(['one', 'DENY c1 Nobody was there to answer.', 'y']);
  });

  it('goes on with the next line when the service gives a turn up, and fails at its end', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.end('one\ntwo\n');
    await chat.wishes(1);
    const fault = (continues: boolean): StreamEvent => ({
      event: 'error',
      data: { code: 'INTERNAL_ERROR', message: 'The turn was interrupted.', details: { continues } },
    });
    chat.session.say(fault(true), fault(false));
    await chat.wishes(2);
    chat.session.say(response('turn one'), response('turn two'));
    expect(await chat.exit).toBe(1);
  });

  it('denies a call before all of its input is there', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.write('one\n');
    await chat.wishes(1);
    chat.session.say(approval('turn one'));
    await chat.wishes(2);
    expect(chat.session.wishes).toEqual(['one', 'DENY c1 Nobody was there to answer.']);
    chat.session.say(response('turn one'));
    chat.input.end();
    expect(await chat.exit).toBe(0);
  });

  it('denies a call again when the connection broke, and leaves it to others when it is refused', async () => {
    const chat = startChat({ isTerminal: false });
    chat.session.failures.push(new UnansweredError('the connection broke'), refused('FORBIDDEN'));
    chat.input.end('one\n');
    await chat.wishes(1);
    chat.session.say(approval('turn one'));
    await chat.wishes(3);
    chat.session.say(response('turn one'));
    expect(await chat.exit).toBe(0);
    expect(chat.session.wishes).toEqual(['one', ...Array(2).fill('DENY c1 Nobody was there to answer.')]);
  });

  it('answers no question of a tool server, and sends every line as a message', async () => {
    for (const asked of [question('turn one'), formWithoutFields('turn one')]) {
      const chat = startChat({ isTerminal: false });
      chat.input.end('one\ny\n');
      await chat.wishes(1);
      chat.session.say(asked);
      await chat.wishes(2);
      chat.session.say(response('turn one'));
      await chat.wishes(3);
      chat.session.say(response('turn y'));
      expect(await chat.exit).toBe(0);
      expect(chat.session.wishes).toEqual(['one', 'ANSWER c1.1.1 {"action":"cancel"}', 'y']);
    }
  });

  it('leaves a question to others when the service refuses its answer', async () => {
    const chat = startChat({ isTerminal: false });
    chat.session.failures.push(
      new RefusedError({ code: 'FORBIDDEN', message: 'You may not do this.', details: {} }),
    );
    chat.input.end('one\n');
    await chat.wishes(1);
    chat.session.say(question('turn one'));
    await chat.wishes(2);
    chat.session.say(response('turn one'));
    expect(await chat.exit).toBe(0);
    expect(chat.session.wishes).toEqual(['one', 'ANSWER c1.1.1 {"action":"cancel"}']);
  });

  it('ends with 1 when a message was not answered', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.end('one\n');
    await chat.wishes(1);
    chat.session.say(cancelled('turn one'));
    expect(await chat.exit).toBe(1);
    expect(chat.shown.notes).toBe('cancelled\n');
  });

  it('ends with 0 when the token limit cut a reply, and says so beside it', async () => {
    const chat = startChat({ isTerminal: false });
    chat.input.end('one\n');
    await chat.wishes(1);
    chat.session.say(chunk('turn one', 'Once upon'), {
      event: 'response',
      data: { content: 'Once upon', finishReason: 'length' },
      turnId: 'turn one',
    });
    expect(await chat.exit).toBe(0);
    expect(chat.shown).toEqual({
      replies: 'Once upon\n',
      notes: 'the reply ended at the token limit; raise llm.maxTokens, or ask to continue\n',
    });
  });
});
