import type { Image } from '../../../src/core/conversation/image.ts';
import type { Ending, ErrorKind, Said } from './answers.ts';

/** An error as an interface sends it instead of a reply. */
export interface WireError {
  readonly status: number;
  readonly body: object;
}

/** How one interface says what a provider says. */
export interface ProviderFormat {
  /** Under `llm`: the interface, and a model that takes all settings. */
  readonly llm: Readonly<Record<string, unknown>>;
  /** What opens a stream and says this, without its end: one server-sent event each. */
  events(said: readonly Said[]): string[];
  /** What ends it. The first event has the finish reason. */
  end(said: readonly Said[], ending: Ending): string[];
  /** The same in one JSON object, for who does not stream. */
  whole(said: readonly Said[], ending: Ending): object;
  error(kind: ErrorKind): WireError;
  errorEvent(kind: ErrorKind): string;
  readonly settingFields: Readonly<Record<string, unknown>>;
  imagePart(image: Image): object;
  readonly returned: string;
}

/** Whether the reply is cut off in the middle of this call. */
export function isCut({ arguments: args }: { readonly arguments: string }): boolean {
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

/** Pieces of one part together. Each call is a part of its own. */
export function partsOf(said: readonly Said[]): Said[][] {
  const parts: Said[][] = [];
  for (const piece of said) {
    const last = parts.at(-1);
    if (last && piece.type !== 'call' && last[0]?.type === piece.type) last.push(piece);
    else parts.push([piece]);
  }
  return parts;
}

/** The text of a part's pieces. */
export function joined(part: readonly Said[]): string {
  return part.map((piece) => (piece.type === 'call' ? piece.arguments : piece.text)).join('');
}

/** Cuts into pieces of so many characters. */
export function fragments(text: string, length = 5): string[] {
  return text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
}
