import { z } from 'zod';
import { messageOf } from '../../core/thrown.ts';
import type { Said } from './opening.ts';
import type { Screen } from './screen.ts';

export const ListedSession = z.object({ sessionId: z.string(), status: z.string(), updatedAt: z.string() });
export type ListedSession = z.infer<typeof ListedSession>;

/** What the commands ask the service for. */
export interface ChatService {
  readonly sessionId: string;
  sessions(): Promise<readonly ListedSession[]>;
  history(): Promise<readonly Said[]>;
}

export interface CommandDeps {
  readonly service: ChatService;
  readonly screen: Screen;
  /** Cancels the running turn. @returns false when none runs. */
  readonly cancel: () => boolean;
}

const HELP = [
  '/cancel    cancels the reply that is being written',
  '/history   shows the conversation so far',
  '/sessions  lists the sessions of the service',
  '/help      shows this list',
  'Ctrl-C cancels a reply, Ctrl-D quits. A message that begins with a slash is sent with two: //like this.',
];
const MAX_SESSIONS = 20;
const MAX_SAID = 20;

/** The commands that are typed into a chat at a terminal. */
export class ChatCommands {
  readonly #deps: CommandDeps;

  constructor(deps: CommandDeps) {
    this.#deps = deps;
  }

  /** Runs what may be typed while a reply is being written. @returns whether the line was such a command. */
  runAtOnce(line: string): boolean {
    if (line.trim() !== '/cancel') return false;
    const text = this.#deps.cancel() ? 'cancelling' : 'there is no reply to cancel';
    this.#deps.screen.note({ text, style: 'yellow' });
    return true;
  }

  /** @returns the message to send, or null when the line was a command. */
  async messageOf(line: string): Promise<string | null> {
    const text = line.trim();
    if (text.startsWith('//')) return text.slice(1);
    if (!text.startsWith('/')) return line;
    try {
      await this.#run(text);
    } catch (error) {
      this.#deps.screen.note({ text: messageOf(error), style: 'red' });
    }
    return null;
  }

  async #run(command: string): Promise<void> {
    if (this.runAtOnce(command)) return;
    if (command === '/help') this.#say(HELP);
    else if (command === '/sessions') await this.#listSessions();
    else if (command === '/history') await this.#showHistory();
    else this.#say([`there is no command ${command.split(/\s/)[0]}`, ...HELP]);
  }

  async #listSessions(): Promise<void> {
    const { service } = this.#deps;
    const sessions = await service.sessions();
    const newest = sessions.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    const lines = newest.slice(0, MAX_SESSIONS).map(({ sessionId, status, updatedAt }) => {
      const here = sessionId === service.sessionId ? '  this one' : '';
      return `${sessionId}  ${status}, last used ${updatedAt}${here}`;
    });
    const more = newest.length - lines.length;
    this.#say([
      ...(lines.length === 0 ? ['there are no sessions yet'] : lines),
      ...(more > 0 ? [`and ${more} older ones`] : []),
      'agent-service chat --session ID continues one',
    ]);
  }

  async #showHistory(): Promise<void> {
    const said = await this.#deps.service.history();
    if (said.length === 0) return this.#say(['nothing was said yet']);
    const earlier = Math.max(0, said.length - MAX_SAID);
    if (earlier > 0) this.#say([`${earlier} earlier messages`]);
    showSaid(this.#deps.screen, said.slice(earlier));
    return undefined;
  }

  #say(lines: readonly string[]): void {
    this.#deps.screen.note({ text: lines.join('\n'), style: 'dim' });
  }
}

/** Shows messages of the past. */
export function showSaid(screen: Screen, said: readonly Said[]): void {
  for (const { role, content } of said) {
    if (content.trim() === '') continue;
    screen.note({ text: role === 'user' ? `› ${content}` : content, style: 'dim' });
  }
}
