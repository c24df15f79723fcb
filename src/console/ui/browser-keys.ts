type PressedKey = Pick<KeyboardEvent, 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Whether the key is meant for the browser: Ctrl and + enlarge the page, Alt and an arrow key go back. */
export function isBrowsers({ ctrlKey, metaKey, altKey }: PressedKey): boolean {
  return ctrlKey || metaKey || altKey;
}
