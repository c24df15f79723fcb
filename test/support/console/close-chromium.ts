import { afterAll } from 'vitest';
import { closeChromium } from './shared-chromium.ts';

// Set up for each file of tests with a browser.
afterAll(closeChromium);
