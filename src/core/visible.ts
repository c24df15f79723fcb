/** Control and format characters, such as those that turn the direction of a text, and others that nobody sees. */
const UNSEEN = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * Writes characters that are not seen, or that change what is seen, as `\uXXXX`: else a text could be read as another
 * one than it is. JSON stays JSON of the same value.
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => character.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
