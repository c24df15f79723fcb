/** An API key of the service, and a JWT. A JWT begins no later than its characters do: texts may be long, and of a client. */
export const TOKEN_SHAPES: readonly RegExp[] = [
  /\bas_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}\b/g,
  /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g,
];

/** In place of a credential that a client has put where none belongs. */
const NOT_SHOWN = '[token]';

/** The text without the credentials in it. */
export function withoutTokens(text: string): string {
  return TOKEN_SHAPES.reduce((rest, shape) => rest.replaceAll(shape, NOT_SHOWN), text);
}
