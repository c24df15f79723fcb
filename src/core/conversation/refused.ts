/**
 * What of a request the provider refused, in `details.refused` of the error that the turn failed with:
 *
 * - `image`: an image of the conversation
 * - `context`: the conversation is too long for the model; `details.shownTokens` estimates what it was shown
 * - `content`: a content filter stopped it
 * - `request`: something in the conversation that the provider does not name
 */
export const refusedThings = ['image', 'context', 'content', 'request'] as const;
export type Refused = (typeof refusedThings)[number];
