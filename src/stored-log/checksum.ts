import { hash } from 'node:crypto';

/** 22 characters of base64 are 132 bits, enough to detect any damaged or misplaced row. */
const CHARACTERS = 22;

/** The checksum of a stored text, to notice when it was changed. */
export function checksum(text: string): string {
  return hash('sha256', text, 'base64').slice(0, CHARACTERS);
}
