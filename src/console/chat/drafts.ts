import type { Image } from '../../core/conversation/image.ts';
import type { Account } from '../service/account.ts';
import { agentBase } from '../service/agent-base.ts';
import { ofTab } from '../service/storage.ts';

/** What stands in the message box of a session. */
export interface Draft {
  readonly text: string;
  /** In memory only, because the storage of a browser has no room for it. */
  readonly image: Image | null;
}

interface KeptDraft extends Draft {
  /** The beginning of the text: messages that came back unsent, in their order. */
  readonly returned: string;
  /** The rest of the text. */
  readonly typed: string;
  /** Whether it is sent as soon as its session is open. */
  readonly isDue: boolean;
}

/**
 * The unsent messages of all sessions, each by its key. A message may come back when its session is not shown, so it goes
 * here and not to the message box.
 */
export class Drafts {
  readonly #drafts = new Map<string, KeptDraft>();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same object until the draft changes. */
  get(key: string): Draft {
    return this.#get(key);
  }

  setText(key: string, text: string): void {
    this.#change(key, { returned: '', typed: text, isDue: false });
  }

  setImage(key: string, image: Image | null): void {
    this.#change(key, { image });
  }

  /** Puts back what was not sent, before what the reader has written since. An image that the reader has chosen since stays. */
  putBack(key: string, text: string, image: Image | null): void {
    const draft = this.#get(key);
    this.#change(key, { returned: lines(draft.returned, text), image: draft.image ?? image });
  }

  /** Leaves a message that the message box sends as soon as its session is open. */
  sendWhenOpen(key: string, text: string, image: Image): void {
    this.#change(key, { returned: '', typed: text, image, isDue: true });
  }

  /** @returns whether the draft is to be sent now: true once after `sendWhenOpen`. */
  takeDue(key: string): boolean {
    const { isDue } = this.#get(key);
    if (isDue) this.#change(key, { isDue: false });
    return isDue;
  }

  #get(key: string): KeptDraft {
    const known = this.#drafts.get(key);
    if (known) return known;
    const text = ofTab.get(key) ?? '';
    const draft = { text, image: null, returned: '', typed: text, isDue: false };
    this.#drafts.set(key, draft);
    return draft;
  }

  #change(key: string, change: Partial<KeptDraft>): void {
    const draft = { ...this.#get(key), ...change };
    const text = lines(draft.returned, draft.typed);
    this.#drafts.set(key, { ...draft, text });
    ofTab.set(key, text === '' ? null : text);
    for (const listener of this.#listeners) listener();
  }
}

function lines(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

/** The drafts of this tab. A reload keeps their texts. */
export const drafts = new Drafts();

/** Names the draft of a session of this agent. Whoever signs in next in this tab must not see it. */
export function draftKey(account: Account | null, sessionId: string): string {
  const { tenant = '', principal = '' } = account ?? {};
  return ['agent-service.draft', agentBase, tenant, principal, sessionId].join(' ');
}
