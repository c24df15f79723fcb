/** How long a tab keeps its streams while nobody looks at it. */
const AWAY_AFTER_MS = 60_000;

export interface PresenceListener {
  /** Nobody has looked at the tab for a while, or it is being closed. */
  readonly onAway: () => void;
  /** Somebody looks at the tab. */
  readonly onBack: () => void;
}

/** Watches whether somebody looks at this tab, until the tab is closed. */
export function watchPresence({ onAway, onBack }: PresenceListener): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') onBack();
    else timer = setTimeout(onAway, AWAY_AFTER_MS);
  });
  window.addEventListener('pagehide', onAway);
  // The browser may show the same page again when the reader goes back.
  window.addEventListener('pageshow', onBack);
}
