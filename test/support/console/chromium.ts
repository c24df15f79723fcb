import { existsSync } from 'node:fs';

const PLACES = [
  // Without the parts that draw windows: a page is open in half the time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The browser that the tests of the page use: the one in `CHROMIUM`, or one in its usual place. */
export function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  return CHROMIUM || PLACES.find((path) => existsSync(path));
}
