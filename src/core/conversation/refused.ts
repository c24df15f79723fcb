/**
 * Why a provider refused a request, in `details.refused` of the error with which the turn failed:
 *
 * - `image`: the model does not accept an image of the conversation
 * - `context`: the conversation is too long for the model; `details.shownTokens` estimates its tokens
 * - `content`: a content filter stopped the request
 * - `request`: the provider does not say what in the conversation it refuses
 */
export const refusedThings = ['image', 'context', 'content', 'request'] as const;
export type Refused = (typeof refusedThings)[number];
