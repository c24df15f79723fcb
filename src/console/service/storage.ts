/** Keeps short texts by their names. A browser that was told to store nothing, or has no room, keeps none. */
export interface KeptTexts {
  /** Null if it is not kept. */
  get(name: string): string | null;
  /** @param text null: forgets the text of this name. */
  set(name: string, text: string | null): void;
}

/** @param open throws where the browser forbids storage. */
function keptTexts(open: () => Storage): KeptTexts {
  return {
    get(name) {
      try {
        return open().getItem(name);
      } catch {
        return null;
      }
    },
    set(name, text) {
      try {
        if (text === null) open().removeItem(name);
        else open().setItem(name, text);
      } catch {
        // The page works without it, until it is closed.
      }
    },
  };
}

/** Until this tab is closed. Other tabs do not have it. */
export const ofTab = keptTexts(() => sessionStorage);

/** For all tabs, also later. */
export const ofBrowser = keptTexts(() => localStorage);
