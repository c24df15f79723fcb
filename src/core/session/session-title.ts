import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import { beginningOf } from '../shorten.ts';

/** The title of a session: `given` by a client, or else `derived` from the first message. */
export interface SessionTitle {
  readonly given: string | null;
  readonly derived: string | null;
}

export const NO_TITLE: SessionTitle = { given: null, derived: null };

/** Most characters of a derived title. */
const MAX_CHARACTERS = 60;
/** A message may be long, and a title needs only its beginning. */
const LOOKED_AT = 1_000;

/** The types of the events that change a title. */
export const TITLE_EVENTS: ReadonlySet<string> = new Set<SessionEvent['type']>([
  'turn.requested',
  'session.renamed',
]);

/** The same object if the event does not change the title. A session that was reset keeps its title. */
export function evolveTitle(title: SessionTitle, event: SessionEvent): SessionTitle {
  switch (event.type) {
    case 'turn.requested':
      return title.derived === null ? { ...title, derived: derivedTitle(firstText(event)) } : title;
    case 'session.renamed':
      return { ...title, given: event.title };
    default:
      return title;
  }
}

/** The first text of the user, also in a conversation that a client brought. */
function firstText({ text, given = [] }: SessionEventOf<'turn.requested'>): string {
  return given.find(({ role }) => role === 'user')?.text ?? text;
}

/** Null if the session has neither a name nor a message. */
export function shownTitle({ given, derived }: SessionTitle): string | null {
  return given ?? derived;
}

/** The first line of the message that says something, shortened at a space. Null if none does. */
export function derivedTitle(text: string): string | null {
  const lines = text.slice(0, LOOKED_AT).split(/[\r\n\u2028\u2029]+/);
  const line = lines.map(inOneLine).find((candidate) => candidate !== '');
  return line === undefined ? null : shortened(line);
}

/** The text without line breaks and control characters, and with single spaces. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

function shortened(line: string): string {
  if (line.length <= MAX_CHARACTERS) return line;
  const cut = beginningOf(line, MAX_CHARACTERS);
  const space = cut.lastIndexOf(' ');
  const words = space > MAX_CHARACTERS / 2 ? cut.slice(0, space) : cut;
  return `${words}…`;
}
